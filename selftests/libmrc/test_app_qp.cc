// SPDX-License-Identifier: GPL-2.0
// test_app_qp.cc - attributes of QPs: every subset of them at every transition, and what is refused; and which
// word of the program's libibverbs' objects carry.
#include <vector>

#include "test_ctl.h"

namespace {

// Of mrc_qp_attr: the one named first, without the vendor's bytes.
constexpr int one_by_one[] = {MRC_QP_MAX_WIMM,      MRC_QP_MAX_WIMM_DEST, MRC_QP_MPR,       MRC_QP_MPR_DEST,
                              MRC_QP_TIMEOUT,       MRC_QP_EV_PROFILE_ID, MRC_QP_CC_PROFILE_ID, MRC_QP_HINT,
                              MRC_QP_RETRY_CNT,     MRC_QP_CAP};
constexpr int n_bits = std::size(one_by_one);
constexpr int all_bits = ((1 << n_bits) - 1) | MRC_QP_VENDOR_CFG;
// Too late for them: their transition was RTR.
constexpr int past_rtr = MRC_QP_EV_PROFILE_ID | MRC_QP_MAX_WIMM_DEST | MRC_QP_MPR_DEST | MRC_QP_CAP;

struct verbs_calls {
    void *qp_context = nullptr, *cq_context = nullptr;
    ibv_cq *news = nullptr; // the next completion event is of this one
} calls;

ibv_qp *create_qp(ibv_pd *pd, ibv_qp_init_attr *init)
{
    auto *qp = new ibv_qp{};
    qp->context = pd->context;
    qp->qp_context = calls.qp_context = init->qp_context;
    return qp;
}

int destroy_qp(ibv_qp *qp)
{
    delete qp;
    return 0;
}

int modify_qp(ibv_qp *qp, ibv_qp_attr *attr, int)
{
    qp->state = attr->qp_state;
    return 0;
}

ibv_cq *create_cq(ibv_context *, int, void *cq_context, ibv_comp_channel *, int)
{
    auto *cq = new ibv_cq{};
    cq->cq_context = calls.cq_context = cq_context;
    return cq;
}

int destroy_cq(ibv_cq *cq)
{
    delete cq;
    return 0;
}

ibv_comp_channel *create_comp_channel(ibv_context *)
{
    return new ibv_comp_channel{};
}

int destroy_comp_channel(ibv_comp_channel *ch)
{
    delete ch;
    return 0;
}

// As libibverbs does: the word that the CQ was made with. First one that is nobody's here.
unsigned acked;
int get_cq_event(ibv_comp_channel *, ibv_cq **cq, void **cq_context)
{
    static ibv_cq stranger;

    *cq = acked ? calls.news : &stranger;
    *cq_context = (*cq)->cq_context;
    return 0;
}

void ack_cq_events(ibv_cq *, unsigned int n)
{
    acked += n;
}

class app_qp : public ctl {
  protected:
    app_qp()
    {
        calls = {};
        acked = 0;
    }

    void SetUp() override
    {
        ctl::SetUp();
        ctx->verbs.create_qp = create_qp;
        ctx->verbs.destroy_qp = destroy_qp;
        ctx->verbs.modify_qp = modify_qp;
        ctx->verbs.create_cq = create_cq;
        ctx->verbs.destroy_cq = destroy_cq;
        ctx->verbs.create_comp_channel = create_comp_channel;
        ctx->verbs.destroy_comp_channel = destroy_comp_channel;
        ctx->verbs.get_cq_event = get_cq_event;
        ctx->verbs.ack_cq_events = ack_cq_events;
        ASSERT_EQ(mrc_create_comp_channel(ctx, &channel), 0);
        cq = mrc_create_cq(ctx, 4, &cq_word, channel, 0);
        ASSERT_NE(cq, nullptr);
        pd.context = &v;
        mrc_qp_init_attr init = {};
        init.qp_context = &qp_word;
        init.send_cq = init.recv_cq = cq;
        init.pd = &pd;
        qp = mrc_create_qp(ctx, &init);
        ASSERT_NE(qp, nullptr);
        mrc_qp_hint_init_attr h = {};
        hint = mrc_create_qp_hint(ctx, &h);
        given = {{3, 5}, {17, 19}, 20, {4711, 4712}, {6, 25}, hint, MRC_QP_CAP_DYNAMIC_MPR, {1, 2, 3}};
        usual = {{8, 8}, {128, 64}, 14, {0, 0}, {7, 6}, nullptr, 0, {}};
    }

    void TearDown() override
    {
        EXPECT_EQ(mrc_destroy_qp(qp), 0);
        EXPECT_EQ(mrc_destroy_qp_hint(hint), 0);
        EXPECT_EQ(mrc_destroy_cq(cq), 0);
        EXPECT_EQ(mrc_destroy_comp_channel(channel), 0);
    }

