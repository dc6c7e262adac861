// SPDX-License-Identifier: GPL-2.0
// One thread. Any event only makes a reconciliation due, kCoalesce later, so
// that a burst of events costs one; lost events are thereby no special case.
#include "daemon.h"

#include <linux/genetlink.h>
#include <linux/mrc.h>
#include <linux/rtnetlink.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <csignal>
#include <memory>

#include "notify.h"
#include "rtnl.h"

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
    using OnLost = std::function<void()>;

    EventSource(asio::io_context &io, int protocol, const std::vector<unsigned> &groups,
                mrcnl::on_message on_event, OnLost on_lost)
        : descriptor_(io), on_event_(std::move(on_event)), on_lost_(std::move(on_lost))
    {
        if (const auto e = socket_.open_events(protocol))
            throw std::runtime_error(e.text);
        for (const unsigned group : groups)
            if (const auto e = socket_.join(group))
                throw std::runtime_error(e.text);
        descriptor_.assign(socket_.fd());
        wait();
    }

    ~EventSource() { descriptor_.release(); }

private:
    void wait()
    {
        descriptor_.async_wait(asio::posix::stream_descriptor::wait_read,
                               [this](const boost::system::error_code &ec) {
            if (ec)   // being destroyed
                return;
            drain();
            wait();
        });
    }

    void drain()
    {
        mrcnl::error e;

        while (!(e = socket_.receive(on_event_)) || e.code == ENOBUFS)
            if (e)
                on_lost_();
        if (e.code != EAGAIN)
            on_lost_();
    }

    mrcnl::socket socket_;
    asio::posix::stream_descriptor descriptor_;
    mrcnl::on_message on_event_;
    OnLost on_lost_;
};

class Daemon {
public:
    Daemon(Reconciler &reconciler, const NetlinkKernel &kernel, const std::string &ready_file,
           const Log &log)
        : reconciler_(reconciler), kernel_(kernel), ready_file_(ready_file), log_(log), signals_(io_), due_(io_),
          retry_(io_), hold_(io_),
          route_(io_, NETLINK_ROUTE,
                 {RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV6_ROUTE},
                 [this](auto &h, auto p) { route_event(h, p); }, [this] { lost("rtnetlink"); })
    {
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

    void route_event(const nlmsghdr &h, mrcnl::bytes payload)
    {
        switch (h.nlmsg_type) {
        case RTM_NEWLINK:
            reconciler_.link_seen(nl::parse_link(payload), Clock::now());
            break;
        case RTM_NEWROUTE:
        case RTM_DELROUTE:
            if (mrcnl::fixed_header<rtmsg>(payload).rtm_protocol != kProtocol)
                return;
            break;
        }
        due();
    }

    void mrc_event(mrcnl::bytes payload)
    {
        const mrcnl::table t(mrcnl::attrs_after<genlmsghdr>(payload));
        const auto type = t[MRC_A_EVENT_TYPE].num();

        // Peers and their EVs are the module's own business.
        if (t[MRC_A_EVENT_TYPE] && type != MRC_EVENT_PEER_PORTS && type != MRC_EVENT_EV)
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
        const auto &family = kernel_.family();

        if (family == mrc_family_)
            return;
        mrc_.reset();
        mrc_family_ = family;
        if (!family)
            return;
        const auto group = family->groups.find(MRC_GENL_MCGRP_EVENTS);
        if (group == family->groups.end())
            return;
        try {
            mrc_ = std::make_unique<EventSource>(
                io_, NETLINK_GENERIC, std::vector{group->second},
                [this](auto &, auto payload) { mrc_event(payload); }, [this] { lost("mrc"); });
        } catch (const std::runtime_error &e) {   // the module went again
            log_.warning("mrc events: {}", e.what());
            mrc_family_.reset();
        }
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
    const NetlinkKernel &kernel_;
    const std::string &ready_file_;
    const Log &log_;
    asio::io_context io_{1};
    asio::signal_set signals_;
    asio::steady_timer due_, retry_, hold_;
    EventSource route_;
    std::unique_ptr<EventSource> mrc_;
    std::optional<mrcnl::family> mrc_family_;
    Clock::duration backoff_ = kRetryMin;
    bool due_armed_ = false;
    bool failing_ = false;
    bool ready_ = false;
};

}   // namespace

int run_daemon(Reconciler &reconciler, const NetlinkKernel &kernel, const std::string &ready_file,
               const Log &log)
{
    return Daemon(reconciler, kernel, ready_file, log).run();
}

}   // namespace mrcd
