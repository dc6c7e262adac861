// SPDX-License-Identifier: GPL-2.0
// socket.h - a netlink socket: requests answered by an acknowledgement or a
// dump, with the kernel's own words in errors; or events of multicast groups.
//
// Requests block, as the kernel does the work within the request; a time limit
// guards against waiting for ever. One socket is for requests or for events.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "message.h"

namespace mrcd::nl {

inline constexpr std::chrono::seconds kReplyLimit{5};
inline constexpr int kEventBufferBytes = 1 << 20;
inline constexpr int kDumpRetries = 8;   // of a dump interrupted by changes

// errno and what the kernel said about it. No error: code 0.
struct Result {
    int code = 0;
    std::string text;

    explicit operator bool() const { return code == 0; }
};

using Handler = std::function<void(const nlmsghdr &, Bytes payload)>;

class Socket {
public:
    enum class Use { kRequests, kEvents };

    Socket(int protocol, Use use);   // throws std::system_error
    ~Socket();
    Socket(const Socket &) = delete;
    Socket &operator=(const Socket &) = delete;

    int fd() const { return fd_; }

    // With NLM_F_ACK, and with an answer if the kernel sends one.
    Result request(Message &message, const Handler &on_reply = {});
    // @on_reply sees one consistent dump; @restart is called before a repetition.
    Result dump(Message &message, const std::function<void()> &restart, const Handler &on_reply);

    Result join(unsigned group);

    enum class Events { kDrained, kLost };
    // Everything that has arrived, without blocking. kLost: some did not fit.
    Events events(const Handler &on_event);

private:
    struct Reply;
    Result transact(Message &message, const Handler &on_reply, bool &interrupted);
    Result receive(std::vector<std::uint8_t> &buffer, std::size_t &len, int flags);

    int fd_;
    std::uint32_t seq_ = 0;
    std::vector<std::uint8_t> buffer_;
};

// Calls @fn(header, payload) for each message of a datagram.
template <typename F> void each_message(Bytes datagram, F &&fn)
{
    while (datagram.size() >= sizeof(nlmsghdr)) {
        const auto h = fixed_header<nlmsghdr>(datagram);
        if (h.nlmsg_len < sizeof(h) || h.nlmsg_len > datagram.size())
            return;
        fn(h, datagram.subspan(NLMSG_HDRLEN, h.nlmsg_len - NLMSG_HDRLEN));
        datagram = datagram.subspan(
            std::min<std::size_t>(NLMSG_ALIGN(h.nlmsg_len), datagram.size()));
    }
}

}   // namespace mrcd::nl
