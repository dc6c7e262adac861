// SPDX-License-Identifier: GPL-2.0
// One thread. Any event only makes a reconciliation due, kCoalesce later, so
// that a burst of events costs one; lost events are thereby no special case.
#include "daemon.h"

#include <linux/genetlink.h>
#include <linux/rtnetlink.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <memory>

#include "nl/genl.h"
#include "nl/rtnl.h"
#include "notify.h"

namespace mrcd {

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kCoalesce = 50ms;
constexpr auto kCoalesceFailing = 250ms;   // what fails must not spin on its own events
constexpr auto kRetryMin = 100ms;
constexpr auto kRetryMax = 5000ms;

// A netlink socket in the loop. The socket, not Asio, owns the descriptor.
class EventSource {
public:
    using OnEvent = nl::Handler;
    using OnLost = std::function<void()>;

    EventSource(asio::io_context &io, int protocol, OnEvent on_event, OnLost on_lost)
        : socket_(protocol, nl::Socket::Use::kEvents), descriptor_(io, socket_.fd()),
          on_event_(std::move(on_event)), on_lost_(std::move(on_lost))
    {
        wait();
    }

    ~EventSource() { descriptor_.release(); }

    nl::Result join(unsigned group) { return socket_.join(group); }

private:
    void wait()
    {
        descriptor_.async_wait(asio::posix::stream_descriptor::wait_read,
                               [this](const boost::system::error_code &ec) {
            if (ec)   // being destroyed
                return;
            if (socket_.events(on_event_) == nl::Socket::Events::kLost)
                on_lost_();
            wait();
        });
    }

    nl::Socket socket_;
    asio::posix::stream_descriptor descriptor_;
    OnEvent on_event_;
    OnLost on_lost_;
};

class Daemon {
public:
    Daemon(Reconciler &reconciler, const std::string &ready_file, const Log &log)
        : reconciler_(reconciler), ready_file_(ready_file), log_(log), signals_(io_), due_(io_),
          retry_(io_), hold_(io_),
          route_(io_, NETLINK_ROUTE, [this](auto &h, auto p) { route_event(h, p); },
                 [this] { lost("rtnetlink"); })
    {
        for (const unsigned group : {RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR,
                                     RTNLGRP_IPV6_ROUTE})
            if (const auto r = route_.join(group); !r)
                throw std::runtime_error("rtnetlink events: " + r.text);
        for (const int signal : {SIGHUP, SIGTERM, SIGINT})
            signals_.add(signal);
        wait_signal();
    }

    int run()
    {
        reconcile();
        io_.run();
        return 0;
    }

private:
    // -------------------------------------------------------------- events

    void route_event(const nlmsghdr &h, nl::Bytes payload)
    {
        switch (h.nlmsg_type) {
        case RTM_NEWLINK:
            reconciler_.link_seen(nl::parse_link(payload), Clock::now());
            break;
        case RTM_NEWROUTE:
        case RTM_DELROUTE:
            if (nl::fixed_header<rtmsg>(payload).rtm_protocol != kProtocol)
                return;
            break;
        }
        due();
    }

    void mrc_event(nl::Bytes payload)
    {
        const auto type = nl::attrs_after<genlmsghdr>(payload).u32(MRC_A_EVENT_TYPE);

        // Peers and their EVs are the module's own business.
        if (type && *type != MRC_EVENT_PEER_PORTS && *type != MRC_EVENT_EV)
            due();
    }

    void lost(const char *what)
    {
        log_.debug("{} events were lost, looking at everything", what);
        due();
    }

    void wait_signal()
    {
        signals_.async_wait([this](const boost::system::error_code &ec, int signal) {
            if (ec)
                return;
            if (signal != SIGHUP) {
                log_.info("ends on signal {}; the configuration stays", signal);
                notify_manager("STOPPING=1");
                io_.stop();
                return;
            }
            if (reconciler_.reload()) {
                log_.info("fabric file read again");
                reconcile();
            }
            wait_signal();
        });
    }

    // --------------------------------------------------------------- doing

    void due()
    {
        if (due_armed_)
            return;
        due_armed_ = true;
        due_.expires_after(failing_ ? kCoalesceFailing : kCoalesce);
        due_.async_wait([this](const boost::system::error_code &ec) {
            due_armed_ = false;
            if (!ec)
                reconcile();
        });
    }

    void reconcile()
    {
        const auto outcome = reconciler_.run();

        follow_module();
        arm_hold();
        retry_.cancel();
        failing_ = outcome == Reconciler::Outcome::kFailed;
        if (outcome == Reconciler::Outcome::kComplete) {
            backoff_ = kRetryMin;
            ready();
            return;
        }
        retry_.expires_after(backoff_);
        retry_.async_wait([this](const boost::system::error_code &ec) {
            if (!ec)
                reconcile();
        });
        backoff_ = std::min<Clock::duration>(backoff_ * 2, kRetryMax);
    }

    void ready()
    {
        if (ready_)
            return;
        ready_ = true;
        log_.info("everything is in place");
        notify_manager("READY=1");
        if (!ready_file_.empty() && !touch(ready_file_))
            log_.error("{}: {}", ready_file_, std::generic_category().message(errno));
    }

    // The module may come, go and come again, each time with another number.
    void follow_module()
    {
        const auto &family = reconciler_.family();
        const unsigned group = family ? family->events_group : 0;

        if (group == mrc_group_)
            return;
        mrc_.reset();
        mrc_group_ = group;
        if (group == 0)
            return;
        mrc_ = std::make_unique<EventSource>(
            io_, NETLINK_GENERIC, [this](auto &, auto payload) { mrc_event(payload); },
            [this] { lost("mrc"); });
        if (const auto r = mrc_->join(group); !r)
            log_.error("mrc events: {}", r.text);
        due();   // what happened before we listened
    }

    void arm_hold()
    {
        const auto deadline = reconciler_.deadline();

        hold_.cancel();
        if (!deadline)
            return;
        hold_.expires_at(*deadline);
        hold_.async_wait([this](const boost::system::error_code &ec) {
            if (ec)
                return;
            reconciler_.release(Clock::now());
            reconcile();
        });
    }

    Reconciler &reconciler_;
    const std::string &ready_file_;
    const Log &log_;
    asio::io_context io_{1};
    asio::signal_set signals_;
    asio::steady_timer due_, retry_, hold_;
    EventSource route_;
    std::unique_ptr<EventSource> mrc_;
    unsigned mrc_group_ = 0;
    Clock::duration backoff_ = kRetryMin;
    bool due_armed_ = false;
    bool failing_ = false;
    bool ready_ = false;
};

}   // namespace

int run_daemon(Reconciler &reconciler, const std::string &ready_file, const Log &log)
{
    return Daemon(reconciler, ready_file, log).run();
}

}   // namespace mrcd
