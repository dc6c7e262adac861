// SPDX-License-Identifier: GPL-2.0
// message.h - netlink messages as bytes: a builder and a reader of attributes.
// No sockets here, so that tests compare messages byte by byte.
#pragma once

#include <linux/netlink.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace mrcd::nl {

using Bytes = std::span<const std::uint8_t>;

class Message {
public:
    Message(std::uint16_t type, std::uint16_t flags);

    // The fixed header of the protocol (rtmsg, genlmsghdr, ...), before attributes.
    template <typename T> void header(const T &h)
    {
        static_assert(std::is_trivially_copyable_v<T>);
        append(&h, sizeof(h));
    }

    void put(std::uint16_t type, Bytes value);
    void u8(std::uint16_t type, std::uint8_t v) { scalar(type, v); }
    void u16(std::uint16_t type, std::uint16_t v) { scalar(type, v); }
    void u32(std::uint16_t type, std::uint32_t v) { scalar(type, v); }
    void u64(std::uint16_t type, std::uint64_t v) { scalar(type, v); }
    void string(std::uint16_t type, std::string_view v);   // with its NUL

    // Everything put by @fill becomes the value of attribute @type.
    template <typename F> void nest(std::uint16_t type, F &&fill)
    {
        const std::size_t at = begin_nest(type);
        fill();
        end_nest(at);
    }

    // Complete, with its length; @seq is the socket's to choose.
    Bytes finish(std::uint32_t seq);

    std::uint16_t flags() const { return flags_; }

private:
    template <typename T> void scalar(std::uint16_t type, T v)
    {
        put(type, {reinterpret_cast<const std::uint8_t *>(&v), sizeof(v)});
    }
    void append(const void *data, std::size_t len);   // and pad to 4
    std::size_t begin_nest(std::uint16_t type);
    void end_nest(std::size_t at);

    std::vector<std::uint8_t> bytes_;
    std::uint16_t flags_;
};

// Attributes of a message or of a nest. A malformed tail is not seen.
class Attrs {
public:
    explicit Attrs(Bytes bytes) : bytes_(bytes) {}

    // @fn(type, value) in order; repeated types as often as they come.
    template <typename F> void each(F &&fn) const
    {
        Bytes rest = bytes_;
        while (rest.size() >= sizeof(nlattr)) {
            nlattr a;
            std::memcpy(&a, rest.data(), sizeof(a));
            if (a.nla_len < sizeof(a) || a.nla_len > rest.size())
                return;
            fn(static_cast<std::uint16_t>(a.nla_type & NLA_TYPE_MASK),
               rest.subspan(NLA_HDRLEN, a.nla_len - NLA_HDRLEN));
            rest = rest.subspan(std::min<std::size_t>(NLA_ALIGN(a.nla_len), rest.size()));
        }
    }

    bool has(std::uint16_t type) const { return find(type).has_value(); }
    std::optional<Bytes> find(std::uint16_t type) const;
    std::optional<std::uint8_t> u8(std::uint16_t type) const { return scalar<std::uint8_t>(type); }
    std::optional<std::uint16_t> u16(std::uint16_t type) const
    {
        return scalar<std::uint16_t>(type);
    }
    std::optional<std::uint32_t> u32(std::uint16_t type) const
    {
        return scalar<std::uint32_t>(type);
    }
    std::optional<std::uint64_t> u64(std::uint16_t type) const
    {
        return scalar<std::uint64_t>(type);
    }
    std::string string(std::uint16_t type) const;   // empty if absent
    Attrs nest(std::uint16_t type) const { return Attrs(find(type).value_or(Bytes())); }

private:
    template <typename T> std::optional<T> scalar(std::uint16_t type) const
    {
        const auto value = find(type);
        T v;
        if (!value || value->size() < sizeof(v))
            return std::nullopt;
        std::memcpy(&v, value->data(), sizeof(v));
        return v;
    }

    Bytes bytes_;
};

// The protocol's fixed header at the start of @payload; zeroes if it is short.
template <typename T> T fixed_header(Bytes payload)
{
    T h{};
    if (payload.size() >= sizeof(h))
        std::memcpy(&h, payload.data(), sizeof(h));
    return h;
}

template <typename T> Attrs attrs_after(Bytes payload)
{
    return Attrs(payload.subspan(std::min<std::size_t>(NLMSG_ALIGN(sizeof(T)), payload.size())));
}

}   // namespace mrcd::nl
