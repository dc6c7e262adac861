// SPDX-License-Identifier: GPL-2.0
// genl.cc - see genl.h.
#include "genl.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <linux/genetlink.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

namespace mrcnl {

namespace {

constexpr int dump_tries = 10;
// A profile of 4,096 EVs is 200 KB long; libnl's default buffer is 32 KB.
constexpr int buffer_bytes = 1 << 20;
// The kernel sizes its dump messages by this, up to 32 KB.
constexpr size_t datagram_max = 64 * 1024;

size_t align4(size_t n)
{
    return (n + 3) & ~size_t{3};
}

// libnl's error numbers come from errno and go back to the nearest one.
error from_nl(int nlerr, std::string_view what)
{
    int code = EIO;
    switch (nlerr < 0 ? -nlerr : nlerr) {
    case NLE_OBJ_NOTFOUND: code = ENOENT; break;
    case NLE_NOMEM: code = ENOBUFS; break;
    case NLE_AGAIN: code = EAGAIN; break;
    case NLE_INTR: code = EINTR; break;
    case NLE_PERM: code = EPERM; break;
    case NLE_NOACCESS: code = EACCES; break;
    case NLE_INVAL: code = EINVAL; break;
    case NLE_AF_NOSUPPORT: code = EAFNOSUPPORT; break;
    }
    return {code, std::string(what) + ": " + nl_geterror(nlerr), false};
}

// One netlink message of a datagram, bounds checked.
struct nlmsg_view {
    nlmsghdr hdr;
    std::span<const uint8_t> payload;
};

bool next_message(std::span<const uint8_t> &rest, nlmsg_view &m)
{
    if (rest.size() < sizeof(nlmsghdr))
        return false;
    std::memcpy(&m.hdr, rest.data(), sizeof(m.hdr));
    if (m.hdr.nlmsg_len < sizeof(nlmsghdr) || m.hdr.nlmsg_len > rest.size())
        return false;
    m.payload = rest.subspan(sizeof(nlmsghdr), m.hdr.nlmsg_len - sizeof(nlmsghdr));
    rest = rest.subspan(std::min(rest.size(), align4(m.hdr.nlmsg_len)));
    return true;
}

// The verdict in an NLMSG_ERROR or NLMSG_DONE message with its extended ack.
error verdict(const nlmsg_view &m)
{
    int32_t code = 0;
    if (m.payload.size() >= sizeof(code))
        std::memcpy(&code, m.payload.data(), sizeof(code));
    if (code == 0)
        return {};

    error e{code < 0 ? -code : code, {}, true};
    size_t skip = sizeof(code);
    if (m.hdr.nlmsg_type == NLMSG_ERROR) {
        nlmsghdr sent{};
        if (m.payload.size() >= sizeof(code) + sizeof(sent))
            std::memcpy(&sent, m.payload.data() + sizeof(code), sizeof(sent));
        skip += m.hdr.nlmsg_flags & NLM_F_CAPPED ? sizeof(sent) : align4(sent.nlmsg_len);
    }
    if ((m.hdr.nlmsg_flags & NLM_F_ACK_TLVS) && skip <= m.payload.size()) {
        table t(attr_range(m.payload.subspan(skip)));
        e.text = t[NLMSGERR_ATTR_MSG].str();
        if (e.text.empty() && t[NLMSGERR_ATTR_MISS_TYPE])
            e.text = "required attribute " +
                     std::to_string(t[NLMSGERR_ATTR_MISS_TYPE].num()) + " is missing";
    }
    if (e.text.empty())
        e.text = std::strerror(e.code);
    return e;
}

bool to_message(std::span<const uint8_t> payload, message &out)
{
    genlmsghdr g;
    if (payload.size() < sizeof(g))
        return false;
    std::memcpy(&g, payload.data(), sizeof(g));
    out.cmd = g.cmd;
    out.attrs = attr_range(payload.subspan(sizeof(g)));
    return true;
}

} // namespace

error error::make(int code, std::string_view what)
{
    return {code, std::string(what) + ": " + std::strerror(code), false};
}

// ---- attributes ----

void attr_range::iterator::check()
{
    nlattr a;
    if (rest_.size() >= sizeof(a)) {
        std::memcpy(&a, rest_.data(), sizeof(a));
        if (a.nla_len >= sizeof(a) && a.nla_len <= rest_.size())
            return;
    }
    rest_ = {};
}

attr attr_range::iterator::operator*() const
{
    nlattr a;
    std::memcpy(&a, rest_.data(), sizeof(a));
    return attr(a.nla_type & NLA_TYPE_MASK, rest_.subspan(sizeof(a), a.nla_len - sizeof(a)));
}

attr_range::iterator &attr_range::iterator::operator++()
{
    nlattr a;
    std::memcpy(&a, rest_.data(), sizeof(a));
    rest_ = rest_.subspan(std::min(rest_.size(), align4(a.nla_len)));
    check();
    return *this;
}

uint64_t attr::num() const
{
    switch (payload_.size()) {
    case 1: return payload_[0];
    case 2: {
        uint16_t v;
        std::memcpy(&v, payload_.data(), sizeof(v));
        return v;
    }
    case 4: {
        uint32_t v;
        std::memcpy(&v, payload_.data(), sizeof(v));
        return v;
    }
    case 8: {
        uint64_t v;
        std::memcpy(&v, payload_.data(), sizeof(v));
        return v;
    }
    }
    return 0;
}

std::string_view attr::str() const
{
    auto *p = reinterpret_cast<const char *>(payload_.data());
    return {p, payload_.empty() ? 0 : strnlen(p, payload_.size())};
}

table::table(attr_range range)
{
    for (attr a : range) {
        if (a.type() >= by_type_.size())
            by_type_.resize(a.type() + size_t{1});
        by_type_[a.type()] = a;
    }
}

// ---- requests ----

request::request(uint8_t cmd) : buf_(NLMSG_HDRLEN + GENL_HDRLEN)
{
    genlmsghdr g{};
    g.cmd = cmd;
    std::memcpy(buf_.data() + NLMSG_HDRLEN, &g, sizeof(g));
}

request &request::put(uint16_t type, std::span<const uint8_t> payload)
{
    size_t len = sizeof(nlattr) + payload.size(), at = buf_.size();
    if (len > UINT16_MAX) {
        too_long_ = true;
        return *this;
    }
    nlattr a{static_cast<uint16_t>(len), type};
    buf_.resize(at + align4(len));
    std::memcpy(buf_.data() + at, &a, sizeof(a));
    if (!payload.empty())
        std::memcpy(buf_.data() + at + sizeof(a), payload.data(), payload.size());
    return *this;
}

request &request::u8(uint16_t type, uint8_t v)
{
    return put(type, {&v, 1});
}

request &request::u16(uint16_t type, uint16_t v)
{
    return put(type, {reinterpret_cast<uint8_t *>(&v), sizeof(v)});
}

request &request::u32(uint16_t type, uint32_t v)
{
    return put(type, {reinterpret_cast<uint8_t *>(&v), sizeof(v)});
}

request &request::u64(uint16_t type, uint64_t v)
{
    return put(type, {reinterpret_cast<uint8_t *>(&v), sizeof(v)});
}

request &request::str(uint16_t type, std::string_view v)
{
    std::string z(v);
    return put(type, {reinterpret_cast<const uint8_t *>(z.c_str()), z.size() + 1});
}

size_t request::nest_begin(uint16_t type)
{
    size_t at = buf_.size();
    put(type | NLA_F_NESTED, {});
    return at;
}

void request::nest_end(size_t at)
{
    size_t len = buf_.size() - at;
    if (len > UINT16_MAX) {
        too_long_ = true;
        return;
    }
    auto len16 = static_cast<uint16_t>(len);
    std::memcpy(buf_.data() + at + offsetof(nlattr, nla_len), &len16, sizeof(len16));
}

void request::finish(int family, uint8_t version, uint16_t flags, uint32_t seq, uint32_t port)
{
    nlmsghdr h{};
    h.nlmsg_len = static_cast<uint32_t>(buf_.size());
    h.nlmsg_type = static_cast<uint16_t>(family);
    h.nlmsg_flags = flags;
    h.nlmsg_seq = seq;
    h.nlmsg_pid = port;
    std::memcpy(buf_.data(), &h, sizeof(h));
    buf_[NLMSG_HDRLEN + offsetof(genlmsghdr, version)] = version;
}

// ---- socket ----

void socket::closer::operator()(nl_sock *s) const
{
    nl_socket_free(s);
}

error socket::open(const std::string &family, uint8_t version)
{
    sock_.reset(nl_socket_alloc());
    if (!sock_)
        return error::make(ENOMEM, "netlink socket");
    if (int r = genl_connect(sock_.get()); r < 0)
        return from_nl(r, "netlink socket");
    // Larger than the sysctl limits: the kernel clamps, and that will do.
    nl_socket_set_buffer_size(sock_.get(), buffer_bytes, buffer_bytes);
    for (int opt : {NETLINK_EXT_ACK, NETLINK_CAP_ACK, NETLINK_GET_STRICT_CHK}) {
        int on = 1;
        if (setsockopt(fd(), SOL_NETLINK, opt, &on, sizeof(on)) < 0)
            return error::make(errno, "netlink socket option");
    }
    family_name_ = family;
    version_ = version;
    family_ = genl_ctrl_resolve(sock_.get(), family.c_str());
    if (family_ < 0)
        return {ENOENT, "the kernel has no netlink family \"" + family + "\"; is the module loaded?",
                false};
    return {};
}

error socket::join(const std::string &group)
{
    int id = genl_ctrl_resolve_grp(sock_.get(), family_name_.c_str(), group.c_str());
    if (id < 0)
        return from_nl(id, "multicast group " + group);
    if (int r = nl_socket_add_membership(sock_.get(), id); r < 0)
        return from_nl(r, "multicast group " + group);
    return {};
}

error socket::set_nonblocking()
{
    if (int r = nl_socket_set_nonblocking(sock_.get()); r < 0)
        return from_nl(r, "netlink socket");
    return {};
}

int socket::fd() const
{
    return nl_socket_get_fd(sock_.get());
}

error socket::read_datagram(std::vector<uint8_t> &out)
{
    for (;;) {
        sockaddr_nl from{};
        msghdr mh{};
        out.resize(datagram_max);
        iovec iov{out.data(), out.size()};
        mh.msg_name = &from;
        mh.msg_namelen = sizeof(from);
        mh.msg_iov = &iov;
        mh.msg_iovlen = 1;
        ssize_t n = recvmsg(fd(), &mh, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error::make(errno, "netlink socket");
        if (from.nl_pid != 0)
            continue; // another process; only the kernel is listened to
        if (mh.msg_flags & MSG_TRUNC)
            return {EMSGSIZE, "netlink message longer than expected", false};
        out.resize(static_cast<size_t>(n));
        return {};
    }
}

error socket::collect(uint32_t seq, bool &interrupted,
                      std::vector<std::vector<uint8_t>> &replies)
{
    std::vector<uint8_t> datagram;
    for (;;) {
        if (auto e = read_datagram(datagram))
            return e;
        std::span<const uint8_t> rest(datagram);
        nlmsg_view m;
        while (next_message(rest, m)) {
            if (m.hdr.nlmsg_seq != seq)
                continue;
            if (m.hdr.nlmsg_flags & NLM_F_DUMP_INTR)
                interrupted = true;
            if (m.hdr.nlmsg_type == NLMSG_ERROR || m.hdr.nlmsg_type == NLMSG_DONE)
                return verdict(m);
            if (m.hdr.nlmsg_type == family_)
                replies.emplace_back(m.payload.begin(), m.payload.end());
        }
    }
}

error socket::transact(request &rq, uint16_t flags, std::vector<std::vector<uint8_t>> &replies)
{
    if (rq.too_long())
        return {E2BIG, "request too long: more than 64 KiB in one attribute", false};
    for (int i = 0; i < dump_tries; i++) {
        uint32_t seq = nl_socket_use_seq(sock_.get());
        bool interrupted = false;
        rq.finish(family_, version_, flags, seq, nl_socket_get_local_port(sock_.get()));
        auto b = rq.bytes();
        sockaddr_nl kernel{};
        kernel.nl_family = AF_NETLINK;
        if (sendto(fd(), b.data(), b.size(), 0, reinterpret_cast<sockaddr *>(&kernel),
                   sizeof(kernel)) < 0)
            return error::make(errno, "netlink request");
        replies.clear();
        if (auto e = collect(seq, interrupted, replies))
            return e;
        if (!interrupted)
            return {};
    }
    return {EINTR, "objects change faster than they can be listed", false};
}

error socket::call(request &rq, const handler &on_reply)
{
    std::vector<std::vector<uint8_t>> replies;
    auto e = transact(rq, NLM_F_REQUEST | NLM_F_ACK, replies);
    message m;
    for (auto &r : replies)
        if (on_reply && to_message(r, m))
            on_reply(m);
    return e;
}

error socket::dump(request &rq, const handler &on_reply)
{
    std::vector<std::vector<uint8_t>> replies;
    if (auto e = transact(rq, NLM_F_REQUEST | NLM_F_DUMP, replies))
        return e;
    message m;
    for (auto &r : replies)
        if (to_message(r, m))
            on_reply(m);
    return {};
}

error socket::receive(const handler &on_event)
{
    std::vector<uint8_t> datagram;
    if (auto e = read_datagram(datagram))
        return e;
    std::span<const uint8_t> rest(datagram);
    nlmsg_view v;
    message m;
    while (next_message(rest, v))
        if (v.hdr.nlmsg_type == family_ && to_message(v.payload, m))
            on_event(m);
    return {};
}

} // namespace mrcnl
