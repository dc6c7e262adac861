// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * cc_rig.h - one congested port, many senders: a closed loop for the
 * congestion controllers and for the receiver's answer to incast.
 *
 * Each sender has a link of its own and obeys mrc_cc_room(); all of them share
 * one port with a queue that marks and trims, behind it the receiver, which
 * answers as the engine does (SACK per few packets, at once for a mark, a
 * request or a retransmission; NACK per trimmed packet; a probe when answers
 * have stopped). Integer time in ps,
 * events ordered by (time, number): the same numbers on every machine. It is
 * no fabric: tools/sim has that.
 */
#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

extern "C" {
#include "cc/mrc_cc.h"
#include "conn/mrc_conn.h"
#include "peer/mrc_incast.h"
}

namespace cc_rig {

struct config {
    const mrc_cc_ops* ops = &mrc_nscc;
    mrc_cc_cfg cc{};
    u32 rate_mbps = 100000;   // of the port and of each sender's link
    u64 base_rtt_ns = 12000;
    u32 mtu = 4160;
    u32 queue_bytes = 225000; // trims (or drops) beyond
    u32 ecn_min = 30000, ecn_max = 120000; // ramp; 0: no marks, as on a last hop
    bool trim = true;         // false: a loss, noticed one round trip later
    u32 sack_pkts = 4;
    bool incast = false;      // the receiver's policy is on
    u64 incast_epoch_ns = 0;
    u32 incast_rate_mbps = 0; // what it is told; 0: unknown
    u32 jitter_ns = 1000;     // of paths; without it who comes first is always the same
    u64 seed = 1;
    u32 conns_per_cc = 1;     // connections that share a controller
};

struct packet {
    u32 flow;
    u64 sent_ns;
    bool rtx, ack_req, mark;
};

struct flow {
    mrc_cc* cc;
    u64 to_send = 0;          // packets not sent yet
    u64 rtx_due = 0;          // to be sent again
    u32 own = 0;              // bytes in flight
    u64 start_ps = 0;
    u64 delivered = 0, sent = 0, rtx = 0, trims = 0;
    u64 total = 0, done_ps = 0;
    bool nic_armed = false;
    u64 hold_ns = 0;          // as the engine: copied from the controller when answered
    u64 heard_ps = 0;         // latest answer, or send after silence
    bool probing = false;
    u64 probes = 0;
    // receiver's side
    u32 unacked = 0;          // packets since the last SACK
    mrc_incast_note note{};
    mrc_incast_flow in{};
    u8 pen = 0;
    bool restore = false;
};

class rig {
public:
    rig(const config& c, u32 n_flows) : cfg(c), flows(n_flows), rand_state(c.seed)
    {
        u32 n_cc = (n_flows + c.conns_per_cc - 1) / c.conns_per_cc;
        mrc_incast_cfg in{};

        cfg.cc.mtu = cfg.mtu;
        if (!cfg.cc.rate_mbps)
            cfg.cc.rate_mbps = cfg.rate_mbps;
        cfg.cc.trimming = cfg.trim;
        for (u32 i = 0; i < n_cc; i++) {
            mem.emplace_back(new u64[(c.ops->size + 7) / 8]);
            mrc_cc_init(ctl(i), c.ops, &cfg.cc, 0);
        }
        for (u32 i = 0; i < n_flows; i++)
            flows[i].cc = ctl(i / c.conns_per_cc);
        in.rate_mbps = cfg.incast_rate_mbps;
        in.epoch_ns = cfg.incast_epoch_ns;
        in.off = !cfg.incast;
        mrc_incast_init(&incast, &in);
    }

    mrc_cc* ctl(u32 i) { return reinterpret_cast<mrc_cc*>(mem[i].get()); }

    void offer(u32 f, u64 pkts, u64 start_ns = 0)
    {
        flow& w = flows[f];

        w.to_send += pkts;
        w.total += pkts;
        at(start_ns * 1000, [this, f] { kick(f); });
    }

    void run(u64 until_ns)
    {
        while (!events.empty() && events.top().ps <= until_ns * 1000) {
            auto e = events.top();

            events.pop();
            now_ps = e.ps;
            e.fn();
        }
        now_ps = std::max(now_ps, until_ns * 1000);
    }

    u64 now_ns() const { return now_ps / 1000; }

