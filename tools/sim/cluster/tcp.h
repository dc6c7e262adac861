// SPDX-License-Identifier: GPL-2.0
// tcp.h - [[tcp]]: a flow as TCP's between two hosts, by one path of one plane.
//
// Its packets wait in the same queues as MRC's data and are dropped, never trimmed. Its two
// ends have connection numbers behind those of the engine's ends. The sender belongs to the
// thread of its host's rack, the sink to the other.
#pragma once

#include "../tcp_like.h"
#include "workload.h"

namespace sim {

struct tcp_flow {
    u32 src = 0, dst = 0;
    u32 conn = 0; // end at src
    u8 plane = 0;
    u32 ev = 0;
    u64 start = 0, until = never; // ps
    u64 wake = never;             // when the sender looks again
    tcp_like tx;
    alignas(64) tcp_sink rx;
};

enum tcp_opcode : u8 { TCP_DATA = 0, TCP_ACK = 1 }; // MRC's begin at 0xc0

std::vector<tcp_flow> make_tcp_flows(const scenario &s, const workload &work);

} // namespace sim
