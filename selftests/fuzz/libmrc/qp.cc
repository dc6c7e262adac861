// SPDX-License-Identifier: GPL-2.0
// qp.cc - queue pairs of mrc.h: see app.h.
#include <cstring>

#include "app.h"

namespace {

constexpr int mrc_bits = MRC_QP_MAX_WIMM | MRC_QP_MAX_WIMM_DEST | MRC_QP_MPR | MRC_QP_MPR_DEST |
                         MRC_QP_TIMEOUT | MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID | MRC_QP_HINT |
                         MRC_QP_RETRY_CNT | MRC_QP_CAP | MRC_QP_VENDOR_CFG;

// A transition with what it needs.
struct step {
    ibv_qp_state to;
    int vmask, mask;
};

constexpr step steps[] = {
    {IBV_QPS_INIT, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS,
     MRC_QP_HINT | MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID},
    {IBV_QPS_RTR, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
     MRC_QP_MAX_WIMM_DEST | MRC_QP_MPR_DEST | MRC_QP_CAP},
    {IBV_QPS_RTS, IBV_QP_STATE | IBV_QP_SQ_PSN,
     MRC_QP_MAX_WIMM | MRC_QP_MPR | MRC_QP_RETRY_CNT | MRC_QP_TIMEOUT},
    {IBV_QPS_ERR, IBV_QP_STATE, 0},
    {IBV_QPS_RESET, IBV_QP_STATE, 0},
};

bool allowed(ibv_qp_state from, ibv_qp_state to)
{
    return to == IBV_QPS_ERR || to == IBV_QPS_RESET ||
           (from == IBV_QPS_RESET && to == IBV_QPS_INIT) ||
           (from == IBV_QPS_INIT && (to == IBV_QPS_INIT || to == IBV_QPS_RTR)) ||
           (from == IBV_QPS_RTR && to == IBV_QPS_RTS) || (from == IBV_QPS_RTS && to == IBV_QPS_RTS);
}

ibv_qp_state state_of(mrc_qp *qp, mrc_qp_attr *attr)
{
    bool was = the_world->quiet;
    ibv_qp_attr v;

    std::memset(attr, 0, sizeof(*attr));
    the_world->quiet = true;
    REQUIRE(!mrc_query_qp(qp, &v, IBV_QP_STATE, attr, mrc_bits, nullptr));
    the_world->quiet = was;
    return v.qp_state;
}

} // namespace

void program::qp_life()
{
    mrc_qp_init_attr init = {};
    ibv_qp_attr v;
    mrc_qp_attr attr;
    u32 qpn = 0;

    if (qps.size() < 4 && in.below(2)) {
        auto *ctx = pick(contexts);
        init.send_cq = in.one_in(8) ? pick(event_cqs) : pick(cqs);
        init.recv_cq = in.below(4) ? init.send_cq : pick(cqs);
        init.pd = in.one_in(16) ? nullptr : &w.pd[in.below(2)];
        init.send_ops_flags = in.one_in(4) ? in.any<u64>() : IBV_QP_EX_WITH_RDMA_WRITE;
        init.protocol_version = static_cast<mrc_protocol_version>(in.one_in(8) ? in.any<u8>() : in.below(2));
        auto *qp = mrc_create_qp(ctx, in.one_in(16) ? nullptr : &init);
        if (!qp) {
            REQUIRE(errno);
            return;
        }
        REQUIRE(has(contexts, ctx) && owner[init.send_cq] == ctx && owner[init.recv_cq] == ctx);
        qps.push_back({qp, IBV_QPS_RESET, nullptr});
        owner[qp] = ctx;
        return;
    }
    auto *qp = qps.empty() || in.one_in(8) ? static_cast<mrc_qp *>(stranger()) :
                                             qps[in.below(static_cast<u32>(qps.size()))].qp;
    a_qp *known = find(qp);
    if (in.below(2)) {
        int err = mrc_destroy_qp(qp);
        REQUIRE(err || known);
        if (err)
            return;
        owner.erase(qp);
        std::erase_if(qps, [&](const a_qp &q) { return q.qp == qp; });
    } else if (in.below(2)) {
        REQUIRE(mrc_get_qpn(qp, in.one_in(8) ? nullptr : &qpn) == -1 || (known && qpn));
    } else {
        int vmask = in.one_in(2) ? 0 : in.any<int>(), mask = in.one_in(2) ? 0 : in.any<int>();
        int err = mrc_query_qp(qp, in.one_in(4) ? nullptr : &v, vmask, in.one_in(4) ? nullptr : &attr,
                               mask, in.below(2) ? &init : nullptr);
        REQUIRE(err || (known && !(mask & ~mrc_bits)));
    }
}

