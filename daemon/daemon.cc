// SPDX-License-Identifier: GPL-2.0
// daemon.cc - see daemon.h.
//
// One thread. An event only requests a reconciliation, kCoalesce later, so that a burst of events
// costs one. So a lost event is no special case: kLook requests one, too.
#include "daemon.h"

#include <linux/genetlink.h>
#include <linux/mrc.h>
#include <linux/netconf.h>
#include <linux/rtnetlink.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/crc.hpp>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <memory>

#include "avoider.h"
#include "events.h"
#include "notify.h"
#include "probe_genl.h"
#include "prober.h"
#include "rtnl.h"
#include "signals.h"
#include "web/monitor.h"

namespace mrcd {

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kCoalesce = 50ms;
constexpr auto kCoalesceFailing = 250ms;   // a failing operation must not loop on its own events
constexpr auto kRetryMin = 100ms;
constexpr auto kRetryMax = 5000ms;
constexpr auto kListenAgain = 5s;          // the address may be added later
constexpr auto kLook = 30s;                // even without an event
constexpr const char *kInPlace = "everything is in place";
constexpr unsigned kGenlNotify = GENL_ID_CTRL;   // the group that announces families

// The version of the loaded module; "": it has none.
std::string module_version()
{
    std::string version;

    std::ifstream("/sys/module/" MRC_GENL_NAME "/version") >> version;
    return version;
}

std::uint32_t file_hash(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    boost::crc_32_type crc;

    crc.process_bytes(text.data(), text.size());
    return crc.checksum();
}

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
            if (ec)   // the source is being destroyed
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
    Daemon(Reconciler &reconciler, const NetlinkKernel &kernel, const Options &options,
           const Log &log)
        : reconciler_(reconciler), kernel_(kernel), options_(options), log_(log),
          events_(options.event_file, log), signal_fd_(io_, signals_.fd()), due_(io_), retry_(io_), watchdog_(io_), listen_(io_), probe_(io_),
          route_(io_, NETLINK_ROUTE,
                 {RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE,
                  RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV6_NETCONF},
                 [this](auto &h, auto p) { route_event(h, p); }, [this] { lost("rtnetlink"); }),
          families_(io_, NETLINK_GENERIC, {kGenlNotify}, [this](auto &, auto p) { family_event(p); },
                    [this] { lost("families"); })
    {
        wait_signal();
        feed_watchdog();
    }

    ~Daemon() { signal_fd_.release(); }

    int run()
    {
        if (!options_.metrics.empty())
            listen(parse_endpoint(options_.metrics));
        reconcile();
        follow_probes();
        io_.run();
        return 0;
    }

private:
    // -------------------------------------------------------------- events

    void route_event(const nlmsghdr &h, mrcnl::bytes payload)
    {
        if (concerns(h.nlmsg_type, payload))
            due();
    }

    bool concerns(std::uint16_t type, mrcnl::bytes payload) const
    {
        switch (type) {
        case RTM_NEWLINK:
        case RTM_DELLINK:
            return reconciler_.concerns(nl::parse_link(payload));
        case RTM_NEWADDR:
        case RTM_DELADDR:
            return reconciler_.concerns(nl::parse_addr(payload).ifindex);
        case RTM_NEWROUTE:
        case RTM_DELROUTE:
            return mrcnl::fixed_header<rtmsg>(payload).rtm_protocol == kProtocol;
        }
        return true;
    }

    void mrc_event(mrcnl::bytes payload)
    {
        const mrcnl::table t(mrcnl::attrs_after<genlmsghdr>(payload));
        const auto type = t[MRC_A_EVENT_TYPE].num();

        // Events of peers and their EVs need no reconciliation.
        if (t[MRC_A_EVENT_TYPE] && type != MRC_EVENT_PEER_PORTS && type != MRC_EVENT_EV)
            due();
    }

    void family_event(mrcnl::bytes payload)
    {
        const mrcnl::table t(mrcnl::attrs_after<genlmsghdr>(payload));

        if (t[CTRL_ATTR_FAMILY_NAME].str() == MRC_GENL_NAME)
            due();
    }

    void lost(const char *what)
    {
        log_.debug("{} events were lost; reading the whole state again", what);
        due();
    }

    void wait_signal()
    {
        signal_fd_.async_wait(asio::posix::stream_descriptor::wait_read,
                              [this](const boost::system::error_code &ec) {
            if (ec)
                return;
            if (const int signal = signals_.take(); signal == SIGHUP)
                reload();
            else if (signal != 0)
                return end(signal);
            wait_signal();
        });
    }

    void end(int signal)
    {
        log_.info("exiting on signal {}; the configuration stays", signal);
        notify_manager("STOPPING=1");
        io_.stop();
    }

