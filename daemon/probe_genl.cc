// SPDX-License-Identifier: GPL-2.0
// probe_genl.cc - see probe_genl.h.
#include "probe_genl.h"

#include <linux/mrc.h>

#include <ctime>

#include "../tools/lib/fabric/usid.h"
#include "../tools/lib/nl/genl.h"

namespace mrcd {

namespace {

constexpr double kLookEach = 1;   // seconds

double seconds_of(clockid_t clock)
{
    timespec t{};

    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

}   // namespace

mrcnl::request probe_set(const std::string &dev, const std::vector<ProbeTest> &tests, const ProbeTimes &times)
{
    mrcnl::request rq(MRC_CMD_PROBE_SET);

    rq.str(MRC_A_DEV_NAME, dev);
    rq.nest(MRC_A_PROBES, [&](auto &n) {
        n.u32(MRC_A_PROBES_EXPIRY, times.expiry_s)
            .u32(MRC_A_PROBES_TIMEOUT, times.timeout_us)
            .u32(MRC_A_PROBES_STALL, times.stall_us);
    });
    for (const ProbeTest &t : tests)
        rq.nest(MRC_A_PROBE, [&](auto &n) {
            n.u32(MRC_A_PROBE_ID, t.id).u32(MRC_A_PROBE_KIND, t.kind).u32(MRC_A_PROBE_INTERVAL, t.interval_us);
            if (t.dscp)
                n.u8(MRC_A_PROBE_DSCP, *t.dscp);
            if (t.plane)
                n.u8(MRC_A_PROBE_PLANE, t.plane).put(MRC_A_PROBE_PATH, t.path.bytes);
        });
    return rq;
}

void parse_probe(const mrcnl::table &t, double ahead, ProbeState &state)
{
    const mrcnl::table all(t[MRC_A_PROBES]), p(t[MRC_A_PROBE]);

    if (t[MRC_A_PROBES]) {
        state.stalls = all[MRC_A_PROBES_STALLS].num();
        state.forged = all[MRC_A_PROBES_FORGED].num();
    }
    if (!t[MRC_A_PROBE])
        return;
    ProbeCount n;
    n.received = p[MRC_A_PROBE_RECEIVED].num();
    n.lost = p[MRC_A_PROBE_LOST].num();
    n.corrupt = p[MRC_A_PROBE_CORRUPT].num();
    n.other_plane = p[MRC_A_PROBE_OTHER_PLANE].num();
    n.void_ = p[MRC_A_PROBE_VOID].num();
    n.late = p[MRC_A_PROBE_LATE].num();
    n.trimmed = p[MRC_A_PROBE_TRIMMED].num();
    n.marked = p[MRC_A_PROBE_MARKED].num();
    n.full_sent = p[MRC_A_PROBE_FULL_SENT].num();
    n.full_lost = p[MRC_A_PROBE_FULL_LOST].num();
    n.rtt_sum = p[MRC_A_PROBE_RTT_SUM].num();
    n.rtt_low = p[MRC_A_PROBE_RTT_LOW].num();
    if (p[MRC_A_PROBE_LAST_LOST])
        n.last_lost = ahead + static_cast<double>(p[MRC_A_PROBE_LAST_LOST].num()) * 1e-9;
    state.tests.emplace_back(static_cast<std::uint32_t>(p[MRC_A_PROBE_ID].num()), n);
}

void parse_evs(const mrcnl::attr_range &attrs, LinkTraffic &counts)
{
    for (const auto &a : attrs) {
        if (a.type() != MRC_A_EV)
            continue;
        const mrcnl::table ev(a);
        const auto value = ev[MRC_A_EV_VALUE].bytes();
        if (value.size() < 16)
            continue;
        const mrcver::Traffic t{ev[MRC_A_EV_TX_PKTS].num(), ev[MRC_A_EV_LOST].num(), 1,
                                ev[MRC_A_EV_STATE].num() == MRC_NL_EV_ASSUMED_BAD};
        const auto usid = [&](std::size_t i) { return unsigned{value[4 + 2 * i]} << 8 | value[5 + 2 * i]; };
        for (std::size_t i = 0; i + 1 < mrcfab::kUsidsOfAddress && usid(i + 1); i++)
            counts[{static_cast<unsigned>(ev[MRC_A_EV_PORT].num()), usid(i), usid(i + 1)}] += t;
    }
}

mrcnl::error NetlinkProbes::open()
{
    mrcnl::error e;

    if (!open_)
        e = nl_.open(MRC_GENL_NAME);
    open_ = !e;
    return e;
}

// A reloaded module has another family number, and the old one is nobody's (ENOENT): then it is asked for anew.
mrcnl::error NetlinkProbes::dump(mrcnl::request &rq, const mrcnl::handler &on_reply)
{
    const bool kept = open_;
    auto e = open();

    if (!e)
        e = nl_.dump(rq, on_reply);
    open_ = !e;
    return e.code == ENOENT && kept ? dump(rq, on_reply) : e;
}

mrcnl::error NetlinkProbes::set(const std::string &dev, const std::vector<ProbeTest> &tests, const ProbeTimes &times)
{
    auto rq = probe_set(dev, tests, times);

    open_ = false;
    auto e = open();
    if (!e)
        e = nl_.call(rq);
    open_ = !e;
    return e;
}

mrcnl::error NetlinkProbes::get(const std::string &dev, ProbeState &state)
{
    mrcnl::request rq(MRC_CMD_PROBE_GET);
    const double now = seconds_of(CLOCK_BOOTTIME), ahead = seconds_of(CLOCK_REALTIME) - now;

    rq.str(MRC_A_DEV_NAME, dev);
    auto e = dump(rq, [&](const mrcnl::message &m) { parse_probe(mrcnl::table(m.attrs), ahead, state); });
    if (!e)
        e = count_bad_sid(dev, now);
    state.bad_sid = bad_sid_;
    return e;
}

mrcnl::error NetlinkProbes::count_bad_sid(const std::string &dev, double now)
{
    mrcnl::request rq(MRC_CMD_STATS_GET);

    if (now - looked_ < kLookEach)
        return {};
    looked_ = now;
    rq.str(MRC_A_DEV_NAME, dev);
    return dump(rq, [&](const mrcnl::message &m) {
        for (const auto &a : mrcnl::table(m.attrs)[MRC_A_STATS].nested())
            if (const mrcnl::table counter(a); a.type() == MRC_A_STAT && counter[MRC_A_STAT_NAME].str() == "rx_bad_sid")
                bad_sid_ = counter[MRC_A_STAT_VALUE].num();
    });
}

std::optional<std::uint8_t> NetlinkProbes::data_dscp(const std::string &dev)
{
    mrcnl::request rq(MRC_CMD_DEV_GET);
    std::optional<std::uint8_t> dscp;

    (void)dump(rq, [&](const mrcnl::message &m) {
        const mrcnl::table t(m.attrs), d(t[MRC_A_DEV]);
        if (t[MRC_A_DEV_NAME].str() == dev && d[MRC_A_DEV_DSCP_DATA])
            dscp = static_cast<std::uint8_t>(d[MRC_A_DEV_DSCP_DATA].num());
    });
    return dscp;
}

mrcnl::error NetlinkProbes::traffic(const std::string &dev, LinkTraffic &counts)
{
    mrcnl::request rq(MRC_CMD_EV_GET);

    rq.str(MRC_A_DEV_NAME, dev);
    return dump(rq, [&](const mrcnl::message &m) { parse_evs(m.attrs, counts); });
}

}   // namespace mrcd
