// SPDX-License-Identifier: GPL-2.0
// test_ctl_errors.cc - each error that mrc_ctl(7) documents, provoked at least once in each way that it
// names: the number is the documented one, and nothing changed. And no call has an error that is not
// documented here.
#include <set>
#include <utility>

#include "refusals.h"

namespace {

// 0 or errno, of calls that say -1 and of those that say -errno.
int number_of(int ret)
{
    return ret == -1 ? errno : ret < 0 ? -ret : ret;
}

// ---- what is documented: mrc_ctl(7) ----

using pair = std::pair<std::string, int>;

std::set<pair> documented()
{
    static const struct {
        const char *call;
        std::vector<int> errors;
    } calls[] = {
        {qdev, {EINVAL, EOPNOTSUPP, EIO}},
        {qdev_ex, {EINVAL, EIO}},
        {qport, {EINVAL, EIO}},
        {mport, {EINVAL, EPERM, EIO}},
        {mfmt, {EINVAL, E2BIG, EBUSY, EPERM, EIO}},
        {qfmt, {EINVAL, E2BIG}},
        {mev, {EINVAL, ENOENT, E2BIG, EBUSY, EPERM, EIO}},
        {qev, {EINVAL, ENOENT, E2BIG, EIO}},
        {mcc, {EINVAL, EBUSY, EPERM, EIO}},
        {qcc, {EINVAL, EIO}},
        {make_cq, {EINVAL, EPERM, EIO}},
        {poll_cq, {EINVAL, EIO}},
        {ep, {EINVAL, E2BIG, ENOENT, EPERM, ETIMEDOUT, EIO}},
    };
    std::set<pair> all;

    for (const auto &c : calls)
        for (int err : c.errors)
            all.insert({c.call, err});
    return all;
}

class ctl_errors : public ctl {
  protected:
    int cc_to(mrc_ctl_profile_state to, int mask, const mrc_ctl_cc_nscc_cfg *cfg)
    {
        mrc_ctl_cc_profile_attr x = {};
        x.profile_state = to;
        x.algorithm = "uet-1.0-nscc";
        x.cc_config = cfg;
        return mrc_ctl_modify_cc_profile(ctx, id, &x, MRC_CTL_CC_PROFILE_STATE | mask);
    }

    void enter(scene s)
    {
        const mrc_ctl_cc_nscc_cfg derived = {};

        if (s == scene::nothing)
            return;
        offline(2, 1);
        ASSERT_EQ(cc_to(MRC_CTL_PROFILE_OFFLINE, MRC_CTL_CC_PROFILE_ALGORITHM, nullptr), 0);
        if (s == scene::offline)
            return;
        ASSERT_EQ(ev_state(MRC_CTL_PROFILE_ONLINE), 0);
        ASSERT_EQ(cc_to(MRC_CTL_PROFILE_ONLINE, MRC_CTL_CC_PROFILE_CONFIG, &derived), 0);
        if (s == scene::used)
            kernel.peers[a] = peer_of(2);
    }

    // All that the kernel and the library say, as text.
    std::string seen()
    {
        std::string text;
        mrc_ctl_ev_fmt_field widths[16] = {};
        std::vector<mrc_ctl_ev_op_entry> evs(4);
        mrc_ctl_ev_fmt_profile_attr f = {};
        mrc_ctl_ev_profile_attr e = {};
        mrc_ctl_cc_profile_attr c = {};
        mrc_ctl_cc_nscc_cfg cfg = {};
        auto add = [&](auto... n) { ((text += std::to_string(n) + " "), ...); };

        for (const auto &[number, p] : kernel.profiles)
            add(number, p.mode, p.fmt, p.min_active, p.evs.size());
        for (const auto &[number, k] : kernel.ccs)
            add(number, k.window, k.trimming, k.base_rtt);
        for (const auto &[gid, peer] : kernel.peers)
            for (const auto &path : peer.paths)
                add(path.ev.val[1], path.state);
        f.ev_fmt_op = {MRC_CTL_EV_FMT_OP_QUERY_FIELDS, widths, 16};
        e.ev_op = {MRC_CTL_EV_OP_QUERY_EV_ARRAY, evs.data(), 4};
        c.cc_config = &cfg;
        add(mrc_ctl_query_ev_fmt_profile(ctx, id, &f, 13), mrc_ctl_query_ev_profile(ctx, id, &e, 0x7d),
            mrc_ctl_query_ev_profile(ctx, id, &e, 0x80), mrc_ctl_query_cc_profile(ctx, id, &c, 13));
        add(f.profile_state, f.ev_fmt_mode, f.ev_fmt_op.fmt_field_count, widths[0].width, e.profile_state,
            e.ev_mode, e.ev_fmt_profile_id, e.ev_count, e.ev_min_active, e.ev_event_mask, e.ev_op.entry_count,
            c.profile_state, cfg.base_rtt, cfg.max_cwnd);
        for (const auto &x : evs)
            add(x.ev.val[1], x.ev.port, x.state);
        return text;
    }
};

TEST_F(ctl_errors, refused_by_the_number_and_nothing_changed)
{
    for (const auto &r : refusals) {
        SCOPED_TRACE(std::string(r.call) + ": " + r.why);
        kernel = {};
        use(nullptr);
        enter(r.where);
        std::string before = seen();
        errno = 0;
        EXPECT_EQ(number_of(r.f(ctx)), r.err) << std::strerror(errno);
        kernel.fails.clear();
        kernel.is_ours = true;
        kernel.ibdev = "mrc0";
        EXPECT_EQ(seen(), before);
    }
}

TEST_F(ctl_errors, every_documented_one_is_here_and_no_other)
{
    std::set<pair> provoked;

    for (const auto &r : refusals)
        provoked.insert({r.call, r.err});
    for (const auto &[call, err] : documented())
        EXPECT_TRUE(provoked.contains({call, err})) << call << ": nobody provokes " << std::strerror(err);
    for (const auto &[call, err] : provoked)
        EXPECT_TRUE(documented().contains({call, err})) << call << ": " << std::strerror(err) << " is not documented";
}

} // namespace
