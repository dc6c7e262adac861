// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// log_words.h - kinds and causes of the module's log: name, meaning, reason, remedy.
//
// One table for mrcctl explain, mrcctl log and mrcd.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

#include <linux/mrc.h>

namespace words {

struct log_word {
    std::string_view name, meaning;
    std::string_view why;    // "": nothing to say
    std::string_view action; // "": none is needed
};

// In the order of enum mrc_log_kind.
inline constexpr log_word log_kinds[] = {
    {"plane-down", "a plane of this host went down, or is now down for another cause", "see the cause", "mrcctl plane show"},
    {"plane-up", "a plane of this host came up; the cause is why it was down", "", ""},
    {"port-down", "the port of a peer on this plane went down", "the peer announced it", "mrcctl plane show there"},
    {"port-up", "the port of a peer on this plane came up", "", ""},
    {"ev-bad", "no data leaves by these paths; they are probed until they answer", "see the cause",
     "mrcctl probe ADDRESS draws which paths are silent"},
    {"ev-good", "these paths are used again", "", ""},
    {"ev-denied", "no packet leaves by these paths", "a controller or an administrator denied them", "mrcctl ev set ... state good"},
    {"hint", "settings seem to differ between this host and the peer; the cause is the hint", "", "mrcctl explain CAUSE"},
    {"probes-paused", "self-probes stopped", "see the cause", ""},
    {"probes-resumed", "self-probes resumed; the cause is why they had stopped", "", ""},
};
static_assert(std::size(log_kinds) == MRC_LOG_PROBES_RESUMED + 1);

// In the order of enum mrc_log_cause. Hints have their own entries: they have no meaning here.
inline constexpr log_word log_causes[] = {
    {"none", "nothing keeps the plane down", "", ""},
    {"new", "the port has just become a plane", "", ""},
    {"dev-down", "the device is down", "", "ip link set DEV up"},
    {"admin", "the plane is disabled", "mrcctl plane set ... admin off, or a controller", "mrcctl plane set ... admin on"},
    {"port-down", "the plane's port is set down", "ip link set PORT down", "ip link set PORT up"},
    {"no-carrier", "the port has no link", "no cable, a broken optic, or the other end is off", "ip link show PORT; ethtool PORT"},
    {"held", "the link went down and up too often, so the plane is not used yet", "a cable or an optic that is about to fail", "replace it; the plane is used again by itself"},
    {"small", "full packets of connections are longer than the port's MTU", "the MTU of this port is smaller than that of others",
     "ip link set PORT mtu 9000"},
    {"gone", "the port left the device", "its netdev was deleted, moved or taken out", "ip link set PORT master DEV"},
    {"notice", "the peer announced it", "", ""},
    {"lost", "packets or probes by the path were lost", "a link or a switch drops them", "mrcctl probe ADDRESS"},
    {"peer", "the peer asked not to use the path", "", "mrcctl log, there"},
    {"company", "many paths of the plane are bad: this one is not used either, and is probed", "", "mrcctl probe ADDRESS"},
    {"controller", "a controller or an administrator set it", "mrcctl ev set, mrcd, or a program of mrc_ctl.h", ""},
    {"answered", "probes by the path were answered", "", ""},
    {"late", "packets that counted as lost arrived late", "the path's delay jumps", "mrcctl latency seconds 10"},
    {"forgiven", "the path was not at fault", "its plane was, or the peer paused", ""},
    {"plane-back", "the plane of the path came back", "", ""},
    {"floor", "too few usable paths were left, so bad ones are used again", "many paths are bad at once", "mrcctl probe ADDRESS"},
    {"icrc", "", "", ""},
    {"udp-port", "", "", ""},
    {"hop-limit", "", "", ""},
    {"no-answer", "", "", ""},
    {"plain", "", "", ""},
    {"nobody", "", "", ""},
    {"policy", "", "", ""},
    {"starved", "the timer of the self-probes ran late: the host is too busy to judge paths",
     "too much work in softirq, a host that paused, or a virtual CPU that is not scheduled", "mrcctl selfprobe show"},
    {"expired", "nobody renewed the self-probes", "mrcd ended or hangs", "systemctl status mrcd"},
    {"avoided", "a link that the EV crosses is avoided, or no longer", "mrcd or a person set it", "mrcctl avoid show"},
};
static_assert(std::size(log_causes) == MRC_WHY_AVOIDED + 1);

// "unknown": of a newer module.
inline std::string_view log_kind_name(uint64_t kind)
{
    return kind < std::size(log_kinds) ? log_kinds[kind].name : "unknown";
}

inline std::string_view log_cause_name(uint64_t cause)
{
    return cause < std::size(log_causes) ? log_causes[cause].name : "unknown";
}

} // namespace words
