// SPDX-License-Identifier: GPL-2.0
// endpoint.h - a connection and its path set in memory of exactly their size. Every
// call goes through do_(): afterwards both must be sound, and the work done bounded.
#pragma once

#include "../engine/events.h"
#include "bytes.h"
#include "work.h"

#include <algorithm>
#include <memory>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" // struct and function mrc_conn_info
extern "C" {
#include "conn/mrc_conn.h"
}
#pragma GCC diagnostic pop

constexpr u64 us = 1000, ms = 1000 * us;

// Basic blocks that one call may run: a share for every packet, EV and slot that
// it may have to look at, with some air.
constexpr u64 work_per_item = 60, work_fixed = 2000;

struct free_it {
    void operator()(void *p) const { std::free(p); }
};
using exact_block = std::unique_ptr<void, free_it>;

inline exact_block exactly(size_t n)
{
    void *p = std::malloc(n);

    std::memset(p, 0x5a, n); // "zeroed or not"
    return exact_block(p);
}

struct endpoint_cfg {
    u16 evs = 8;
    u8 planes = 2;
    u16 min_active = 1;
    mrc_conn_cfg conn = {};
    mrc_rx_cfg rx = {};
    mrc_tx_cfg tx = {};
    bool rts = true; // false: RTR only, until ready_to_send()
    const mrc_cc_ops *cc = nullptr; // a controller of its own; NULL: the fixed window
};

class endpoint {
public:
    endpoint(const endpoint_cfg &k, const u64 &now) : cfg(k), now_(now)
    {
        make_paths(paths_[0], cfg.evs);
        make_paths(paths_[1], cfg.planes); // another one, smaller
        make_cc();
        mem_ = exactly(mrc_conn_mem_size(&cfg.conn));
        REQUIRE(!mrc_conn_init(&c, &cfg.conn, mem_.get()));
        work_max_ = work_max();
        start();
    }

    // RTR and RTS, as after creation or a reset.
    void start()
    {
        tap_.forget();
        mrc_conn_set_path(&c, &paths_[0].evs);
        REQUIRE(!mrc_conn_set_rx(&c, &cfg.rx, now_));
        if (cfg.rts)
            ready_to_send();
    }
    // Where the stream began, if the peer has told; anywhere else is refused.
    void ready_to_send()
    {
        mrc_tx_cfg k = cfg.tx;

        if (c.snd.known)
            k.psn = c.snd.first;
        REQUIRE(!mrc_conn_set_tx(&c, &k, now_));
    }

    template <class F> auto do_(F call)
    {
        struct after {
            endpoint &e;
            ~after() { e.sound(); }
        } checked{*this};

        work_left = work_max_;
        return call();
    }

    mrc_verdict rx(const mrc_pkt &p, mrc_rxop *op)
    {
        mrc_verdict v;

        unshared(p, [&] { v = mrc_conn_rx_begin(&c, &p, now_, op); });
        say("rx %02x psn %06x va %llx len %u of %u -> %d", p.opcode, p.psn,
            static_cast<unsigned long long>(p.va), p.payload_len, p.dmalen, v);
        return v;
    }
    void commit(const mrc_rxop &op)
    {
        say("commit");
        unshared(*op.pkt, [&] { mrc_conn_rx_commit(&c, &op, now_); });
    }
    void reject(const mrc_rxop &op, mrc_nack nack, mrc_nak nak)
    {
        mrc_reject why = {nack, nak};

        say("reject %d %d", nack, nak);
        do_([&] { mrc_conn_rx_reject(&c, &op, &why, now_); });
    }
    void drop(const mrc_rxop &op)
    {
        do_([&] { mrc_conn_rx_drop(&c, &op); });
    }
    bool tx(mrc_txop *t)
    {
        bool got = do_([&] { return mrc_conn_tx_next(&c, now_, t); });

        if (got)
            say("tx %02x psn %06x len %u", t->hdr.opcode, t->hdr.psn, t->len);
        return got;
    }
    void undo(const mrc_txop &t)
    {
        do_([&] { mrc_conn_tx_undo(&c, &t); });
    }
    int post(const mrc_wr &wr)
    {
        return do_([&] { return mrc_conn_post(&c, &wr, now_); });
    }
    bool tail(mrc_tail *t)
    {
        return do_([&] { return tap_.tail(t); });
    }
    bool hold(u32 *slot)
    {
        return do_([&] { return tap_.hold(slot); });
    }
    void hold_done(mrc_nak nak)
    {
        say("hold_done %d", nak);
        do_([&] { mrc_conn_hold_done(&c, nak, now_); });
    }
    bool exec(mrc_exec *x)
    {
        return do_([&] { return tap_.exec(x); });
    }
    void exec_done(u16 slot, u64 orig)
    {
        say("exec_done %u", slot);
        do_([&] { mrc_conn_exec_done(&c, slot, orig, now_); });
    }
    void exec_fail(u16 slot, mrc_nak why)
    {
        do_([&] { mrc_conn_exec_fail(&c, slot, why, now_); });
    }
    bool exec_free(u16 *slot)
    {
        return do_([&] { return tap_.freed(slot); });
    }
    bool complete(mrc_cpl *x)
    {
        return do_([&] { return tap_.complete(x); });
    }
    void fail(mrc_status why)
    {
        do_([&] { mrc_conn_fail(&c, why, now_); });
    }
    void timer()
    {
        say("timer");
        do_([&] { mrc_conn_timer(&c, now_); });
    }
    void planes(u32 local, u32 remote)
    {
        for (auto &p : paths_) {
            do_([&] { mrc_evset_local_planes(&p.evs, local, now_); });
            do_([&] { mrc_evset_remote_planes(&p.evs, remote, now_); });
        }
        do_([&] { mrc_conn_plane_event(&c, now_); });
    }
    void change_path()
    {
        mrc_evset *to = c.evs == &paths_[0].evs ? &paths_[1].evs : &paths_[0].evs;

        say("change_path");
        do_([&] { mrc_conn_set_path(&c, to); });
    }

