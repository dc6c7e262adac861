// SPDX-License-Identifier: GPL-2.0
// stream.h - the reference model of one direction of one QP: the sender's messages, the receiver's
// memory, and the progress of each message.
//
// The two ends of the engine know only what they received. A stream sees both, and checks every
// step that a program could notice: bytes land inside their message and once; the last bytes of a
// WRITE become visible last; completions are true, in order, and occur once.
#pragma once

#include "memory.h"
#include "options.h"
#include "trace.h"

#include <vector>

namespace sim {

constexpr u32 none32 = ~0u;

struct message {
    mrc_wr wr = {};
    u64 key = 0;             // pattern of what we send
    u32 rq = none32;         // receive it consumes
    u32 recv_size = 0;       // buffer posted for it
    u64 read_key = 0;        // READ: pattern to be seen ...
    u64 read_off = 0;        // ... from here
    u64 want_orig = 0;       // ATOMIC
    u32 exec_no = none32;    // READ, ATOMIC: n-th request
    u32 rewritten = none32;  // WRITE: the later one that aims at the same place
    mrc_status want = MRC_ST_OK;

    // progress at the responder
    std::vector<bool> got;   // packets committed
    u32 got_bytes = 0;
    u32 got_pkts = 0;
    bool visible = false;    // WRITE: last bytes placed
    // progress at the requester
    std::vector<u8> result;  // READ
    std::vector<bool> resp;  // packets of the response
    u64 orig = 0;
    u32 resp_pkts = 0;
    bool completed = false;

    bool is_write() const { return wr.op == MRC_OP_WRITE || wr.op == MRC_OP_WRITE_IMM; }
    bool is_send() const { return wr.op >= MRC_OP_SEND && wr.op <= MRC_OP_SEND_INV; }
    bool is_atomic() const { return wr.op == MRC_OP_CMP_SWAP || wr.op == MRC_OP_FETCH_ADD; }
    bool is_exec() const { return wr.op == MRC_OP_READ || is_atomic(); }
    u32 npkts(u32 mtu) const { return wr.len ? (wr.len + mtu - 1) / mtu : 1; }
    bool landed(u32 mtu) const { return got_pkts == npkts(mtu); }
};

struct stream {
    u32 mtu = 0;
    bool all_solicited = false; // mrc.h: no packet can say that it is not
    bool any_order = false;     // mrc.h: nor do last bytes become visible last
    std::vector<message> msg;   // in posting order; index = cookie
    std::vector<u32> recv_msg;  // receive -> message
    std::vector<u32> exec_msg;  // n-th READ or ATOMIC -> message
    std::vector<u32> by_va;     // WRITEs in order of their targets
    region mem;                 // of the responder
    u64 atomics_va = 0;
    u32 bad = none32;           // the message that must fail

    u32 posted = 0;             // given to the requester's engine
    u32 send_done = 0;          // send completions
    u32 recv_done = 0;          // receive completions
    u32 execs = 0;              // requests executed
    u32 low = 0;                // messages before this one have landed
    bool send_failed = false;
    std::vector<std::vector<u8>> recv_buf;

    // At the responder. Each throws failure.
    u32 find_write(u64 va, u32 len) const;
    void check_packet(u32 m, u32 off, u32 len) const;
    void check_strict(u32 m);
    void commit(u32 m, u32 off, u32 len);
    void make_visible(u32 m);
    u32 exec(const mrc_exec &x);
    void recv_complete(const mrc_cpl &c);
    // At the requester.
    void resp_commit(u32 m, u32 off, u32 len, u64 orig);
    void send_complete(const mrc_cpl &c, bool may_fail);
    // At the end.
    void check_guards() const;

private:
    void check_landed(const message &m, const char *when) const;
    void advance_low();
};

} // namespace sim
