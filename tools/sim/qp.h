// SPDX-License-Identifier: GPL-2.0
// qp.h - one queue pair of one host: models the kernel's glue (mrc_flow.c) around an engine
// connection, and the program that uses it.
#pragma once

#include "qp_foreign.h"
#include "stream.h"

#include <array>
#include <memory>
#include <vector>

namespace sim {

class world;
class host;
struct packet;

class qp {
public:
    qp(world &w, host &h, u32 remote, u32 id, stream &out, stream &in);

    // Ids of both ends of a pair differ in bit 0.
    u32 id() const { return id_; }
    host &home() const { return h_; }
    u32 remote() const { return remote_; }
    u32 qpn() const { return 0x1000 + id_; }
    const mrc_conn &conn() const { return conn_; }

    void rx(const packet &p, const mrc_pkt &parsed);
    // One turn of the softirq: rings, tails, execs, completions, packets out.
    void run();
    void on_timer(u64 gen);
    void on_app_post();
    void on_recv_post(u32 count);
    void on_plane_event();
    void fail(mrc_status why);

    bool done() const;
    bool failed() const { return failed_; }
    bool foreign() const { return foreign_ != nullptr; }
    void check() const;
    std::string progress() const;

private:
    void place(const mrc_rxop &op, const u8 *payload, const mrc_pkt &p);
    mrc_nak place_now(const mrc_rxop &op, const u8 *payload);
    void hold(const mrc_rxop &op, const u8 *payload);
    void place_held(u32 slot);
    void note_incast();
    mrc_nak place_write(const mrc_rxop &op, const u8 *payload);
    mrc_nak place_recv(const mrc_rxop &op, const u8 *payload);
    void place_resp(const mrc_rxop &op, const u8 *payload);
    void reject(const mrc_rxop &op, mrc_nack nack, mrc_nak nak);
    void place_tail(const mrc_tail &t);
    void exec_freed(u16 slot);
    void execute(const mrc_exec &x);
    void completed(const mrc_cpl &c);
    void pull();
    void post();
    void send_all();
    bool send_one(mrc_txop &op);
    void wake_others();
    void spend(const mrc_txop &op);
    void payload(const mrc_txop &op, u8 *dst);
    void check_txop(const mrc_txop &op) const;
    void grow();
    void arm();
    void note_failure();
    bool may_fail(mrc_status why) const;
    // qp_foreign.cc
    void make_foreign();
    void rx_foreign(const packet &p);
    void place_foreign(const foreign_packet &f, const u8 *payload);
    void send_foreign(const foreign_packet &f, u32 number, u32 off);
    void run_foreign();
    void foreign_timer();

    struct exec_slot {
        bool used = false;
        bool read = false;
        u64 va = 0;
        u32 len = 0;
    };
    struct held {
        bool used = false;
        mrc_rxop op;
        std::vector<u8> bytes;
    };
    struct tail_slot {
        bool used = false;
        u32 message = 0;
        u32 len = 0;
        std::array<u8, 64> bytes;
    };

    world &w_;
    host &h_;
    u32 remote_;
    u32 id_;
    stream &out_, &in_;
    mrc_conn conn_;
    std::vector<u64> mem_, room_;
    u64 want_ns_ = 0; // when there will be memory for the rest
    prng rand_;
    u32 released_ = 0;       // work requests the program has posted so far
    u32 recv_posted_ = 0;
    u32 last_msg_ = none32;  // message of the packet being placed
    bool failed_ = false;
    u64 timer_ns_ = MRC_TIME_NEVER, timer_gen_ = 0;
    std::array<exec_slot, MRC_RD_MAX> exec_;
    std::array<tail_slot, 256> tail_;
    std::vector<held> hold_;
    u32 hold_mask_;
    mrc_incast_flow flow_ = {};
    std::shared_ptr<foreign_end> foreign_; // another implementation's, in the place of conn_
};

} // namespace sim