void program::qp_modify()
{
    auto *qp = qps.empty() || in.one_in(16) ? static_cast<mrc_qp *>(stranger()) :
                                              qps[in.below(static_cast<u32>(qps.size()))].qp;
    a_qp *known = find(qp);
    // The next one in its life, mostly.
    size_t next = !known ? 0 : known->state <= IBV_QPS_RTR ? static_cast<size_t>(known->state) : 4;
    step s = steps[in.one_in(3) ? in.below(5) : next];
    mrc_qp_attr attr = {}, was, now;
    ibv_qp_attr v = {};

    if (in.one_in(4))
        s.vmask ^= 1 << in.below(22);
    if (in.one_in(4))
        s.mask ^= in.one_in(8) ? in.any<int>() : 1 << in.below(11);
    v.qp_state = in.one_in(16) ? static_cast<ibv_qp_state>(in.any<u8>()) : s.to;
    v.cur_qp_state = static_cast<ibv_qp_state>(in.below(8));
    v.ah_attr.is_global = !in.one_in(16);
    auto small = [&](u8 usual) { return in.one_in(8) ? in.extreme<u8>() : usual; };
    attr.mpr.mpr = small(8);
    attr.mpr.mpr_dest = small(8);
    attr.wimm.max_wimm = small(128);
    attr.wimm.max_wimm_dest = small(128);
    attr.timeout = small(8);
    attr.retry.linear_cnt = small(7);
    attr.retry.exp_cnt = small(25);
    attr.cap = small(MRC_QP_CAP_DYNAMIC_MPR);
    attr.qp_hint = in.below(2) ? nullptr : pick(hints);
    ibv_qp_state from = known ? state_of(qp, &was) : IBV_QPS_RESET;
    REQUIRE(!known || from == known->state);
    int err = mrc_modify_qp(qp, in.one_in(16) ? nullptr : &v, s.vmask, in.one_in(16) ? nullptr : &attr, s.mask);
    if (!known) {
        REQUIRE(err);
        return;
    }
    ibv_qp_state to = state_of(qp, &now);
    if (err) {
        REQUIRE(to == from && !std::memcmp(&was, &now, sizeof(was)));
        return;
    }
    REQUIRE(allowed(from, to) && to == (s.vmask & IBV_QP_STATE ? v.qp_state : from));
    known->state = to;
    if (to == IBV_QPS_RESET)
        known->hint = nullptr;
    else if (s.mask & MRC_QP_HINT)
        known->hint = attr.qp_hint;
    REQUIRE(now.qp_hint == known->hint);
}

void program::qp_post()
{
    static const ibv_wr_opcode ops[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_WRITE,
                                        IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_SEND, IBV_WR_RDMA_READ};
    auto *qp = qps.empty() || in.one_in(16) ? static_cast<mrc_qp *>(stranger()) :
                                              qps[in.below(static_cast<u32>(qps.size()))].qp;
    size_t n = in.below(5), wrong = n;
    std::vector<ibv_send_wr> send(n);
    std::vector<ibv_recv_wr> recv(n);

    for (size_t i = n; i--;) {
        send[i] = {};
        recv[i] = {};
        send[i].next = i + 1 < n ? &send[i + 1] : nullptr;
        recv[i].next = i + 1 < n ? &recv[i + 1] : nullptr;
        send[i].opcode = ops[in.below(6)];
        if (send[i].opcode != IBV_WR_RDMA_WRITE && send[i].opcode != IBV_WR_RDMA_WRITE_WITH_IMM)
            wrong = i;
    }
    w.posted = 0;
    w.taken = in.one_in(3) ? in.below(5) : ~0u;
    size_t end = wrong < w.taken ? wrong : w.taken < n ? w.taken : n;
    if (in.below(2)) {
        ibv_send_wr *bad = nullptr;
        int err = mrc_post_send(qp, n ? send.data() : nullptr, &bad);
        REQUIRE(find(qp) && n ? w.posted == end && !err == (end == n) : err == EINVAL && !w.posted);
        REQUIRE(!err || !n || bad == &send[find(qp) ? end : 0]);
        for (size_t i = 0; i < n; i++) // the list is the program's
            REQUIRE(send[i].next == (i + 1 < n ? &send[i + 1] : nullptr));
    } else {
        ibv_recv_wr *bad = nullptr;
        end = w.taken < n ? w.taken : n;
        errno = 0;
        int err = mrc_post_recv(qp, n ? recv.data() : nullptr, in.one_in(16) ? nullptr : &bad);
        REQUIRE(err == 0 || (err == -1 && errno));
        REQUIRE(find(qp) && n ? errno == EINVAL || (w.posted == end && !err == (end == n)) : err && errno == EINVAL);
    }
}
