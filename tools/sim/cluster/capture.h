// SPDX-License-Identifier: GPL-2.0
// capture.h - packets as they leave their hosts, in a pcapng file.
//
// The cluster's packets are the engine's fields; here they get the bytes that they would have on a wire without SRv6. Their
// payload is zero. A comment on each has the state of its EV and the window that it left with. An interface is named for its
// host and its plane ("h3-eth2").
#pragma once

#include "units.h"

#include <string>
#include <vector>

namespace sim {

struct end;

class capture {
public:
    // The first most packets.
    explicit capture(u64 most) : most_(most) {}

    // On its way from end e at t ps. On one thread.
    void note(u64 t, const end &e, u32 to_host, const mrc_txop &op);
    // Throws std::runtime_error.
    void write(const std::string &path);

private:
    struct record {
        u64 t;
        u32 host;
        u8 plane;
        std::vector<u8> frame;
        std::string comment;
    };

    u64 most_;
    std::vector<record> records_;
};

} // namespace sim