    // What libibverbs wants of each.
    int step(ibv_qp_state to, int mask, const mrc_qp_attr &a)
    {
        static const int vmasks[] = {
            IBV_QP_STATE, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS,
            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
            IBV_QP_STATE | IBV_QP_SQ_PSN};
        ibv_qp_attr va = {};
        mrc_qp_attr copy = a;

        va.qp_state = to;
        va.ah_attr.is_global = 1;
        return mrc_modify_qp(qp, &va, vmasks[to], &copy, mask);
    }

    mrc_qp_attr now()
    {
        mrc_qp_attr a;

        std::memset(&a, 0, sizeof(a));
        EXPECT_EQ(mrc_query_qp(qp, nullptr, 0, &a, all_bits, nullptr), 0);
        return a;
    }

    // @usual with those of @given that @mask has.
    mrc_qp_attr mixed(int mask) const
    {
        mrc_qp_attr a = usual;

        a.mpr.mpr = (mask & MRC_QP_MPR ? given : usual).mpr.mpr;
        a.mpr.mpr_dest = (mask & MRC_QP_MPR_DEST ? given : usual).mpr.mpr_dest;
        a.wimm.max_wimm = (mask & MRC_QP_MAX_WIMM ? given : usual).wimm.max_wimm;
        a.wimm.max_wimm_dest = (mask & MRC_QP_MAX_WIMM_DEST ? given : usual).wimm.max_wimm_dest;
        a.timeout = (mask & MRC_QP_TIMEOUT ? given : usual).timeout;
        a.profile.ev_profile_id = (mask & MRC_QP_EV_PROFILE_ID ? given : usual).profile.ev_profile_id;
        a.profile.cc_profile_id = (mask & MRC_QP_CC_PROFILE_ID ? given : usual).profile.cc_profile_id;
        a.retry = (mask & MRC_QP_RETRY_CNT ? given : usual).retry;
        a.qp_hint = (mask & MRC_QP_HINT ? given : usual).qp_hint;
        a.cap = (mask & MRC_QP_CAP ? given : usual).cap;
        std::memcpy(a.vendor_cfg, (mask & MRC_QP_VENDOR_CFG ? given : usual).vendor_cfg, sizeof(a.vendor_cfg));
        return a;
    }

    // The kernel's of the last change says the same as @a, as far as it was told.
    void expect_asked(const mrc_qp_attr &a)
    {
        const auto &k = kernel.asked;

        EXPECT_EQ(k.wimm, a.wimm.max_wimm);
        EXPECT_EQ(k.wimm_dest, a.wimm.max_wimm_dest);
        EXPECT_EQ(k.mpr, a.mpr.mpr);
        EXPECT_EQ(k.mpr_dest, a.mpr.mpr_dest);
        EXPECT_EQ(k.timeout, a.timeout);
        EXPECT_EQ(k.ev_profile_id, a.profile.ev_profile_id);
        EXPECT_EQ(k.cc_profile_id, a.profile.cc_profile_id);
        EXPECT_EQ(k.linear_cnt, a.retry.linear_cnt);
        EXPECT_EQ(k.exp_cnt, a.retry.exp_cnt);
        EXPECT_EQ(k.cap, a.cap);
    }

    bool same(const mrc_qp_attr &x, const mrc_qp_attr &y)
    {
        return x.mpr.mpr == y.mpr.mpr && x.mpr.mpr_dest == y.mpr.mpr_dest && x.wimm.max_wimm == y.wimm.max_wimm &&
               x.wimm.max_wimm_dest == y.wimm.max_wimm_dest && x.timeout == y.timeout &&
               x.profile.ev_profile_id == y.profile.ev_profile_id &&
               x.profile.cc_profile_id == y.profile.cc_profile_id && x.retry.linear_cnt == y.retry.linear_cnt &&
               x.retry.exp_cnt == y.retry.exp_cnt && x.qp_hint == y.qp_hint && x.cap == y.cap &&
               !std::memcmp(x.vendor_cfg, y.vendor_cfg, sizeof(x.vendor_cfg));
    }

