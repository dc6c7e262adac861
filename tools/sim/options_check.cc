// SPDX-License-Identifier: GPL-2.0
// options_check.cc - options from the command line: NAME=VALUE, and their validation.
#include "options.h"

#include "economy.h"

#include <cerrno>

namespace sim {

namespace {

struct limit {
    const char *name;
    u64 lo, hi;
};

constexpr u64 second = 1000000000;

// Where the ending of the name does not say it.
const limit limits[] = {
    {"hosts", 2, 64},
    {"per_t0", 1, 64},
    {"t1s", 1, 64},
    {"planes", 1, MRC_PLANES_MAX},
    {"evs", 1, MRC_EVS_MAX},
    {"qps", 1, 64},
    {"mtu", 256, 4096},
    {"rate_mbps", 1, 1000000},
    {"mpr", 1, MRC_MPR_MAX},
    {"mpr_b", 1, MRC_MPR_MAX},
    {"tails", 0, 255},
    {"epoch_ns", 0, 1ull << 50},
    {"clock_off_ns", 0, 1ull << 50},
    {"pause_ns", 1, 10 * second},
    {"fault_ns", 1, 60 * second},
    {"odd_planes", 0, ~0u},
    {"odd_loss_dir", 0, 2},
    {"coalesce_host", 0, 2},
    {"tcp_flows", 0, 64},
    {"strangers", 0, 2},
    {"peer_bitmap", 0, 2},
    {"peer_ack_every", 1, 1000},
    {"peer_window", 1, MRC_WINDOW_MAX},
    {"peer_messages", 1, 1000000},
    {"peer_late_pkts", 1, 100000},
    {"peer_timeout_ns", 1000, second},
    {"peer_lies", 0, 127},
    {"loss_dir", 0, 2},
    {"loss_ctrl", 0, 2},
    {"dead_notify", 0, 2},
    {"drift_ppm", 0, 1000},
    {"batch", 0, 100000},
    {"pauses", 0, 100000},
    {"linear_cnt", 0, 255},
    {"exp_cnt", 0, MRC_EXP_FOREVER},
    {"rnr_retry", 0, MRC_RNR_FOREVER},
    {"min_rnr_timer", 0, 31},
    {"psn_a", 0, MRC_PSN_MASK},
    {"psn_b", 0, MRC_PSN_MASK},
    {"burst", 1, MRC_BURST_MAX},
    {"msgs", 1, 10000000},
    {"bytes", 0, 1ull << 40},
    {"len_max", 1, 1u << 30},
    {"ops", 1, (1 << (MRC_OP_FETCH_ADD + 1)) - 1},
    {"post_burst", 1, 1000000},
    {"fatal", 0, 6},
    {"economy", 0, ECONOMY_ALL},
};

// 0 or 1.
const char *const switches[] = {"ecn_last", "trim", "odd_vary", "odd_trim", "fifo", "nscc",
                                "incast", "sleek", "timestamps", "svc_time", "trim_nack",
                                "dyn_mpr", "strict", "small", "oor_nack", "mrc_only", "one_way", "fan_in",
                                "dead_all", "flap_notify", "peer_echo", "peer_counts", "peer_answers", "peer_stamps",
                                "peer_probes", "peer_halves"};

bool ends(const std::string &name, const std::string &tail)
{
    return name.size() > tail.size() && name.compare(name.size() - tail.size(), tail.size(), tail) == 0;
}

limit limit_of(const char *name)
{
    for (const limit &l : limits)
        if (std::string(l.name) == name)
            return l;
    for (const char *s : switches)
        if (std::string(s) == name)
            return {name, 0, 1};
    if (ends(name, "_ppm"))
        return {name, 0, 1000000};
    if (ends(name, "_pct"))
        return {name, 1, 100};
    if (ends(name, "_ns"))
        return {name, 0, 60 * second};
    return {name, 0, ~0u};
}

std::string out_of_range(const char *name, u64 value)
{
    limit l = limit_of(name);

    if (value >= l.lo && value <= l.hi)
        return "";
    return std::string(name) + " is " + std::to_string(value) + ", must be " +
           std::to_string(l.lo) + " to " + std::to_string(l.hi);
}

// What strtoull() would make something of all the same: signs, blanks, too much.
bool number(const char *text, u64 &value)
{
    char *end = nullptr;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    value = std::strtoull(text, &end, 0);
    return !*end && !errno;
}

} // namespace

std::string options::set(const std::string &a)
{
    size_t eq = a.find('=');
    std::string name = a.substr(0, eq);
    u64 value = 0;

    if (eq == std::string::npos)
        return "NAME=VALUE wanted, not \"" + a + "\"";
    bool good = number(a.c_str() + eq + 1, value);
#define X(field, help)                                                                  \
    if (name == #field) {                                                               \
        field = value;                                                                  \
        return good ? "" : "not a number: " + a;                                        \
    }
    SIM_OPTIONS(X)
#undef X
    return "no such option: " + name + " (see --list-options)";
}

std::string options::check() const
{
    std::string bad;

#define X(field, help)                                                                  \
    if (bad.empty())                                                                    \
        bad = out_of_range(#field, field);
    SIM_OPTIONS(X)
#undef X
    if (!bad.empty())
        return bad;
    if (planes * evs > MRC_EVS_MAX)
        return "planes * evs must not be more than " + std::to_string(MRC_EVS_MAX);
    if (planes * (2 * hosts + 2 * hosts * t1s) > 0xffff)
        return "too many ports: planes * hosts * t1s";
    if (ev_active > planes * evs)
        return "ev_active must not be more than planes * evs";
    if (min_active > planes * evs)
        return "min_active must not be more than planes * evs";
    if (odd_planes >> planes)
        return "odd_planes names a plane that there is not";
    if (strangers && (!mrc_only || stalls || fatal))
        return "strangers speak MRC 1.0 only: mrc_only=1 ops=3 stalls=0 fatal=0";
    if (ring_pkts && !batch)
        return "ring_pkts needs batch: rings are emptied by batches";
    return "";
}

} // namespace sim
