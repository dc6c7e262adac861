// SPDX-License-Identifier: GPL-2.0
// habits.h - choices that MRC 1.0 leaves to an implementation, and lies that it forbids.
//
// The specification fixes the meaning of packets. Each implementation chooses when it sends a SACK,
// where its bitmap begins, and what a sender concludes from it. Lies are violations: they show that
// such a peer slows only itself.
#pragma once

#include "../engine.h"

#include <vector>

namespace sim {

enum foreign_bitmap : u8 {
    BITMAP_CACK,  // always begins behind cack
    BITMAP_NEAR,  // ends with the packet that triggered the SACK
    BITMAP_NONE,  // says nothing
    BITMAP_KINDS,
};

// Bits of foreign_habits::lies.
enum foreign_lie : u32 {
    LIE_STAMPS = 1,       // echoes any stamp, of the future as well
    LIE_SHRINK = 2,       // bitmaps forget what earlier ones showed
    LIE_BACK = 4,         // cack runs back
    LIE_NACK_UNSENT = 8,  // NACKs packets that were never sent, or have arrived
    LIE_NO_BUFFER = 16,   // NO_PKT_BUFFER for most packets
    LIE_BYTES = 32,       // counts any number of bytes
    LIE_PSN = 64,         // sends beyond the window, and the same again and again
    LIE_ALL = 127,
};

struct foreign_habits {
    // receiver
    u32 sack_pkts = 4;      // a SACK every so many packets; 0: where one is asked for only
    u8 bitmap = BITMAP_CACK;
    bool echo = true;       // reflects stamps
    bool counts = true;     // tells bytes received
    bool answers = true;    // answers probes
    bool trim_nacks = true; // answers trimmed packets
    u32 ack_every = 1;      // ACKs every so many messages; the last one after ack_ns
    u64 ack_ns = 20000;
    u32 refuse_ppm = 0;     // has no buffer for so many packets
    // sender
    u32 window = 512;       // packets in flight
    u32 messages = 64;      // messages in flight
    u32 ask_every = 0;      // sets A on every so many packets; 0: on the last of a message
    bool stamps = true;
    bool probes = false;    // asks by a probe when nothing comes, else sends again
    bool halves = true;     // halves its window for a loss or a mark
    u32 late_pkts = 3;      // lost: so many that left later by the same plane have arrived
    u64 timeout_ns = 500000;

    u32 lies = 0;
};

// A way to the peer: what its packets carry, and the port they leave by.
struct foreign_path {
    u32 ev;
    u8 plane;
};

} // namespace sim
