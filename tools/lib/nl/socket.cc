// SPDX-License-Identifier: GPL-2.0
// socket.cc - see socket.h.
#include "socket.h"

#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace mrcnl {

namespace {

// A profile of 4,096 EVs is 200 KB long; libnl's default buffer is 32 KB.
constexpr int request_buffer = 1 << 20;
constexpr int event_buffer = 4 << 20;
// The kernel sizes its dump messages by this, up to 32 KB; longer ones are read as well.
constexpr size_t datagram_bytes = 64 * 1024;

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

bytes payload_of(const nlmsghdr *h)
{
    return {static_cast<const uint8_t *>(nlmsg_data(h)), static_cast<size_t>(nlmsg_datalen(h))};
}

std::string text_of(bytes attrs)
{
    table t{attr_range(attrs)};
    if (auto text = t[NLMSGERR_ATTR_MSG].str(); !text.empty())
        return std::string(text);
    if (auto missing = t[NLMSGERR_ATTR_MISS_TYPE])
        return "required attribute " + std::to_string(missing.num()) + " is missing";
    return {};
}

// The verdict in an NLMSG_ERROR or NLMSG_DONE message with its extended ack.
error verdict(const nlmsghdr *h)
{
    auto payload = payload_of(h);
    auto code = fixed_header<int32_t>(payload);
    if (code == 0)
        return {};

    error e{code < 0 ? -code : code, {}, true};
    size_t skip = sizeof(code);
    if (h->nlmsg_type == NLMSG_ERROR) {
        auto sent = fixed_header<nlmsgerr>(payload).msg;
        skip += h->nlmsg_flags & NLM_F_CAPPED ? sizeof(sent) : NLMSG_ALIGN(sent.nlmsg_len);
    }
    if ((h->nlmsg_flags & NLM_F_ACK_TLVS) && skip < payload.size())
        e.text = text_of(payload.subspan(skip));
    if (e.text.empty())
        e.text = std::strerror(e.code);
    return e;
}

} // namespace

error error::make(int code, std::string_view what)
{
    return {code, std::string(what) + ": " + std::strerror(code), false};
}

struct socket::datagram {
    struct freer {
        void operator()(unsigned char *p) const { std::free(p); }
    };
    std::unique_ptr<unsigned char, freer> data;
    int len = 0;

    template <class F> void each(F &&fn) const
    {
        auto *h = reinterpret_cast<nlmsghdr *>(data.get());
        for (int left = len; nlmsg_ok(h, left); h = nlmsg_next(h, &left))
            fn(h);
    }
};

void socket::closer::operator()(nl_sock *s) const
{
    nl_socket_free(s);
}

int socket::fd() const
{
    return nl_socket_get_fd(sock_.get());
}

error socket::open(int protocol, int buffer_bytes)
{
    sock_.reset(nl_socket_alloc());
    if (!sock_)
        return error::make(ENOMEM, "netlink socket");
    if (int r = nl_connect(sock_.get(), protocol); r < 0) {
        sock_.reset();
        return from_nl(r, "netlink socket");
    }
    // Larger than the sysctl limits: the kernel clamps, unless we are allowed more.
    nl_socket_set_buffer_size(sock_.get(), buffer_bytes, buffer_bytes);
    (void)setsockopt(fd(), SOL_SOCKET, SO_RCVBUFFORCE, &buffer_bytes, sizeof(buffer_bytes));
    nl_socket_set_msg_buf_size(sock_.get(), datagram_bytes);
    nl_socket_enable_msg_peek(sock_.get());
    for (int opt : {NETLINK_EXT_ACK, NETLINK_CAP_ACK, NETLINK_GET_STRICT_CHK}) {
        int on = 1;
        if (setsockopt(fd(), SOL_NETLINK, opt, &on, sizeof(on)) < 0)
            return error::make(errno, "netlink socket option");
    }
    return {};
}

