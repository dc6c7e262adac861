// SPDX-License-Identifier: GPL-2.0
// workload.h - what the programs on both hosts ask for, drawn from the seed.
//
// A stream's messages are drawn beforehand, with all that is known about them:
// targets of WRITEs do not overlap (with guard bytes between), except for a
// fenced WRITE over what a READ before it looks at; READs see a constant area
// or an earlier WRITE; ATOMICs count in words of their QP, so that every
// original value is known.
//
// option fatal: one message that must fail:
//	1 WRITE with a wrong R_Key	2 READ with a wrong R_Key
//	3 SEND longer than the receive	4 request found bad by the caller
//	5 ATOMIC outside the region
#pragma once

#include "stream.h"

namespace sim {

enum fatal_kind : u64 {
    FATAL_NONE,
    FATAL_WRITE,
    FATAL_READ,
    FATAL_SEND_LONG,
    FATAL_LOCAL,
    FATAL_ATOMIC,
    FATAL_CALLER,
};

// Messages from one host; @with_fatal: the bad one is here.
stream draw_stream(const options &o, u64 seed, u32 index, bool with_fatal);

} // namespace sim
