// SPDX-License-Identifier: GPL-2.0
//
// genl.h - a small generic-netlink client: requests, replies, events.
//
// libnl-3 gives the socket and the family lookup. Messages are built and taken
// apart here, because libnl loses two things a user needs: the kernel's text
// (extended ack) of a refused dump, and messages longer than its fixed buffer.
//
//     mrcnl::socket s;
//     if (auto e = s.open("mrc"))
//         ...e.text...
//     mrcnl::request rq(MRC_CMD_PLANE_SET);
//     rq.str(MRC_A_DEV_NAME, "mrc0").nest(MRC_A_PLANE, [](auto &n) {
//         n.u8(MRC_A_PLANE_NUMBER, 1);
//     });
//     auto e = s.call(rq);
//
// Not thread-safe: one socket per thread. Use one socket for requests and
// another for events; an event in the middle of a reply is dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <linux/netlink.h>

struct nl_sock;

namespace mrcnl {

// False when all is well. `text` is the kernel's own if it sent one.
struct error {
    int code = 0; // positive errno
    std::string text;
    bool from_kernel = false; // a refusal, not trouble on the way
    explicit operator bool() const { return code != 0; }

    static error make(int code, std::string_view what);
};

// One received attribute: a view into its message.
class attr;

// A run of attributes. Stops at the first malformed one.
class attr_range {
  public:
    class iterator {
      public:
        using value_type = attr;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::input_iterator_tag;

        iterator() = default;
        explicit iterator(std::span<const uint8_t> rest) : rest_(rest) { check(); }
        attr operator*() const;
        iterator &operator++();
        iterator operator++(int)
        {
            iterator old = *this;
            ++*this;
            return old;
        }
        bool operator==(const iterator &o) const { return rest_.size() == o.rest_.size(); }

      private:
        void check();
        std::span<const uint8_t> rest_;
    };

    attr_range() = default;
    explicit attr_range(std::span<const uint8_t> bytes) : bytes_(bytes) {}
    iterator begin() const { return iterator(bytes_); }
    iterator end() const { return iterator(); }

  private:
    std::span<const uint8_t> bytes_;
};

class attr {
  public:
    attr() = default; // absent: every accessor answers zero or empty
    attr(uint16_t type, std::span<const uint8_t> payload)
        : type_(type), present_(true), payload_(payload)
    {
    }
    explicit operator bool() const { return present_; }
    uint16_t type() const { return type_; }
    uint64_t num() const; // 1, 2, 4 or 8 bytes, native order
    std::string_view str() const;
    std::span<const uint8_t> bytes() const { return payload_; }
    attr_range nested() const { return attr_range(payload_); }

  private:
    uint16_t type_ = 0;
    bool present_ = false;
    std::span<const uint8_t> payload_;
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

struct message {
    uint8_t cmd = 0;
    attr_range attrs;
};

using handler = std::function<void(const message &)>;

// A request under construction; may be sent more than once.
class request {
  public:
    explicit request(uint8_t cmd);

    request &put(uint16_t type, std::span<const uint8_t> payload);
    request &u8(uint16_t type, uint8_t v);
    request &u16(uint16_t type, uint16_t v);
    request &u32(uint16_t type, uint32_t v);
    request &u64(uint16_t type, uint64_t v);
    request &str(uint16_t type, std::string_view v); // with its NUL

    // fill(*this) adds what is inside. A nest cannot hold more than 64 KiB.
    template <class F> request &nest(uint16_t type, F &&fill)
    {
        size_t at = nest_begin(type);
        fill(*this);
        nest_end(at);
        return *this;
    }

    bool too_long() const { return too_long_; }
    // The whole message: netlink header, genetlink header, attributes.
    std::span<const uint8_t> bytes() const { return buf_; }

  private:
    friend class socket;
    size_t nest_begin(uint16_t type);
    void nest_end(size_t at);
    void finish(int family, uint8_t version, uint16_t flags, uint32_t seq, uint32_t port);

    std::vector<uint8_t> buf_;
    bool too_long_ = false;
};

class socket {
  public:
    socket() = default;
    socket(socket &&) = default;
    socket &operator=(socket &&) = default;

    // Connects in the caller's network namespace and looks the family up.
    error open(const std::string &family, uint8_t version = 1);
    // Multicast group of the family, by name. Then poll fd() and receive().
    error join(const std::string &group);
    error set_nonblocking();
    int fd() const;

    // Send, wait for the acknowledgement; replies go to @on_reply.
    error call(request &rq, const handler &on_reply = {});
    // All replies, consistent: an interrupted dump is repeated, and @on_reply
    // sees only the last attempt.
    error dump(request &rq, const handler &on_reply);
    // One datagram of events. EAGAIN: none waiting (non-blocking). ENOBUFS:
    // events were lost, look again at what matters.
    error receive(const handler &on_event);

  private:
    struct closer {
        void operator()(nl_sock *s) const;
    };
    // Reads until the acknowledgement or the end of the dump.
    error collect(uint32_t seq, bool &interrupted,
                  std::vector<std::vector<uint8_t>> &replies);
    error transact(request &rq, uint16_t flags, std::vector<std::vector<uint8_t>> &replies);
    error read_datagram(std::vector<uint8_t> &out);

    std::unique_ptr<nl_sock, closer> sock_;
    std::string family_name_;
    int family_ = -1;
    uint8_t version_ = 1;
};

} // namespace mrcnl