    void reload()
    {
        const auto usec = std::chrono::duration_cast<std::chrono::microseconds>(
            Clock::now().time_since_epoch());
        const bool again = reconciler_.held();

        if (ready_)
            notify_manager(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", usec.count()));
        try {
            reconciler_.want(load_desired(options_.config, options_.name));
            if (again || options_.force)
                reconciler_.confirm();
            config_hash_ = file_hash(options_.config);
            follow_probes();
            log_.info("fabric file reloaded");
        } catch (const std::exception &e) {
            log_.error("{}; keeping the earlier file", e.what());
        }
        reconcile();
        if (ready_)
            notify_manager("READY=1");
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
        using Outcome = Reconciler::Outcome;
        const auto outcome = reconciler_.run([this] { return signals_.pending(); });

        looked_ = std::chrono::system_clock::now();
        follow_module();
        failing_ = outcome == Outcome::kFailed;
        if (outcome == Outcome::kInterrupted)   // the loop handles the signal next
            return again_in(Clock::duration::zero());
        tell_status(outcome);
        if (outcome == Outcome::kComplete) {
            backoff_ = kRetryMin;
            ready();
            return again_in(kLook);
        }
        again_in(backoff_);
        backoff_ = std::min<Clock::duration>(backoff_ * 2, kRetryMax);
    }

    void again_in(Clock::duration wait)
    {
        retry_.expires_after(wait);
        retry_.async_wait([this](const boost::system::error_code &ec) {
            if (!ec)
                reconcile();
        });
    }

    void tell_status(Reconciler::Outcome outcome)
    {
        const auto &open = reconciler_.open_items();
        const auto status = outcome == Reconciler::Outcome::kComplete
            ? std::string(kInPlace)
            : fmt::format("{} open: {}", open.size(), open.empty() ? "" : open.front());

        if (status != status_)
            notify_manager("STATUS=" + status);
        status_ = status;
    }

    void ready()
    {
        if (ready_)
            return;
        ready_ = true;
        log_.info("{}", kInPlace);
        notify_manager("READY=1");
        if (!options_.ready_file.empty() && !touch(options_.ready_file))
            log_.error("{}: {}", options_.ready_file, std::generic_category().message(errno));
    }

    // ------------------------------------------------------------- probes

    // Starts or stops probes as the present file says.
    void follow_probes()
    {
        const auto &device = reconciler_.device();
        const auto &mine = options_.probing;
        const Probing file = device ? device->probing : Probing{};
        const auto rate = mrcver::probe_rate(mine.rate.value_or(file.rate.value_or("off")));
        const auto mode = mine.mode.value_or(file.mode.value_or("observe"));

        avoider_.reset();
        prober_.reset();
        if (!rate || *rate == mrcver::Rate::kOff)
            return;
        fabric_ = std::make_unique<Fabric>(load_fabric(options_.config));
        if (fabric_->flat || !device)
            return log_.info("nothing to probe: this is not a host of a fabric with switches");
        prober_ = std::make_unique<Prober>(
            *fabric_, Prober::Setup{options_.name, device->name, *rate, mode != "observe", options_.probe_file, mine.timeout_ms.value_or(file.timeout_ms.value_or(10))},
            probes_, log_, [this](const auto &v) { tell_verdict(v); });
        if (mode != "observe")
            avoider_ = std::make_unique<Avoider>(
                prober_->layout(), Avoider::Setup{options_.name, device->name, mode == "act", mine.avoid_expiry_s.value_or(file.avoid_expiry_s.value_or(600))},
                avoids_, [this](const std::string &text) { log_.info("{}", text); });
        probe_again();
    }

    void probe_again()
    {
        probe_.expires_after(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(Prober::kEach)));
        probe_.async_wait([this](const boost::system::error_code &ec) {
            if (ec || !prober_)
                return;
            const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
            prober_->tick(now.count());
            if (avoider_)
                avoider_->tick(now.count(), prober_->sick());
            probe_again();
        });
    }

    void tell_verdict(const Prober::Verdict &v)
    {
        if (v.fault)
            log_.warning("{}", v.text);
        else
            log_.info("{}", v.text);
        JournalFields fields{{"MESSAGE", v.text}, {"PRIORITY", v.fault ? "4" : "6"}, {"SYSLOG_IDENTIFIER", "mrcd"},
                             {"MRC_EVENT", v.bad ? "verdict" : "verdict-over"}};
        if (v.plane)
            fields.emplace_back("MRC_PLANE", std::to_string(v.plane));
        events_.write(fields, verdict_json(v));
    }

