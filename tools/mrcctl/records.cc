// SPDX-License-Identifier: GPL-2.0
// records.cc - see records.h.
#include "records.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <linux/mrc.h>

#include "../lib/health/hints.h"
#include "../lib/words/log_words.h"
#include "since.h"
#include "values.h"

namespace mrcctl {

namespace {

using mrcnl::attr;
using mrcnl::table;

void add_ids(record &r, const table &t)
{
    r.add("dev", std::string(dev_name(t)));
    r.detail("ifindex", t[MRC_A_DEV_IFINDEX].num());
    if (t[MRC_A_IBDEV_NAME])
        r.detail("ibdev", std::string(t[MRC_A_IBDEV_NAME].str()));
}

// Adds only attributes that the message has: events have fewer than gets.
void add_num(record &r, const table &t, uint16_t type, const char *name, bool detail = false)
{
    if (!t[type])
        return;
    if (detail)
        r.detail(name, t[type].num());
    else
        r.add(name, t[type].num());
}

void add_bool(record &r, const table &t, uint16_t type, const char *name)
{
    if (t[type])
        r.add(name, t[type].num() != 0);
}

// Of the three states of mrc_ctl.h, a profile of the kernel has only ONLINE: OFFLINE profiles exist
// only in their controller, and INIT means none. So it is for programs, which compare it; in text
// each line would have the same word.
void add_profile_state(record &r)
{
    r.add("state", "online").as_text("state", "");
}

counter_list counters(const attr &nest)
{
    counter_list all;
    all.reserve(64);
    for (attr a : nest.nested()) {
        if (a.type() != MRC_A_STAT)
            continue;
        std::string_view name;
        uint64_t value = 0;
        for (attr x : a.nested())
            if (x.type() == MRC_A_STAT_NAME)
                name = x.str();
            else if (x.type() == MRC_A_STAT_VALUE)
                value = x.num();
        all.emplace_back(name, value);
    }
    return all;
}

// The program of a process id; caches the last one, because the QPs of a program usually follow
// each other.
std::string comm_of(uint64_t pid)
{
    static uint64_t latest;
    static std::string name;
    if (pid == latest)
        return name;
    name.clear();
    std::ifstream f(fmt::format("/proc/{}/comm", pid));
    std::getline(f, name);
    latest = pid;
    return name;
}

void fill_dev(record &r, const table &d)
{
    if (d[MRC_A_DEV_STATE])
        r.add("state", d[MRC_A_DEV_STATE].num() ? "registered" : "unregistered");
    add_num(r, d, MRC_A_DEV_PLANES, "planes");
    add_num(r, d, MRC_A_DEV_QPS, "qps");
    add_num(r, d, MRC_A_DEV_PROFILE_ID, "profile");
    add_num(r, d, MRC_A_DEV_UDP_PORT, "udp_port");
    add_bool(r, d, MRC_A_DEV_ICRC, "icrc");
    add_num(r, d, MRC_A_DEV_CWND, "cwnd");
    add_num(r, d, MRC_A_DEV_MPR, "mpr");
    add_num(r, d, MRC_A_DEV_HOP_LIMIT, "hop_limit");
    add_num(r, d, MRC_A_DEV_DSCP_DATA, "dscp_data");
    add_num(r, d, MRC_A_DEV_DSCP_RTX, "dscp_rtx");
    add_num(r, d, MRC_A_DEV_DSCP_CONTROL, "dscp_control");
    add_num(r, d, MRC_A_DEV_DSCP_NO_TRIM, "dscp_no_trim");
    add_num(r, d, MRC_A_DEV_DSCP_TRIMMED, "dscp_trimmed");
    add_num(r, d, MRC_A_DEV_DSCP_TRIMMED_LASTHOP, "dscp_trimmed_lasthop");
    add_num(r, d, MRC_A_DEV_CC_PROFILE_ID, "cc_profile");
    add_num(r, d, MRC_A_DEV_ACTIVE_EVS, "active_evs");
    add_bool(r, d, MRC_A_DEV_TRIM_NACK, "trim_nack");
    add_bool(r, d, MRC_A_DEV_TIMESTAMPS, "timestamps");
    add_bool(r, d, MRC_A_DEV_DYN_MPR, "dyn_mpr");
    add_bool(r, d, MRC_A_DEV_STRICT, "strict");
    add_bool(r, d, MRC_A_DEV_SLEEK, "sleek");
    add_bool(r, d, MRC_A_DEV_INCAST, "incast");
    add_bool(r, d, MRC_A_DEV_OOR_NACK, "oor_nack");
    add_num(r, d, MRC_A_DEV_EXP_CNT, "exp_cnt");
    add_num(r, d, MRC_A_DEV_BURST, "burst");
    add_bool(r, d, MRC_A_DEV_EV_PORT_LOW, "ev_port_low");
    add_bool(r, d, MRC_A_DEV_MRC_PAD, "mrc_pad");
    add_bool(r, d, MRC_A_DEV_EP_OP_HIGH, "ep_op_high");
    add_bool(r, d, MRC_A_DEV_PORT_BIT_1, "port_bit_1");
    add_num(r, d, MRC_A_DEV_DAMP, "damp");
    add_num(r, d, MRC_A_DEV_HELD_PKTS, "held_pkts", true);
    add_num(r, d, MRC_A_DEV_QP_BYTES, "qp_bytes", true);
    if (d[MRC_A_DEV_ICRC_BY])
        r.detail("icrc_by", std::string(d[MRC_A_DEV_ICRC_BY].str()));
}

void fill_plane(record &r, const table &p)
{
    add_num(r, p, MRC_A_PLANE_NUMBER, "plane");
    if (p[MRC_A_PLANE_IFNAME])
        r.add("ifname", std::string(p[MRC_A_PLANE_IFNAME].str()));
    add_num(r, p, MRC_A_PLANE_IFINDEX, "plane_ifindex", true);
    add_bool(r, p, MRC_A_PLANE_ADMIN, "admin");
    add_bool(r, p, MRC_A_PLANE_CARRIER, "carrier");
    add_bool(r, p, MRC_A_PLANE_UP, "up");
    add_bool(r, p, MRC_A_PLANE_HELD, "held");
    add_bool(r, p, MRC_A_PLANE_SMALL, "small");
    add_num(r, p, MRC_A_PLANE_MTU, "mtu");
    if (p[MRC_A_PLANE_SID])
        r.add("sid", format_address(p[MRC_A_PLANE_SID].bytes()));
    add_num(r, p, MRC_A_PLANE_SPEED, "speed_mbps");
    add_num(r, p, MRC_A_PLANE_TX_PKTS, "tx_pkts");
    add_num(r, p, MRC_A_PLANE_TX_BYTES, "tx_bytes");
    add_num(r, p, MRC_A_PLANE_RX_PKTS, "rx_pkts");
    add_num(r, p, MRC_A_PLANE_RX_BYTES, "rx_bytes");
}

// Plane numbers of a mask; null: the peer never announced them.
json port_list(uint64_t mask)
{
    if (mask == UINT32_MAX)
        return nullptr;
    json j = json::array();
    for (unsigned i = 0; i < 32; i++)
        if (mask >> i & 1)
            j.push_back(i + 1);
    return j;
}

void add_hints(record &r, uint64_t mask)
{
    json list = health::hint_names(mask);
    if (list.empty())
        r.as_text("hints", "");
    r.add("hints", std::move(list));
}

void add_peer(record &r, const attr &address, const peer_names &names)
{
    r.add("peer", format_address(address.bytes()));
    if (!names.host.empty())
        r.add("host", names.host);
}

void add_by(record &r, const peer_names &names)
{
    if (!names.by.empty())
        r.add("by", names.by).as_text("by", fmt::format("by {}", fmt::join(names.by, ",")));
}

void fill_peer(record &r, const table &p, const peer_names &names = {})
{
    add_peer(r, p[MRC_A_PEER_GID], names);
    add_num(r, p, MRC_A_PEER_PROFILE_ID, "profile");
    if (p[MRC_A_PEER_PORTS_UP]) {
        json ports = port_list(p[MRC_A_PEER_PORTS_UP].num());
        r.add("ports_up", ports);
        if (ports.is_null())
            r.as_text("ports_up", "ports-up unknown");
    }
    add_num(r, p, MRC_A_PEER_EVS, "evs");
    add_num(r, p, MRC_A_PEER_EVS_USABLE, "usable");
    add_num(r, p, MRC_A_PEER_EVS_GOOD, "good");
    add_num(r, p, MRC_A_PEER_EVS_SKIP, "skip");
    add_num(r, p, MRC_A_PEER_EVS_BAD, "assumed_bad");
    add_num(r, p, MRC_A_PEER_EVS_DENIED, "denied");
    add_num(r, p, MRC_A_PEER_QPS, "qps");
    add_num(r, p, MRC_A_PEER_PATHS, "paths", true);
    add_num(r, p, MRC_A_PEER_TURNED_BAD, "turned_bad", true);
    add_num(r, p, MRC_A_PEER_TURNED_GOOD, "turned_good", true);
    if (p[MRC_A_PEER_HINTS])
        add_hints(r, p[MRC_A_PEER_HINTS].num());
}

void add_fixed(record &r, const table &t, uint16_t type, const char *name, unsigned bits)
{
    if (!t[type])
        return;
    auto raw = static_cast<uint32_t>(t[type].num());
    std::string text = format_fixed(raw, bits);
    std::string shown = name;
    std::replace(shown.begin(), shown.end(), '_', '-');
    r.add(name, static_cast<double>(raw) / (1u << bits));
    r.as_text(name, fmt::format("{} {}", shown, text));
}

// A path set has no format. Four bytes are STEV (or generated by the kernel) if they are the
// entropy itself; format_ev() distinguishes the others.
uint32_t guess_fmt(const table &ev)
{
    auto v = ev[MRC_A_EV_VALUE].bytes();
    if (v.size() < 32 || std::any_of(v.begin() + 4, v.end(), [](uint8_t b) { return b != 0; }))
        return 0;
    uint32_t be = static_cast<uint32_t>(v[0]) << 24 | v[1] << 16 | v[2] << 8 | v[3];
    return be == ev[MRC_A_EV_ENTROPY].num() ? static_cast<uint32_t>(MRC_FMT_STEV) : 0;
}

const char *event_name(uint64_t type)
{
    switch (type) {
    case MRC_EVENT_DEV_ADD: return "dev-add";
    case MRC_EVENT_DEV_DEL: return "dev-del";
    case MRC_EVENT_PLANE: return "plane";
    case MRC_EVENT_PEER_PORTS: return "peer-ports";
    case MRC_EVENT_EV: return "ev";
    case MRC_EVENT_DEV_SET: return "dev-set";
    }
    return "unknown";
}

} // namespace

std::string_view dev_name(const table &t)
{
    return t[MRC_A_DEV_NAME].str();
}

record dev_record(const table &t)
{
    record r;
    r.add("dev", std::string(dev_name(t)));
    r.add("ifindex", t[MRC_A_DEV_IFINDEX].num());
    r.add("ibdev", t[MRC_A_IBDEV_NAME] ? json(std::string(t[MRC_A_IBDEV_NAME].str())) : json());
    fill_dev(r, table(t[MRC_A_DEV]));
    return r;
}

record plane_record(const table &t)
{
    record r;
    add_ids(r, t);
    fill_plane(r, table(t[MRC_A_PLANE]));
    return r;
}

record profile_record(const table &t)
{
    record r;
    table p(t[MRC_A_PROFILE]);
    add_ids(r, t);
    r.as_text("ifindex", "").as_text("ibdev", ""); // `profile set` needs only the name
    add_num(r, p, MRC_A_PROFILE_ID, "id");
    add_profile_state(r);
    if (p[MRC_A_PROFILE_DST])
        r.add("dst", format_prefix(p[MRC_A_PROFILE_DST].bytes(),
                                   p[MRC_A_PROFILE_DST_LEN] ? p[MRC_A_PROFILE_DST_LEN].num() : 128));
    r.add("fmt", fmt_name(static_cast<uint32_t>(p[MRC_A_PROFILE_FMT].num())));
    r.add("mode", mode_name(static_cast<uint32_t>(p[MRC_A_PROFILE_MODE].num())));
    add_num(r, p, MRC_A_PROFILE_MIN_ACTIVE, "min_active");
    add_num(r, p, MRC_A_PROFILE_COUNT, "count");
    if (p[MRC_A_PROFILE_FMT_WIDTHS]) {
        json widths = json::array();
        for (uint8_t w : p[MRC_A_PROFILE_FMT_WIDTHS].bytes())
            widths.push_back(w);
        r.add("widths", std::move(widths));
    }
    return r;
}

record cc_record(const table &t)
{
    record r;
    table c(t[MRC_A_CC]);
    add_ids(r, t);
    add_num(r, c, MRC_A_CC_ID, "id");
    add_profile_state(r);
    r.add("algorithm", std::string(c[MRC_A_CC_ALGORITHM].str()));
    add_num(r, c, MRC_A_CC_WINDOW, "window");
    add_num(r, c, MRC_A_CC_TARGET_DELAY, "target_delay");
    add_num(r, c, MRC_A_CC_BASE_RTT, "base_rtt");
    add_num(r, c, MRC_A_CC_MAX_CWND, "max_cwnd");
    add_num(r, c, MRC_A_CC_ADJUST_BYTES, "adjust_bytes");
    add_num(r, c, MRC_A_CC_ADJUST_PERIOD, "adjust_period");
    add_fixed(r, c, MRC_A_CC_ETA, "eta", 8);
    add_fixed(r, c, MRC_A_CC_FI, "fi", 8);
    add_fixed(r, c, MRC_A_CC_FI_SCALE, "fi_scale", 16);
    add_fixed(r, c, MRC_A_CC_GAMMA, "gamma", 16);
    add_fixed(r, c, MRC_A_CC_MAX_MD_JUMP, "max_md_jump", 16);
    if (c[MRC_A_CC_TRIMMING])
        r.add("trimming", c[MRC_A_CC_TRIMMING].num() != 0);
    if (c[MRC_A_CC_DISABLE_QA])
        r.add("quick_adapt", c[MRC_A_CC_DISABLE_QA].num() == 0);
    add_num(r, c, MRC_A_CC_QA_GATE, "qa_gate");
    add_num(r, c, MRC_A_CC_QA_THRESHOLD, "qa_threshold");
    return r;
}

void controllers::add(const attr &peer)
{
    for (attr a : peer.nested()) {
        if (a.type() != MRC_A_PEER_CC)
            continue;
        table c(a);
        list_.push_back({{"cc_profile", c[MRC_A_CC_ID].num()},
                         {"algorithm", std::string(c[MRC_A_CC_ALGORITHM].str())},
                         {"cwnd", c[MRC_A_CC_CWND].num()},
                         {"inflight", c[MRC_A_CC_INFLIGHT].num()},
                         {"qps", c[MRC_A_CC_QPS].num()}});
        text_ += fmt::format("{}cc-profile {} algorithm {} cwnd {} inflight {} cc-qps {}",
                             text_.empty() ? "" : " ", c[MRC_A_CC_ID].num(),
                             c[MRC_A_CC_ALGORITHM].str(), c[MRC_A_CC_CWND].num(),
                             c[MRC_A_CC_INFLIGHT].num(), c[MRC_A_CC_QPS].num());
    }
}

void controllers::into(record &r) &&
{
    r.add("cc", std::move(list_)).as_text("cc", std::move(text_));
}

record peer_record(const table &t)
{
    record r;
    add_ids(r, t);
    fill_peer(r, table(t[MRC_A_PEER]));
    return r;
}

record ev_record(const table &t, const attr &ev, const peer_names &names)
{
    record r;
    table p(t[MRC_A_PEER]), e(ev);
    add_ids(r, t);
    add_peer(r, p[MRC_A_PEER_GID], names);
    add_num(r, p, MRC_A_PEER_PROFILE_ID, "profile");
    if (p[MRC_A_PEER_NAMED])
        add_num(r, p, MRC_A_PEER_NAMED, "named");
    add_num(r, e, MRC_A_EV_INDEX, "index");
    add_num(r, e, MRC_A_EV_PORT, "port");
    r.add("state", ev_state_name(static_cast<uint32_t>(e[MRC_A_EV_STATE].num())));
    if (e[MRC_A_EV_AVOIDED])
        r.add("avoided", true);
    r.add("value", format_ev(guess_fmt(e), e[MRC_A_EV_VALUE].bytes()));
    add_by(r, names);
    add_num(r, e, MRC_A_EV_ENTROPY, "entropy");
    r.as_text("entropy", fmt::format("entropy {:#010x}", e[MRC_A_EV_ENTROPY].num()));
    add_num(r, e, MRC_A_EV_TX_PKTS, "tx_pkts");
    add_num(r, e, MRC_A_EV_LOST, "lost");
    return r;
}

counter_list counter_names::complete(counter_list told)
{
    counter_list all;
    all.reserve(names_.size());
    auto at = told.begin();
    for (auto &name : names_)
        all.emplace_back(name, at != told.end() && at->first == name ? (at++)->second : 0);
    if (at == told.end())
        return all;
    names_.assign(told.size(), {}); // of the first QP
    std::transform(told.begin(), told.end(), names_.begin(), [](auto &c) { return std::string(c.first); });
    return told;
}

record qp_record(const table &t, counter_names &names)
{
    record r;
    table q(t[MRC_A_QP]);
    add_ids(r, t);
    add_num(r, q, MRC_A_QP_NUM, "qpn");
    r.add("state", qp_state_name(static_cast<uint32_t>(q[MRC_A_QP_STATE].num())));
    r.add("peer", format_address(q[MRC_A_QP_GID].bytes()));
    add_num(r, q, MRC_A_QP_DEST_NUM, "peer_qpn");
    if (q[MRC_A_QP_PID]) { // absent: the program's PID namespace is not visible
        uint64_t pid = q[MRC_A_QP_PID].num();
        r.add("pid", pid);
        if (std::string comm = comm_of(pid); !comm.empty())
            r.add("comm", comm);
    }
    add_num(r, q, MRC_A_QP_PSN_NEXT, "psn_next");
    add_num(r, q, MRC_A_QP_PSN_UNA, "psn_una");
    add_num(r, q, MRC_A_QP_RX_CACK, "rx_cack");
    add_num(r, q, MRC_A_QP_INFLIGHT, "inflight");
    if (q[MRC_A_QP_ALGORITHM])
        r.add("algorithm", std::string(q[MRC_A_QP_ALGORITHM].str()));
    add_num(r, q, MRC_A_QP_CC_PROFILE_ID, "cc_profile");
    add_num(r, q, MRC_A_QP_EV_PROFILE_ID, "ev_profile", true);
    add_num(r, q, MRC_A_QP_CWND, "cwnd");
    add_num(r, q, MRC_A_QP_SRTT, "srtt_ns");
    add_num(r, q, MRC_A_QP_MIN_RTT, "min_rtt_ns");
    add_bool(r, q, MRC_A_QP_STRICT, "strict");
    add_num(r, q, MRC_A_QP_HELD_PKTS, "held_pkts", true);
    r.counters("stats", names.complete(counters(q[MRC_A_QP_STATS])));
    return r;
}

record stats_record(const table &t)
{
    record r;
    add_ids(r, t);
    r.counters("stats", counters(t[MRC_A_STATS]));
    return r;
}

std::vector<record> stats_lines(const table &t, bool zeros)
{
    std::vector<record> lines;
    for (auto &[shown, value] : counters(t[MRC_A_STATS])) {
        std::string name(shown);
        if (value == 0 && !zeros)
            continue;
        record r;
        r.add("dev", std::string(dev_name(t)));
        r.add(name, value);
        r.as_text(name, fmt::format("{} {}", name, value));
        lines.push_back(std::move(r));
    }
    return lines;
}

record event_record(const table &t, const peer_names &names)
{
    record r;
    auto now = std::chrono::system_clock::now();
    auto us = std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count();
    auto mono = std::chrono::steady_clock::now().time_since_epoch();
    std::string wall = fmt::format(
        "{:%Y-%m-%dT%H:%M:%S}.{:06}Z",
        fmt::gmtime(std::chrono::system_clock::to_time_t(now)), us % 1000000);

