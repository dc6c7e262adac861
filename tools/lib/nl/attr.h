// SPDX-License-Identifier: GPL-2.0
// attr.h - attributes of a received message, read with libnl's nla_*. Iteration ends at the first
// malformed attribute.
#pragma once

#include <linux/netlink.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

namespace mrcnl {

using bytes = std::span<const uint8_t>;

class attr;

// A run of attributes; its bytes are aligned as netlink's are.
class attr_range {
  public:
    class iterator {
      public:
        using value_type = attr;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::input_iterator_tag;

        iterator() = default;
        explicit iterator(bytes rest);
        attr operator*() const;
        iterator &operator++();
        iterator operator++(int)
        {
            iterator old = *this;
            ++*this;
            return old;
        }
        bool operator==(const iterator &o) const { return left_ == o.left_; }

      private:
        void check();
        const nlattr *at_ = nullptr;
        int left_ = 0; // bytes; 0 at the end
    };

    attr_range() = default;
    explicit attr_range(bytes b) : bytes_(b) {}
    iterator begin() const { return iterator(bytes_); }
    iterator end() const { return iterator(); }

  private:
    bytes bytes_;
};

// One attribute: a view into its message.
class attr {
  public:
    attr() = default; // absent: every accessor answers zero or empty
    explicit attr(const nlattr *a) : at_(a) {}
    explicit operator bool() const { return at_ != nullptr; }
    uint16_t type() const;
    uint64_t num() const; // 1, 2, 4 or 8 bytes, native order
    std::string_view str() const;
    mrcnl::bytes bytes() const;
    attr_range nested() const { return attr_range(bytes()); }

  private:
    const nlattr *at_ = nullptr;
};

// Attributes by type; of repeated ones the last. Valid as long as the message.
class table {
  public:
    explicit table(attr_range range);
    explicit table(const attr &nest) : table(nest.nested()) {}
    attr operator[](uint16_t type) const { return type < by_type_.size() ? by_type_[type] : attr(); }

  private:
    std::vector<attr> by_type_;
};

// The protocol's fixed header (rtmsg, genlmsghdr, ...) before the attributes; zeroes if cut off.
template <class T> T fixed_header(bytes payload)
{
    T h{};
    if (payload.size() >= sizeof(h))
        std::memcpy(&h, payload.data(), sizeof(h));
    return h;
}

template <class T> attr_range attrs_after(bytes payload)
{
    size_t skip = NLMSG_ALIGN(sizeof(T));
    return payload.size() > skip ? attr_range(payload.subspan(skip)) : attr_range();
}

} // namespace mrcnl