    // The port's rate; senders' links keep theirs.
    void set_rate(u32 mbps) { port_mbps = mbps; }
    void at_ns(u64 ns, std::function<void()> fn) { at(ns * 1000, std::move(fn)); }

    u64 delivered() const
    {
        u64 n = 0;

        for (auto& f : flows)
            n += f.delivered;
        return n;
    }
    u64 rtx() const
    {
        u64 n = 0;

        for (auto& f : flows)
            n += f.rtx;
        return n;
    }
    u64 makespan_ns() const
    {
        u64 t = 0;

        for (auto& f : flows)
            t = std::max(t, f.done_ps);
        return t / 1000;
    }
    u32 backlog() const
    {
        return free_ps > now_ps ? u32((free_ps - now_ps) * rate() / 8000000) : 0;
    }

    config cfg;
    std::vector<flow> flows;
    mrc_incast incast{};
    u64 rtt_sum_ns = 0, rtt_n = 0; // of all samples
    u32 max_backlog = 0;

private:
    struct event {
        u64 ps, no;
        std::function<void()> fn;
        bool operator<(const event& o) const
        {
            return ps != o.ps ? ps > o.ps : no > o.no;
        }
    };

    void at(u64 ps, std::function<void()> fn)
    {
        events.push({std::max(ps, now_ps), ++events_made, std::move(fn)});
    }
    u32 rate() const { return port_mbps ? port_mbps : cfg.rate_mbps; }
    u64 ser_ps(u32 bytes, u32 mbps) const { return u64{bytes} * 8000000 / mbps; }

    // Sends one packet if the window has room, and comes back when the link is free.
    void kick(u32 fi)
    {
        flow& f = flows[fi];
        packet p{};
        u64 gone;

        if (now_ns() < f.hold_ns)
            return;
        if (f.nic_armed || !(f.to_send || f.rtx_due) || !mrc_cc_room(f.cc, f.own, cfg.mtu))
            return;
        p.flow = fi;
        p.sent_ns = now_ns();
        p.rtx = f.rtx_due > 0;
        if (p.rtx) {
            f.rtx_due--;
            f.rtx++;
        } else {
            f.to_send--;
        }
        f.sent++;
        mrc_cc_account(f.cc, f.own, s32(cfg.mtu));
        f.own += cfg.mtu;
        probe_later(fi);
        p.ack_req = !(f.to_send || f.rtx_due) || !mrc_cc_room(f.cc, f.own, cfg.mtu);
        gone = now_ps + ser_ps(cfg.mtu, cfg.rate_mbps);
        at(gone + cfg.base_rtt_ns * 500 + u64{next_rand() % (cfg.jitter_ns + 1)} * 1000,
           [this, p] { arrive(p); });
        f.nic_armed = true;
        at(gone, [this, fi] {
            flows[fi].nic_armed = false;
            kick(fi);
        });
    }

    // The engine's tail probe: what was delivered but not told comes with its answer.
    void probe_later(u32 fi)
    {
        flow& f = flows[fi];

        if (f.probing)
            return;
        f.probing = true;
        f.heard_ps = now_ps;
        at(now_ps + cfg.base_rtt_ns * 5000, [this, fi] { probe(fi); });
    }

    void probe(u32 fi)
    {
        flow& f = flows[fi];
        packet p{};

        if (now_ps - f.heard_ps < cfg.base_rtt_ns * 5000) {
            at(f.heard_ps + cfg.base_rtt_ns * 5000, [this, fi] { probe(fi); });
            return;
        }
        f.probing = false;
        if (!f.own)
            return;
        f.probes++;
        probe_later(fi);
        p.flow = fi;
        at(now_ps + cfg.base_rtt_ns * 500, [this, p] { sack(p, false); });
    }

    u32 next_rand()
    {
        rand_state = rand_state * 6364136223846793005ull + 1442695040888963407ull;
        return u32(rand_state >> 40);
    }

