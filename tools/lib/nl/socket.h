// SPDX-License-Identifier: GPL-2.0
// socket.h - a netlink socket on libnl: requests with the kernel's verdict in its own words,
// dumps that are consistent, events. For rtnetlink, generic netlink and others alike.
//
// Only what comes from the kernel (port 0) is listened to. A request waits for its answer for
// reply_seconds at most; the kernel does the work within sendmsg(), whether a socket blocks or not
// (Documentation/developer/daemon.md). nl_recvmsgs() is not used: it drops the kernel's text about a refused
// dump.
//
// Not thread-safe: one socket per thread. One socket is for requests or for events: an event in
// the middle of a reply is dropped. An event socket never blocks: poll fd(), then receive().
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "attr.h"
#include "error.h"
#include "request.h"

struct nl_sock;

namespace mrcnl {

inline constexpr int reply_seconds = 5;
inline constexpr int dump_tries = 10; // of one interrupted by changes

// A message: its header and what follows that.
using on_message = std::function<void(const nlmsghdr &, bytes payload)>;

class socket {
  public:
    // Connects in the caller's network namespace.
    error open(int protocol);
    // The same, for events.
    error open_events(int protocol);
    error join(unsigned group);
    bool is_open() const { return sock_ != nullptr; }
    int fd() const;

    // Sends, waits for the acknowledgement; replies go to @on_reply.
    error call(request &rq, const on_message &on_reply = {});
    // All replies of one consistent dump; of attempts that were interrupted nothing is seen.
    error dump(request &rq, const on_message &on_reply);
    // What comes to this socket alone and answers no request (its sequence number is 0): handed to @h,
    // during requests, too.
    void own(on_message h) { own_ = std::move(h); }
    // Waits for that, for @limit at most. EAGAIN: nothing came. Not while a request is under way.
    error wait_own(std::chrono::nanoseconds limit);
    // One datagram of events. EAGAIN: none waiting. ENOBUFS: events were lost, look again at
    // what matters.
    error receive(const on_message &on_event);

  private:
    struct closer {
        void operator()(nl_sock *s) const;
    };
    struct datagram;
    error open(int protocol, int buffer_bytes);
    error read(datagram &d);
    // Reads until the acknowledgement or the end of the dump.
    error collect(uint32_t seq, bool &interrupted, std::vector<datagram> &replies);
    error transact(request &rq, std::vector<datagram> &replies);

    std::unique_ptr<nl_sock, closer> sock_;
    on_message own_;
};

} // namespace mrcnl