    int cq_word = 0, qp_word = 0;
    ibv_pd pd = {};
    mrc_comp_channel *channel = nullptr;
    mrc_cq *cq = nullptr;
    mrc_qp *qp = nullptr;
    mrc_qp_hint *hint = nullptr;
    mrc_qp_attr given, usual;
};

TEST_F(app_qp, every_subset_at_every_transition)
{
    for (int at = IBV_QPS_INIT; at <= IBV_QPS_RTS; at++) {
        for (int subset = 0; subset < 2 << n_bits; subset++) {
            const int mask = (subset & ((1 << n_bits) - 1)) | (subset >> n_bits ? MRC_QP_VENDOR_CFG : 0);
            const int late = at == IBV_QPS_RTS ? mask & past_rtr : 0;

            SCOPED_TRACE("to state " + std::to_string(at) + " with " + std::to_string(mask));
            for (int to = IBV_QPS_INIT; to <= IBV_QPS_RTS; to++) {
                ASSERT_EQ(step(static_cast<ibv_qp_state>(to), to == at ? mask : 0, given), 0);
                if (to == IBV_QPS_INIT) // what is usual is said by the library, so both agree
                    EXPECT_EQ(kernel.asked.comp_mask, ((1u << n_bits) - 1) & ~static_cast<uint32_t>(MRC_QP_HINT));
                else
                    EXPECT_EQ(kernel.asked.comp_mask,
                              to == at ? static_cast<uint32_t>(mask & ~(MRC_QP_HINT | MRC_QP_VENDOR_CFG)) : 0);
                if (to == at)
                    expect_asked(mixed(mask));
            }
            ASSERT_TRUE(same(now(), mixed(mask & ~late)));
            ASSERT_EQ(step(IBV_QPS_RESET, 0, given), 0);
            ASSERT_TRUE(same(now(), mixed(late))); // and those are for the next time,
            if (late) {
                ASSERT_EQ(step(IBV_QPS_INIT, 0, given), 0);
                expect_asked(mixed(late));
                ASSERT_EQ(step(IBV_QPS_RESET, 0, given), 0);
                ASSERT_TRUE(same(now(), usual)); // for once
            }
        }
    }
}

TEST_F(app_qp, refused_and_nothing_changed)
{
    const struct {
        int bit;
        std::function<void(mrc_qp_attr &)> spoil;
    } bad[] = {
        {MRC_QP_MAX_WIMM, [](auto &a) { a.wimm.max_wimm = 0; }},
        {MRC_QP_MAX_WIMM_DEST, [](auto &a) { a.wimm.max_wimm_dest = 0; }},
        {MRC_QP_MPR, [](auto &a) { a.mpr.mpr = 0; }},
        {MRC_QP_MPR_DEST, [](auto &a) { a.mpr.mpr_dest = 0; }},
        {MRC_QP_TIMEOUT, [](auto &a) { a.timeout = 25; }},
        {MRC_QP_RETRY_CNT, [](auto &a) { a.retry.linear_cnt = 8; }},
        {MRC_QP_RETRY_CNT, [](auto &a) { a.retry.exp_cnt = 26; }},
        {MRC_QP_CAP, [](auto &a) { a.cap = 8; }},
        {MRC_QP_HINT, [this](auto &a) { a.qp_hint = reinterpret_cast<mrc_qp_hint *>(&cq_word); }},
    };

    for (int at = IBV_QPS_INIT; at <= IBV_QPS_RTS; at++) {
        const auto to = static_cast<ibv_qp_state>(at);
        const auto before = now();
        for (const auto &b : bad) {
            mrc_qp_attr a = given;
            b.spoil(a);
            EXPECT_EQ(step(to, b.bit, a), EINVAL) << "state " << at << " attribute " << b.bit;
            EXPECT_EQ(step(to, all_bits, a), EINVAL) << "state " << at << " attribute " << b.bit;
        }
        EXPECT_EQ(step(to, 1 << n_bits, given), EINVAL);
        kernel.qp_fails = EINVAL; // whatever it says
        EXPECT_EQ(step(to, all_bits, given), EINVAL);
        kernel.qp_fails = 0;
        EXPECT_TRUE(same(now(), before));
        EXPECT_EQ(qp->v->state, at - 1);
        EXPECT_EQ(step(to, 0, given), 0);
    }
    EXPECT_EQ(step(IBV_QPS_RESET, MRC_QP_TIMEOUT, given), EINVAL); // a change that carries none
    EXPECT_EQ(qp->v->state, IBV_QPS_RTS);
}

TEST_F(app_qp, a_hint_is_held_from_any_transition)
{
    for (int at = IBV_QPS_INIT; at <= IBV_QPS_RTS; at++) {
        for (int to = IBV_QPS_INIT; to <= IBV_QPS_RTS; to++)
            ASSERT_EQ(step(static_cast<ibv_qp_state>(to), to >= at ? MRC_QP_HINT : 0, given), 0);
        EXPECT_EQ(mrc_destroy_qp_hint(hint), -1);
        EXPECT_EQ(errno, EBUSY);
        ASSERT_EQ(step(IBV_QPS_RESET, 0, given), 0);
        EXPECT_EQ(hint->n_qps, 0u);
    }
}

TEST_F(app_qp, objects_carry_the_programs_word)
{
    mrc_cq *told = nullptr;
    void *word = nullptr;

    EXPECT_EQ(calls.qp_context, &qp_word);
    EXPECT_EQ(calls.cq_context, &cq_word);
    // Whatever is written there, it is the program's own.
    std::memset(&cq_word, 0xff, sizeof(cq_word));
    std::memset(&qp_word, 0xff, sizeof(qp_word));
    calls.news = cq->v;
    ASSERT_EQ(mrc_get_cq_event(channel, &told, &word), 0);
    EXPECT_EQ(told, cq);
    EXPECT_EQ(word, &cq_word);
    EXPECT_EQ(acked, 1u); // that of the stranger, which has no name here
}

} // namespace
