// SPDX-License-Identifier: GPL-2.0
// end.h - one end of a connection: the engine's objects and the glue around them.
//
// Created when its first flow starts or its first packet arrives, in one memory block of the size
// that its flows need. The engine decides; this file only configures it.
#pragma once

#include "clock.h"
#include "pages.h"
#include "workload.h"

#include <vector>

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

enum class queued : u8 { no, turn, waits };

struct end {
    mrc_conn conn;
    mrc_evset *evs; // shared with cc by all QPs to one peer
    mrc_cc *cc;
    end *owner;     // the first of them
    struct foreign_end *foreign; // another implementation's, in the place of conn
    mrc_port *port; // when port status is exchanged
    mrc_spray *port_rot;
    mrc_incast_flow incast;
    u32 id, host;
    end *next_on_host;
    end *next_ready, *next_first;
    queued ready;
    bool first;               // it has just got something; also while it waits for its turn
    u64 tx_free;              // when its last data packet has left the port
    u32 post_head, post_tail; // flows that wait for room in the send queue
    u32 dead_sent;            // data packets sent into dead paths
    struct span {
        u32 outage;           // of which outage, from 1: a new one begins anew
        u64 first, longest;   // first packet into it; longest time from first to last

        void note(u32 now_outage, u64 t)
        {
            if (outage != now_outage + 1)
                first = t;
            outage = now_outage + 1;
            longest = t - first > longest ? t - first : longest;
        }
    } dead_data, dead_acks;
    u32 repair_seen;          // the returned plane was used, so long after it returned
    u64 reuse_ps;
    u64 last_done, gap_ps;    // the last completion, the longest time between two
    u8 psn_plane[256];        // by which plane the last PSNs came
};

// What is the same for all ends of a run.
struct end_maker {
    const scenario &s;
    const topology &topo;
    const workload &work;

    static u32 first_psn(u32 id);
    // sibling: another QP to the same peer, or null.
    end *make(arena &mem, u32 id, end *sibling, u32 planes_up, u64 now_ns) const;
    void rate(mrc_cc_cfg &c, u32 host, u32 planes_up) const;

private:
    struct path {
        u32 ev;
        u8 plane;
    };

    mrc_conn_cfg sizes(u32 id) const;
    void draw_paths(const end &e, u32 per_plane, std::vector<path> &v) const;
    void template_evs(const end &e, u32 per_plane, std::vector<path> &v) const;
    void make_paths(arena &mem, end &e, u32 n, u32 planes_up) const;
    void start(arena &mem, end &e, u32 planes_up, u64 now_ns) const;
    void make_port(arena &mem, end &e, u32 planes_up) const;
};

} // namespace sim
