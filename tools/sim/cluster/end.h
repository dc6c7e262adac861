// SPDX-License-Identifier: GPL-2.0
// end.h - one end of a connection: the engine's objects and the glue around them.
//
// Made when its first flow starts or its first packet arrives, in one block of memory
// of just the size that its flows need. The engine decides; this only configures it.
#pragma once

#include "pages.h"
#include "workload.h"

namespace sim {

// Memory that is given out and never taken back before the end.
class arena {
public:
    void *take(size_t bytes);
    size_t bytes() const { return total_; }

private:
    pages store_;
    u8 *at_ = nullptr;
    size_t left_ = 0, total_ = 0;
};

enum class queued : u8 { no, first, normal };

struct end {
    mrc_conn conn;
    mrc_evset evs;
    mrc_cc *cc;
    mrc_port *port; // when port status is exchanged
    mrc_rot *port_rot;
    mrc_incast_flow incast;
    u32 id, host;
    end *next_on_host;
    end *next_ready;
    queued ready;
    u32 post_head, post_tail; // flows that wait for room in the send queue
    u64 dead_sent_last;       // last data packet sent into a dead path
    u32 dead_sent;
};

// What is the same for all ends of a run.
struct end_maker {
    const scenario &s;
    const topology &topo;
    const workload &work;

    end *make(arena &mem, u32 id, u32 planes_up, u64 t) const;
    void rate(mrc_cc_cfg &c, u32 planes_up) const;

private:
    mrc_conn_cfg sizes(u32 id) const;
    void make_paths(arena &mem, end &e, u32 n, u32 planes_up) const;
    void start(arena &mem, end &e, u32 planes_up, u64 t) const;
    void make_port(arena &mem, end &e, u32 planes_up) const;
};

} // namespace sim
