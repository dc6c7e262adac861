// SPDX-License-Identifier: GPL-2.0
// packet.h - a packet in transit: the engine's fields in 48 bytes.
//
// Headers are not encoded: struct mrc_pkt is the same at both ends. mrcsim's two-host mode and the
// unit tests cover the encoding. Constant fields (pkey, rkey, context ids) are filled in on
// arrival.
#pragma once

#include "units.h"

namespace sim {

enum packet_flag : u8 {
    PKT_RTX = 1,
    PKT_ACKREQ = 2,
    PKT_ECN = 4,
    PKT_TRIMMED = 8,
    PKT_LASTHOP = 16, // with PKT_TRIMMED: trimmed on the way to the host
    PKT_NO_TRIM = 32,
    PKT_TS = 64,
    PKT_CONTROL = 128, // strict priority class
};

struct packet {
    u64 t;      // ps: when its last bit is at the next node
    u32 conn;   // the end it goes to
    u32 psn_op; // PSN << 8 | opcode
    u32 ev;
    u16 len; // payload; SACK: packed m, pr, mpr, cc_fl
    u8 flags;
    u8 plane;
    union {
        struct {
            u32 va, dmalen, key; // key: rkey, and the immediate where there is one
            u16 rqmsn, msn, tx_ts;
            u8 tsr;
        } data;
        struct {
            u64 bitmap;
            u32 ev, rcvd_pen;
            s16 sack_offset, ack_or_probe;
            u16 tx_ts, ooo;
        } sack;
        struct {
            u32 ev;
            u16 tx_ts;
            u8 reason, vendor, cc_fl;
        } nack;
        struct {
            u32 msn;
            u8 syndrome;
        } ack;
        struct {
            u16 id, tx_ts;
            u8 vendor, tsr;
        } probe;
        struct {
            u32 mask;
            u16 tx_ts;
            u8 op, vendor, tsr;
        } ep;
    };

    u8 opcode() const { return static_cast<u8>(psn_op); }
    // As mrc_opc_is_data(), of opcodes that the engine sends.
    bool is_data() const { return opcode() < MRC_OPC_EP_REQ && opcode() != MRC_OPC_ACK; }
    u32 psn() const { return psn_op >> 8; }
};
static_assert(sizeof(packet) == 48);

// Which of two packets at one node comes first. Two with the same conn, PSN, opcode
// and EV came over the same link, one after the other, so times differ.
inline bool earlier(const packet &a, const packet &b)
{
    if (a.t != b.t)
        return a.t < b.t;
    if (a.conn != b.conn)
        return a.conn < b.conn;
    if (a.psn_op != b.psn_op)
        return a.psn_op < b.psn_op;
    return a.ev < b.ev;
}

inline void fold_packet(u64 &hash, const packet &p)
{
    fold(hash, p.t ^ static_cast<u64>(p.conn) << 40);
    fold(hash, static_cast<u64>(p.psn_op) << 32 ^ p.ev ^ static_cast<u64>(p.flags) << 24);
}

void pack(const mrc_txop &op, packet &p);
void unpack(const packet &p, mrc_pkt &out);

} // namespace sim
