// SPDX-License-Identifier: GPL-2.0
// qp_setup.cc - sets up one connection with its options, from creation to RTS.
#include "qp.h"

#include "world.h"

namespace sim {

namespace {

mrc_conn_cfg conn_cfg(const options &o, u64 seed)
{
    mrc_conn_cfg c = {};

    c.mpr_max = static_cast<u8>(std::max(o.mpr, o.mpr_b));
    c.sq_max = static_cast<u16>(o.sq_max);
    c.rd_max = static_cast<u16>(o.rd_max);
    c.rq_max = static_cast<u16>(o.rq_max);
    c.ev_active = static_cast<u16>(o.ev_active);
    c.strict = o.strict;
    c.tails = static_cast<u8>(o.tails);
    c.small = o.small;
    c.seed = seed;
    return c;
}

} // namespace

qp::qp(world &w, host &h, u32 remote, u32 id, stream &out, stream &in)
    : w_(w), h_(h), remote_(remote), id_(id), out_(out), in_(in), rand_(w.seed, "qp", id)
{
    const options &o = w.opt;
    bool a = id % 2 == 0;
    mrc_conn_cfg cfg = conn_cfg(o, rand_.next());
    size_t size = mrc_conn_mem_size(&cfg);

    if (!size)
        sim::fail("mrc_conn_mem_size() refuses the configuration");
    mem_.assign((size + 7) / 8, 0xcdcdcdcdcdcdcdcdull);
    std::memset(&conn_, 0xcd, sizeof(conn_));
    if (mrc_conn_init(&conn_, &cfg, mem_.data()))
        sim::fail("mrc_conn_init() failed");
    hold_mask_ = cfg.mpr_max * MRC_MPR_UNIT - 1u;
    hold_.resize(o.strict ? hold_mask_ + 1 : 0);
    h.to(remote).qps.push_back(id);
    mrc_conn_set_path(&conn_, &h.to(remote).evs);

    mrc_rx_cfg rx = {};
    rx.psn = static_cast<u32>(a ? o.psn_b : o.psn_a);
    rx.dqpn = 0x1000 + (id_ ^ 1);
    rx.mtu = static_cast<u16>(o.mtu);
    rx.mpr = static_cast<u8>(a ? o.mpr : o.mpr_b);
    rx.wimm = static_cast<u16>(o.wimm);
    rx.rd_atomic = static_cast<u8>(o.rd_max);
    rx.min_rnr_timer = static_cast<u8>(o.min_rnr_timer);
    rx.sack_pkts = static_cast<u16>(o.sack_pkts);
    rx.mrc_only = o.mrc_only;
    rx.oor_nack = o.oor_nack;
    rx.no_trim_nack = !o.trim_nack;
    rx.dyn_mpr = o.dyn_mpr;
    rx.svc_time = o.svc_time;
    rx.strict = o.strict;
    if (mrc_conn_set_rx(&conn_, &rx, h.clock_ns()))
        sim::fail("mrc_conn_set_rx() failed");

    mrc_tx_cfg tx = {};
    tx.psn = static_cast<u32>(a ? o.psn_a : o.psn_b);
    tx.mpr = static_cast<u8>(a ? o.mpr_b : o.mpr);
    tx.wimm = static_cast<u16>(o.wimm);
    tx.rd_atomic = static_cast<u8>(rand_.range(1, o.rd_max));
    tx.timeout_ns = o.timeout_ns;
    tx.linear_cnt = static_cast<u8>(o.linear_cnt);
    tx.exp_cnt = static_cast<u8>(o.exp_cnt);
    tx.rnr_retry = static_cast<u8>(o.rnr_retry);
    tx.cwnd_bytes = static_cast<u32>(o.cwnd_bytes);
    tx.timestamps = o.timestamps;
    tx.trim_nack = o.trim_nack;
    tx.dyn_mpr = o.dyn_mpr;
    tx.sleek = o.sleek;
    tx.burst = static_cast<u8>(o.burst);
    // Some have a window of their own.
    if (o.nscc || rand_.chance(500000))
        tx.cc = h.to(remote).cc();
    if (mrc_conn_set_tx(&conn_, &tx, h.clock_ns()))
        sim::fail("mrc_conn_set_tx() failed");

    recv_posted_ = static_cast<u32>(std::min<u64>(o.recv_ahead, in_.recv_msg.size()));
    if (o.strangers >> (id_ & 1) & 1)
        make_foreign();
    w_.at_ns(rand_.below(o.post_gap_ns), event_kind::app_post, id_);
}

} // namespace sim