    Monitor::Probed probed(std::size_t room) const
    {
        Monitor::Probed p;

        if (!prober_)
            return p;
        p.metrics = prober_->metrics(room);
        for (const auto &v : prober_->verdicts())
            if (v.fault)
                p.faults.push_back(v.text);
        return p;
    }

    // ----------------------------------------------------------- onlookers

    health::daemon_state state() const
    {
        return {.ready = status_ == kInPlace, .open = reconciler_.open_items().size(),
                .config_hash = config_hash_, .looked = looked_, .looks_each = kLook};
    }

    void listen(const boost::asio::ip::tcp::endpoint &at)
    {
        try {
            web_ = std::make_unique<HttpServer>(io_, at, [this](auto path) { return monitor_.page(path); }, Monitor::kEvents,
                                                [this] { return monitor_.event(); });
            return log_.info("metrics at http://{}/metrics", options_.metrics);
        } catch (const boost::system::system_error &e) {
            if (!std::exchange(listen_failed_, true))
                log_.warning("--metrics {}: {}; retrying every {} s", options_.metrics, e.code().message(), kListenAgain.count());
        }
        listen_.expires_after(kListenAgain);
        listen_.async_wait([this, at](const boost::system::error_code &ec) {
            if (!ec)
                listen(at);
        });
    }

    void feed_watchdog()
    {
        const auto period = watchdog_period();

        if (period.count() <= 0)
            return;
        notify_manager("WATCHDOG=1");
        watchdog_.expires_after(period);
        watchdog_.async_wait([this](const boost::system::error_code &ec) {
            if (!ec)
                feed_watchdog();
        });
    }

    // The module may be loaded and unloaded, each time with another family number.
    void follow_module()
    {
        const auto &family = kernel_.family();

        if (family == mrc_family_)
            return;
        mrc_.reset();
        records_.reset();
        mrc_family_ = family;
        if (!family)
            return;
        if (const auto version = module_version(); version != MRC_VERSION)
            log_.warning("the loaded module has version {}, mrcd has {}: mrcctl doctor", version, MRC_VERSION);
        const auto group = family->groups.find(MRC_GENL_MCGRP_EVENTS);
        if (group == family->groups.end())
            return;
        try {
            mrc_ = std::make_unique<EventSource>(
                io_, NETLINK_GENERIC, std::vector{group->second},
                [this](auto &, auto payload) { mrc_event(payload); }, [this] { lost("mrc"); });
        } catch (const std::runtime_error &e) {   // the module was unloaded again
            log_.warning("mrc events: {}", e.what());
            mrc_family_.reset();
        }
        follow_log(*family);
        if (prober_)
            prober_->renew();
        if (avoider_)
            avoider_->renew();
        due();   // for changes before we listened
    }

    // An older module has no log group, and nothing depends on it.
    void follow_log(const mrcnl::family &family)
    {
        const auto group = family.groups.find(MRC_GENL_MCGRP_LOG);

        if (group == family.groups.end())
            return;
        try {
            records_ = std::make_unique<EventSource>(
                io_, NETLINK_GENERIC, std::vector{group->second},
                [this](auto &, auto payload) { events_.take(mrcnl::table(mrcnl::attrs_after<genlmsghdr>(payload))); },
                [this] { events_.lost(); });
        } catch (const std::runtime_error &e) {
            log_.warning("the module's log: {}", e.what());
        }
    }

    Reconciler &reconciler_;
    const NetlinkKernel &kernel_;
    const Options &options_;
    const Log &log_;
    Events events_;
    Signals signals_;
    asio::io_context io_{1};
    asio::posix::stream_descriptor signal_fd_;
    asio::steady_timer due_, retry_, watchdog_, listen_, probe_;
    EventSource route_, families_;
    std::unique_ptr<EventSource> mrc_, records_;
    std::optional<mrcnl::family> mrc_family_;
    std::string status_;
    std::uint32_t config_hash_ = file_hash(options_.config);
    std::chrono::system_clock::time_point looked_;
    NetlinkProbes probes_;
    std::unique_ptr<Fabric> fabric_;
    std::unique_ptr<Prober> prober_;
    NetlinkAvoids avoids_;
    std::unique_ptr<Avoider> avoider_;
    Monitor monitor_{options_.name, [this] { return state(); }, [this](std::size_t room) { return probed(room); }};
    std::unique_ptr<HttpServer> web_;
    Clock::duration backoff_ = kRetryMin;
    bool due_armed_ = false;
    bool failing_ = false;
    bool ready_ = false;
    bool listen_failed_ = false;
};

}   // namespace

int run_daemon(Reconciler &reconciler, const NetlinkKernel &kernel, const Options &options,
               const Log &log)
{
    return Daemon(reconciler, kernel, options, log).run();
}

}   // namespace mrcd