    r.add("time", wall);
    r.as_text("time", wall);
    r.detail("monotonic_ns", std::chrono::duration_cast<std::chrono::nanoseconds>(mono).count());
    r.add("event", event_name(t[MRC_A_EVENT_TYPE].num()));
    add_ids(r, t);
    if (t[MRC_A_DEV])
        fill_dev(r, table(t[MRC_A_DEV]));
    if (t[MRC_A_PLANE])
        fill_plane(r, table(t[MRC_A_PLANE]));
    if (t[MRC_A_PEER])
        fill_peer(r, table(t[MRC_A_PEER]), names);
    return r;
}

record log_record(const table &t, const peer_names &names)
{
    record r;
    table l(t[MRC_A_LOG]);
    uint64_t real = l[MRC_A_LOG_REAL].num(), count = l[MRC_A_LOG_COUNT].num();
    r.add("time", format_moment(real, false));
    r.as_text("time", format_moment(real, true));
    r.detail("boot_ns", l[MRC_A_LOG_BOOT].num());
    r.detail("id", l[MRC_A_LOG_ID].num());
    r.add("event", std::string(words::log_kind_name(l[MRC_A_LOG_KIND].num())));
    add_ids(r, t);
    add_num(r, l, MRC_A_LOG_PLANE, "plane");
    if (l[MRC_A_LOG_GID])
        add_peer(r, l[MRC_A_LOG_GID], names);
    add_num(r, l, MRC_A_LOG_EV, "ev");
    add_by(r, names);
    if (l[MRC_A_LOG_ENTROPY]) {
        r.detail("entropy", l[MRC_A_LOG_ENTROPY].num());
        r.as_text("entropy", fmt::format("entropy {:#010x}", l[MRC_A_LOG_ENTROPY].num()));
    }
    r.add("cause", std::string(words::log_cause_name(l[MRC_A_LOG_CAUSE].num())));
    r.add("count", count);
    if (count == 1)
        r.as_text("count", "");
    r.detail("last_ns", l[MRC_A_LOG_LAST].num());
    return r;
}

} // namespace mrcctl
