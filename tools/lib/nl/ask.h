// SPDX-License-Identifier: GPL-2.0
// ask.h - sends requests to endpoints of peers (MRC_CMD_EP_SEND) and collects the responses.
//
// The kernel allows 64 pending requests per peer and has no timeout. The timeout is here.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <vector>

#include "genl.h"

namespace mrcnl {

struct question {
    std::array<uint8_t, 16> gid = {};
    std::array<uint8_t, 16> src = {}; // zero: the address that the peer knows
    uint32_t op = 0;                  // MRC_NL_EP_*
    uint32_t ports_up = 0;            // of PORT_STATUS
    std::optional<uint8_t> tc;
    uint32_t fmt = 0; // MRC_FMT_*
    std::array<uint8_t, 32> value = {};
    uint8_t port = 0;
    uint16_t via = 0; // of an EV probe: uSID over which the answer should return; 0: any path
};

struct answer {
    size_t question; // its place
    uint8_t port;    // that it came by
    uint64_t rtt_ns;
    bool via; // it returned over the uSID that the question named
};

struct answers {
    std::vector<answer> came; // in that order
    std::vector<int> errors;  // of each question: 0, or why it was not sent
};

inline constexpr size_t asks_max = 32768; // at once: so that late answers to earlier ones are known

// Asks all of @qs, as many at a time as the kernel takes, and waits until all have answered or @timeout
// is over. An error: the kernel refuses a message, or cannot be talked to. @next_id is the socket's:
// the number of its next question.
error ask(genl_socket &nl, uint32_t ifindex, uint16_t &next_id, const std::vector<question> &qs,
          std::chrono::nanoseconds timeout, answers &out);

} // namespace mrcnl
