// SPDX-License-Identifier: GPL-2.0
#include "socket.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace mrcd::nl {

namespace {

constexpr std::size_t kBufferBytes = 256 * 1024;   // the largest datagram of a dump is 32 KiB

void set_option(int fd, int level, int option, int value)
{
    (void)setsockopt(fd, level, option, &value, sizeof(value));   // old kernels lack some
}

Result from_errno(int code) { return {code, std::generic_category().message(code)}; }

// The payload of NLMSG_ERROR, or of an NLMSG_DONE that carries an error.
Result from_error(const nlmsghdr &h, Bytes payload)
{
    const auto code = fixed_header<std::int32_t>(payload);
    if (code == 0)
        return {};

    Result r = from_errno(-code);
    if (!(h.nlmsg_flags & NLM_F_ACK_TLVS))
        return r;
    std::size_t skip = sizeof(std::int32_t);
    if (h.nlmsg_type == NLMSG_ERROR) {
        const auto e = fixed_header<nlmsgerr>(payload);
        skip = sizeof(nlmsgerr);
        if (!(h.nlmsg_flags & NLM_F_CAPPED))
            skip += NLMSG_ALIGN(e.msg.nlmsg_len) - NLMSG_HDRLEN;
    }
    if (skip < payload.size()) {
        const auto text = Attrs(payload.subspan(skip)).string(NLMSGERR_ATTR_MSG);
        if (!text.empty())
            r.text += " (" + text + ")";
    }
    return r;
}

}   // namespace

Socket::Socket(int protocol, Use use) : buffer_(kBufferBytes)
{
    const int type = SOCK_RAW | SOCK_CLOEXEC | (use == Use::kEvents ? SOCK_NONBLOCK : 0);
    const timeval limit{kReplyLimit.count(), 0};
    sockaddr_nl any{};

    fd_ = socket(AF_NETLINK, type, protocol);
    if (fd_ < 0)
        throw std::system_error(errno, std::generic_category(), "netlink socket");
    any.nl_family = AF_NETLINK;
    set_option(fd_, SOL_NETLINK, NETLINK_EXT_ACK, 1);
    set_option(fd_, SOL_NETLINK, NETLINK_CAP_ACK, 1);
    set_option(fd_, SOL_NETLINK, NETLINK_GET_STRICT_CHK, 1);
    if (use == Use::kEvents)
        set_option(fd_, SOL_SOCKET, SO_RCVBUFFORCE, kEventBufferBytes);
    (void)setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    if (bind(fd_, reinterpret_cast<const sockaddr *>(&any), sizeof(any)) < 0) {
        const int code = errno;
        close(fd_);
        throw std::system_error(code, std::generic_category(), "netlink bind");
    }
}

Socket::~Socket() { close(fd_); }

Result Socket::receive(std::vector<std::uint8_t> &buffer, std::size_t &len, int flags)
{
    ssize_t n;

    do
        n = recv(fd_, buffer.data(), buffer.size(), flags | MSG_TRUNC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return from_errno(errno);
    if (static_cast<std::size_t>(n) > buffer.size())
        return {EMSGSIZE, "netlink datagram of " + std::to_string(n) + " bytes"};
    len = static_cast<std::size_t>(n);
    return {};
}

Result Socket::transact(Message &message, const Handler &on_reply, bool &interrupted)
{
    const std::uint32_t seq = ++seq_;
    const Bytes out = message.finish(seq);

    if (send(fd_, out.data(), out.size(), 0) < 0)
        return from_errno(errno);
    for (;;) {
        std::size_t len = 0;
        if (auto r = receive(buffer_, len, 0); !r)
            return r;
        bool done = false;
        Result result;
        each_message(Bytes(buffer_).first(len), [&](const nlmsghdr &h, Bytes payload) {
            if (h.nlmsg_seq != seq || done)   // late answer of a request given up
                return;
            if (h.nlmsg_flags & NLM_F_DUMP_INTR)
                interrupted = true;
            if (h.nlmsg_type == NLMSG_ERROR || h.nlmsg_type == NLMSG_DONE) {
                result = from_error(h, payload);
                done = true;
            } else if (on_reply) {
                on_reply(h, payload);
            }
        });
        if (done)
            return result;
    }
}

Result Socket::request(Message &message, const Handler &on_reply)
{
    bool interrupted = false;

    return transact(message, on_reply, interrupted);
}

Result Socket::dump(Message &message, const std::function<void()> &restart,
                    const Handler &on_reply)
{
    for (int i = 0; i < kDumpRetries; i++) {
        bool interrupted = false;
        restart();
        const Result r = transact(message, on_reply, interrupted);
        if (!r || !interrupted)
            return r;
    }
    return {EAGAIN, "the objects changed during each of several dumps"};
}

Result Socket::join(unsigned group)
{
    if (setsockopt(fd_, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) < 0)
        return from_errno(errno);
    return {};
}

Socket::Events Socket::events(const Handler &on_event)
{
    Events outcome = Events::kDrained;

    for (;;) {
        std::size_t len = 0;
        const Result r = receive(buffer_, len, MSG_DONTWAIT);
        if (r.code == EAGAIN || r.code == EWOULDBLOCK)
            return outcome;
        if (r.code == ENOBUFS || r.code == EMSGSIZE) {
            outcome = Events::kLost;
            continue;
        }
        if (!r)
            return Events::kLost;
        each_message(Bytes(buffer_).first(len), on_event);
    }
}

}   // namespace mrcd::nl
