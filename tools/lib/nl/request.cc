// SPDX-License-Identifier: GPL-2.0
// request.cc - see request.h.
#include "request.h"

#include <linux/genetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include <new>
#include <string>

namespace mrcnl {

namespace {

constexpr size_t first_bytes = 512;

} // namespace

void request::closer::operator()(nl_msg *m) const
{
    nlmsg_free(m);
}

request::request(uint16_t type, uint16_t flags) : msg_(nlmsg_alloc_size(first_bytes))
{
    if (!msg_)
        throw std::bad_alloc();
    nlmsghdr *h = nlmsg_hdr(msg_.get());
    h->nlmsg_type = type;
    h->nlmsg_flags = flags;
}

request::request(uint8_t cmd) : request(0, NLM_F_REQUEST, genlmsghdr{cmd, 1, 0})
{
}

// nl_msg does not grow by itself.
bool request::room(size_t more)
{
    size_t have = nlmsg_get_max_size(msg_.get());
    size_t need = NLMSG_ALIGN(nlmsg_hdr(msg_.get())->nlmsg_len) + more;
    if (need > have && nlmsg_expand(msg_.get(), need * 2) < 0)
        too_long_ = true;
    return !too_long_;
}

void request::append(const void *data, size_t len)
{
    if (room(NLMSG_ALIGN(len)))
        nlmsg_append(msg_.get(), const_cast<void *>(data), len, NLMSG_ALIGNTO);
}

request &request::put(uint16_t type, mrcnl::bytes payload)
{
    if (NLA_HDRLEN + payload.size() > UINT16_MAX)
        too_long_ = true; // nla_put() would cut the length
    if (!room(NLA_HDRLEN + NLA_ALIGN(payload.size())))
        return *this;
    if (nla_put(msg_.get(), type, static_cast<int>(payload.size()), payload.data()) < 0)
        too_long_ = true;
    return *this;
}

request &request::str(uint16_t type, std::string_view v)
{
    std::string z(v);
    return put(type, {reinterpret_cast<const uint8_t *>(z.c_str()), z.size() + 1});
}

// An offset, not a pointer: the message moves when it grows.
size_t request::nest_begin(uint16_t type)
{
    size_t at = NLMSG_ALIGN(nlmsg_hdr(msg_.get())->nlmsg_len);
    put(type | NLA_F_NESTED, {});
    return at;
}

void request::nest_end(size_t at)
{
    auto *start = reinterpret_cast<uint8_t *>(nlmsg_hdr(msg_.get())) + at;
    if (!too_long_ &&
        nla_nest_end_keep_empty(msg_.get(), reinterpret_cast<nlattr *>(start)) < 0)
        too_long_ = true;
}

uint16_t request::flags() const
{
    return nlmsg_hdr(msg_.get())->nlmsg_flags;
}

request &request::set_type(uint16_t type)
{
    nlmsg_hdr(msg_.get())->nlmsg_type = type;
    return *this;
}

request &request::add_flags(uint16_t flags)
{
    nlmsg_hdr(msg_.get())->nlmsg_flags |= flags;
    return *this;
}

request &request::set_seq(uint32_t seq)
{
    nlmsg_hdr(msg_.get())->nlmsg_seq = seq;
    return *this;
}

mrcnl::bytes request::bytes() const
{
    const nlmsghdr *h = nlmsg_hdr(msg_.get());
    return {reinterpret_cast<const uint8_t *>(h), h->nlmsg_len};
}

} // namespace mrcnl