error socket::open(int protocol)
{
    timeval limit{reply_seconds, 0};
    if (auto e = open(protocol, request_buffer))
        return e;
    if (setsockopt(fd(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0)
        return error::make(errno, "netlink socket option");
    return {};
}

error socket::open_events(int protocol)
{
    if (auto e = open(protocol, event_buffer))
        return e;
    if (int r = nl_socket_set_nonblocking(sock_.get()); r < 0)
        return from_nl(r, "netlink socket");
    return {};
}

error socket::join(unsigned group)
{
    if (int r = nl_socket_add_membership(sock_.get(), static_cast<int>(group)); r < 0)
        return from_nl(r, "multicast group " + std::to_string(group));
    return {};
}

error socket::read(datagram &d)
{
    for (;;) {
        sockaddr_nl from{};
        unsigned char *data = nullptr;
        int n = nl_recv(sock_.get(), &from, &data, nullptr);
        d.data.reset(n > 0 ? data : nullptr);
        d.len = n > 0 ? n : 0;
        if (n < 0)
            return from_nl(n, "netlink socket");
        if (n == 0)
            return from_nl(-NLE_AGAIN, "netlink socket");
        if (from.nl_pid == 0)
            return {};
    }
}

error socket::collect(uint32_t seq, bool &interrupted, std::vector<datagram> &replies)
{
    for (;;) {
        datagram d;
        if (auto e = read(d)) {
            if (e.code == EAGAIN)
                return {ETIMEDOUT, "the kernel did not answer for " +
                                       std::to_string(reply_seconds) + " s", false};
            return e;
        }
        error result;
        bool done = false;
        d.each([&](const nlmsghdr *h) {
            if (own_ && !h->nlmsg_seq && h->nlmsg_type >= NLMSG_MIN_TYPE)
                own_(*h, payload_of(h));
            if (h->nlmsg_seq != seq || done) // late answer to a request that was given up
                return;
            if (h->nlmsg_flags & NLM_F_DUMP_INTR)
                interrupted = true;
            if (h->nlmsg_type == NLMSG_ERROR || h->nlmsg_type == NLMSG_DONE) {
                result = verdict(h);
                done = true;
            }
        });
        replies.push_back(std::move(d));
        if (done)
            return result;
    }
}

// @replies are of the last attempt.
error socket::transact(request &rq, std::vector<datagram> &replies)
{
    if (rq.too_long())
        return {E2BIG, "request too long: more than 64 KiB in one attribute", false};
    for (int i = 0; i < dump_tries; i++) {
        uint32_t seq = nl_socket_use_seq(sock_.get());
        bool interrupted = false;
        rq.set_seq(seq);
        if (int r = nl_send(sock_.get(), rq.msg()); r < 0)
            return from_nl(r, "netlink request");
        replies.clear();
        auto e = collect(seq, interrupted, replies);
        bool dump = (rq.flags() & NLM_F_DUMP) == NLM_F_DUMP;
        if (e && !(dump && e.from_kernel && e.code == EINTR))
            return e;
        if (!e && !interrupted)
            return {};
    }
    return {EINTR, "objects change faster than they can be listed", false};
}

error socket::call(request &rq, const on_message &on_reply)
{
    std::vector<datagram> replies;
    rq.add_flags(NLM_F_REQUEST | NLM_F_ACK);
    auto e = transact(rq, replies);
    uint32_t seq = nlmsg_hdr(rq.msg())->nlmsg_seq;
    for (auto &d : replies)
        d.each([&](const nlmsghdr *h) {
            if (on_reply && h->nlmsg_seq == seq && h->nlmsg_type >= NLMSG_MIN_TYPE)
                on_reply(*h, payload_of(h));
        });
    return e;
}

error socket::dump(request &rq, const on_message &on_reply)
{
    std::vector<datagram> replies;
    rq.add_flags(NLM_F_REQUEST | NLM_F_DUMP);
    if (auto e = transact(rq, replies))
        return e;
    uint32_t seq = nlmsg_hdr(rq.msg())->nlmsg_seq;
    for (auto &d : replies)
        d.each([&](const nlmsghdr *h) {
            if (h->nlmsg_seq == seq && h->nlmsg_type >= NLMSG_MIN_TYPE)
                on_reply(*h, payload_of(h));
        });
    return {};
}

error socket::wait_own(std::chrono::nanoseconds limit)
{
    auto s = std::chrono::duration_cast<std::chrono::seconds>(limit);
    timespec left{s.count(), static_cast<long>((limit - s).count())};
    pollfd p{fd(), POLLIN, 0};
    int n = ppoll(&p, 1, &left, nullptr);
    if (n <= 0)
        return error::make(n ? errno : EAGAIN, "netlink socket");
    return receive([this](const nlmsghdr &h, bytes payload) {
        if (own_ && !h.nlmsg_seq)
            own_(h, payload);
    });
}

error socket::receive(const on_message &on_event)
{
    datagram d;
    if (auto e = read(d))
        return e;
    d.each([&](const nlmsghdr *h) {
        if (h->nlmsg_type >= NLMSG_MIN_TYPE)
            on_event(*h, payload_of(h));
    });
    return {};
}

} // namespace mrcnl