    void arrive(packet p)
    {
        u32 q = backlog();

        if (q + cfg.mtu > cfg.queue_bytes) {
            if (cfg.trim)
                trimmed(p);
            else
                at(now_ps + cfg.base_rtt_ns * 1500, [this, p] { lost(p); });
            return;
        }
        if (cfg.ecn_max && q > cfg.ecn_min)
            p.mark = q >= cfg.ecn_max ||
                     next_rand() % (cfg.ecn_max - cfg.ecn_min) < q - cfg.ecn_min;
        free_ps = std::max(free_ps, now_ps) + ser_ps(cfg.mtu, rate());
        max_backlog = std::max(max_backlog, backlog());
        at(free_ps, [this, p] { receive(p); });
    }

    bool note_incast(flow& f)
    {
        bool restore = false, rose;
        u8 pen = mrc_incast_update(&incast, &f.in, &f.note, now_ns(), &restore);

        f.note = {};
        rose = pen && !f.pen;
        f.pen = pen;
        f.restore |= restore;
        return rose || restore;
    }

    void trimmed(const packet& p)
    {
        flow& f = flows[p.flow];

        f.trims++;
        f.note.trims++;
        if (note_incast(f))
            sack(p, false);
        at(now_ps + cfg.base_rtt_ns * 500, [this, p] {
            mrc_cc_sample s = sample(p, 0);

            s.lost_bytes = cfg.mtu;
            s.trimmed = s.last_hop = true;
            s.rtt_ns = p.rtx ? 0 : now_ns() - p.sent_ns;
            gone_from_flight(p.flow, cfg.mtu);
            flows[p.flow].cc->ops->on_nack(flows[p.flow].cc, &s);
            flows[p.flow].rtx_due++;
            answered(p.flow);
        });
    }

    void lost(const packet& p)
    {
        mrc_cc_sample s = sample(p, 0);

        s.lost_bytes = cfg.mtu;
        gone_from_flight(p.flow, cfg.mtu);
        flows[p.flow].cc->ops->on_loss(flows[p.flow].cc, &s);
        flows[p.flow].rtx_due++;
        answered(p.flow);
    }

    void receive(const packet& p)
    {
        flow& f = flows[p.flow];
        bool due;

        f.delivered++;
        f.unacked++;
        f.note.bytes += cfg.mtu;
        f.note.marks = u16(f.note.marks + p.mark);
        due = note_incast(f);
        if (due || p.mark || p.ack_req || p.rtx || f.unacked >= cfg.sack_pkts)
            sack(p, true);
        if (f.delivered == f.total)
            f.done_ps = now_ps + cfg.base_rtt_ns * 500;
    }

    void sack(const packet& p, bool sampled)
    {
        flow& f = flows[p.flow];
        u32 n = f.unacked * cfg.mtu;
        u8 pen = f.pen;
        bool restore = f.restore;

        f.unacked = 0;
        f.restore = false;
        at(now_ps + cfg.base_rtt_ns * 500, [=, this] {
            mrc_cc_sample s = sample(p, n);

            s.rtt_ns = sampled && !p.rtx ? now_ns() - p.sent_ns : 0;
            s.ecn = sampled && p.mark;
            s.rcv_cwnd_pen = pen;
            s.restore_cwnd = restore;
            rtt_sum_ns += s.rtt_ns;
            rtt_n += s.rtt_ns != 0;
            gone_from_flight(p.flow, n);
            flows[p.flow].cc->ops->on_ack(flows[p.flow].cc, &s);
            answered(p.flow);
        });
    }

    mrc_cc_sample sample(const packet& p, u32 acked)
    {
        mrc_cc_sample s{};

        s.now_ns = now_ns();
        s.acked_bytes = acked;
        s.inflight_bytes = flows[p.flow].cc->inflight_bytes;
        return s;
    }
    void answered(u32 fi)
    {
        flow& f = flows[fi];

        f.hold_ns = f.cc->hold_until_ns;
        if (f.hold_ns > now_ns())
            at(f.hold_ns * 1000, [this, fi] { kick(fi); });
        kick(fi);
    }
    void gone_from_flight(u32 fi, u32 bytes)
    {
        flow& f = flows[fi];

        f.heard_ps = now_ps;
        if (!bytes)
            return;
        mrc_cc_account(f.cc, f.own, -s32(bytes));
        f.own -= bytes;
    }

    std::vector<std::unique_ptr<u64[]>> mem;
    std::priority_queue<event> events;
    u64 events_made = 0, now_ps = 0, free_ps = 0, rand_state;
    u32 port_mbps = 0;
};

} // namespace cc_rig
