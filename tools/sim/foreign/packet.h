// SPDX-License-Identifier: GPL-2.0
// packet.h - a packet of a foreign peer. Written from MRC 1.0 sections 1.2 to 1.11, not from the
// engine's headers.
#pragma once

#include "../engine.h"

namespace sim {

namespace foreign {

// Table of opcodes (1.2): 110 in the upper bits.
enum opcode : u8 {
    FIRST = 0xc6, MIDDLE = 0xc7, LAST = 0xc8, LAST_IMM = 0xc9, ONLY = 0xca, ONLY_IMM = 0xcb,
    ACK = 0xd1, SACK = 0xdc, NACK = 0xdd, PROBE = 0xde,
};

// Table 7-3.
enum reason : u8 {
    TRIMMED = 1, TRIMMED_LASTHOP = 2, NO_BITMAP = 6, NO_PKT_BUFFER = 7, NO_RESOURCE = 0xa,
    PSN_OOR_WINDOW = 0xb, UNEXP_EVENT = 0x19,
};

constexpr u32 psn_mask = 0xffffff;

inline u32 psn_add(u32 a, s64 n) { return static_cast<u32>(a + n) & psn_mask; }

// From b to a, as a number of 24 bits with its sign.
inline s32 psn_off(u32 a, u32 b)
{
    u32 d = (a - b) & psn_mask;

    return d & 0x800000 ? static_cast<s32>(d) - 0x1000000 : static_cast<s32>(d);
}

inline bool is_data(u8 op) { return op >= FIRST && op <= ONLY_IMM; }
inline bool has_imm(u8 op) { return op == LAST_IMM || op == ONLY_IMM; }
inline bool is_last(u8 op) { return is_data(op) && op != FIRST && op != MIDDLE; }

} // namespace foreign

struct foreign_packet {
    u8 opcode = 0;
    u32 psn = 0;
    u32 dest_qp = 0;
    // data
    bool rtx = false, ask = false, stamped = false;
    u16 stamp = 0;          // data, probe: of the sender; SACK, NACK: reflected
    u16 rqmsn = 0, msn = 0;
    u64 va = 0;
    u32 rkey = 0, dmalen = 0, imm = 0;
    u32 len = 0;            // of the payload
    // SACK (psn is cack), NACK
    u8 mark = 0;
    bool answer = false;
    u16 probe_id = 0;
    s16 trigger = 0, base = 0; // relative to cack
    u32 echo_ev = 0;
    u64 bitmap = 0;
    u16 ooo = 0;
    u32 bytes = 0;          // of 256
    u8 reason = 0;
    // ACK
    u8 syndrome = 0;
    u32 ack_msn = 0;
    // the way
    u32 ev = 0;
    u8 plane = 0;
    bool ce = false;
    u8 trimmed = 0;         // a reason, or 0
    u32 udp_len = 0;
};

} // namespace sim