    u32 psn_next() const { return c.snd.next; }
    u32 psn_una() const { return c.snd.una; }
    bool failed() const { return mrc_conn_failed(&c) != MRC_ST_OK; }

    endpoint_cfg cfg;
    mrc_conn c;

private:
    event_tap tap_{c};
    struct path_set {
        mrc_evset evs;
        exact_block mem;
    };

    // The bytes that connections to one peer share: path sets, and the controller if it is not the connection's own.
    std::vector<char> shared() const
    {
        std::vector<char> v;
        auto add = [&](const void *p, size_t n) {
            v.insert(v.end(), static_cast<const char *>(p), static_cast<const char *>(p) + n);
        };

        for (const path_set &p : paths_) {
            add(&p.evs, sizeof(p.evs));
            add(p.mem.get(), mrc_evset_mem_size(p.evs.n, true));
        }
        if (cc_mem_)
            add(cc_mem_.get(), cfg.cc->size);
        return v;
    }

    // A call with @p. Where mrc_conn_rx_shares() says no, it leaves alone what is shared: no lock is taken for it.
    template <class F> void unshared(const mrc_pkt &p, F call)
    {
        std::vector<char> before = mrc_conn_rx_shares(&c, &p) ? std::vector<char>() : shared();

        do_(call);
        if (!before.empty() && before != shared())
            DIE("opcode %02x changed what connections share", p.opcode);
    }

    void make_cc()
    {
        mrc_cc_cfg k = {};

        if (!cfg.cc)
            return;
        cc_mem_ = exactly(cfg.cc->size);
        cfg.tx.cc = static_cast<mrc_cc *>(cc_mem_.get());
        k.mtu = cfg.rx.mtu;
        mrc_cc_init(cfg.tx.cc, cfg.cc, &k, now_);
    }

    // TRACE=1 tells the story of one input.
    template <class... T> void say(const char *format, T... what)
    {
        static const bool trace = std::getenv("TRACE");

        if (!trace)
            return;
        std::fprintf(stderr, "%9llu us %p: ", static_cast<unsigned long long>(now_ / us),
                     static_cast<void *>(this));
        std::fprintf(stderr, format, what...);
        std::fputc('\n', stderr);
    }

    void make_paths(path_set &p, u16 n)
    {
        std::vector<u32> values;
        std::vector<u8> planes;
        mrc_evset_cfg ec = {};

        for (u16 i = 0; i < n; i++) {
            values.push_back(0x10000u * i + 7);
            planes.push_back(static_cast<u8>(i * cfg.planes / n));
        }
        ec.n = n;
        ec.n_planes = cfg.planes;
        ec.min_active = cfg.min_active;
        ec.planes_up = (1u << cfg.planes) - 1;
        ec.counts = true;
        p.mem = exactly(mrc_evset_mem_size(n, true));
        REQUIRE(!mrc_evset_init(&p.evs, p.mem.get(), &ec, values.data(), planes.data()));
    }

    void sound()
    {
        int rc;

        work_left = ~0ull; // checking is not the engine's work
        rc = mrc_conn_check(&c);
        if (rc)
            DIE("mrc_conn_check(): line %d", rc);
        rc = mrc_evset_check(c.evs);
        if (rc)
            DIE("mrc_evset_check(): line %d", rc);
    }

    u64 work_max() const
    {
        u32 items = c.cfg.mpr_max * MRC_MPR_UNIT + cfg.evs + c.cfg.rd_max + c.cfg.tails +
                    c.cfg.sq_max;

        return work_fixed + u64{items} * work_per_item;
    }

    const u64 &now_;
    u64 work_max_;
    path_set paths_[2];
    exact_block mem_, cc_mem_;
};
