// SPDX-License-Identifier: GPL-2.0
// request.h - builds a netlink message on libnl's nl_msg. It may be sent more than once.
//
// No sockets here, so tests compare messages byte by byte.
#pragma once

#include <memory>
#include <type_traits>

#include "attr.h"

struct nl_msg;

namespace mrcnl {

class request {
  public:
    // @fixed is the protocol's header: ifinfomsg, rtmsg, ...
    template <class H> request(uint16_t type, uint16_t flags, const H &fixed) : request(type, flags)
    {
        static_assert(std::is_trivially_copyable_v<H>);
        append(&fixed, sizeof(fixed));
    }
    // A protocol without a fixed header.
    static request plain(uint16_t type, uint16_t flags) { return request(type, flags); }
    // Of generic netlink; the family's number is the socket's to fill in.
    explicit request(uint8_t cmd);

    request &put(uint16_t type, bytes payload);
    request &u8(uint16_t type, uint8_t v) { return scalar(type, v); }
    request &u16(uint16_t type, uint16_t v) { return scalar(type, v); }
    request &u32(uint16_t type, uint32_t v) { return scalar(type, v); }
    request &u64(uint16_t type, uint64_t v) { return scalar(type, v); }
    request &str(uint16_t type, std::string_view v); // with its NUL

    // fill(*this) adds what is inside. A nest cannot hold more than 64 KiB.
    template <class F> request &nest(uint16_t type, F &&fill)
    {
        size_t at = nest_begin(type);
        fill(*this);
        nest_end(at);
        return *this;
    }

    // An attribute was longer than its length field can say, or memory is short: not to be sent.
    bool too_long() const { return too_long_; }

    nl_msg *msg() const { return msg_.get(); }
    uint16_t flags() const;
    request &set_type(uint16_t type);
    request &add_flags(uint16_t flags);
    request &set_seq(uint32_t seq);
    // The whole message: netlink header, protocol's header, attributes.
    mrcnl::bytes bytes() const;

  private:
    struct closer {
        void operator()(nl_msg *m) const;
    };
    request(uint16_t type, uint16_t flags);
    template <class T> request &scalar(uint16_t type, T v)
    {
        return put(type, {reinterpret_cast<const uint8_t *>(&v), sizeof(v)});
    }
    bool room(size_t more);
    void append(const void *data, size_t len);
    size_t nest_begin(uint16_t type);
    void nest_end(size_t at);

    std::unique_ptr<nl_msg, closer> msg_;
    bool too_long_ = false;
};

} // namespace mrcnl
