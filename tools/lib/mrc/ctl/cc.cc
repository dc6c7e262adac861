// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// cc.cc - congestion control profiles.
#include <linux/mrc.h>

#include <cmath>
#include <cstring>

#include "controller.h"

using mrcnl::attr_range;
using mrcnl::table;

namespace {

constexpr int all_bits = MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_CUR_STATE |
                         MRC_CTL_CC_PROFILE_ALGORITHM | MRC_CTL_CC_PROFILE_CONFIG |
                         MRC_CTL_CC_PROFILE_VENDOR_CFG;
constexpr const char *nscc_name = "uet-1.0-nscc";

// ---- numbers: 24.8 and 16.16 in the kernel ----

struct real {
    uint16_t type;
    float mrc_ctl_cc_nscc_cfg::*field;
    float one; // what stands for 1
    const char *name;
};

constexpr real reals[] = {
    {MRC_A_CC_ETA, &mrc_ctl_cc_nscc_cfg::eta, 256, "eta"},
    {MRC_A_CC_FI, &mrc_ctl_cc_nscc_cfg::fi, 256, "fi"},
    {MRC_A_CC_FI_SCALE, &mrc_ctl_cc_nscc_cfg::fi_scale, 65536, "fi_scale"},
    {MRC_A_CC_GAMMA, &mrc_ctl_cc_nscc_cfg::gamma, 65536, "gamma"},
    {MRC_A_CC_MAX_MD_JUMP, &mrc_ctl_cc_nscc_cfg::max_md_jump, 65536, "max_md_jump"},
};

struct whole {
    uint16_t type;
    uint32_t mrc_ctl_cc_nscc_cfg::*field;
};

constexpr whole wholes[] = {
    {MRC_A_CC_ADJUST_BYTES, &mrc_ctl_cc_nscc_cfg::adjust_bytes_threshold},
    {MRC_A_CC_ADJUST_PERIOD, &mrc_ctl_cc_nscc_cfg::adjust_period_threshold},
    {MRC_A_CC_BASE_RTT, &mrc_ctl_cc_nscc_cfg::base_rtt},
    {MRC_A_CC_MAX_CWND, &mrc_ctl_cc_nscc_cfg::max_cwnd},
    {MRC_A_CC_QA_THRESHOLD, &mrc_ctl_cc_nscc_cfg::qa_threshold},
    {MRC_A_CC_TARGET_DELAY, &mrc_ctl_cc_nscc_cfg::target_delay},
};

uint32_t fixed(const real &r, float v)
{
    double scaled = std::nearbyint(static_cast<double>(v) * static_cast<double>(r.one));

    if (!(scaled >= 0 && scaled <= 4294967295.0))
        throw refused{EINVAL, std::string(r.name) + ": negative, too large, or no number"};
    return static_cast<uint32_t>(scaled);
}

// ---- the kernel ----

bool load(mrc_ctl &c, uint64_t id, cc_profile &p)
{
    bool found = false;

    c.dump(MRC_CMD_CC_GET, [&](const table &t, const attr_range &) {
        table cc(t[MRC_A_CC]);
        if (cc[MRC_A_CC_ID].num() != id)
            return;
        found = true;
        p.state = MRC_CTL_PROFILE_ONLINE;
        p.given = all_bits;
        p.nscc = cc[MRC_A_CC_ALGORITHM].str() == nscc_name;
        p.window = static_cast<uint32_t>(cc[MRC_A_CC_WINDOW].num());
        p.trimming = static_cast<uint8_t>(cc[MRC_A_CC_TRIMMING].num());
        p.cfg.disable_qa = static_cast<uint8_t>(cc[MRC_A_CC_DISABLE_QA].num());
        p.cfg.qa_gate = static_cast<uint8_t>(cc[MRC_A_CC_QA_GATE].num());
        for (const auto &w : wholes)
            p.cfg.*w.field = static_cast<uint32_t>(cc[w.type].num());
        for (const auto &r : reals)
            p.cfg.*r.field = static_cast<float>(cc[r.type].num()) / r.one;
    });
    return found;
}

void store(mrc_ctl &c, uint64_t id, const cc_profile &p)
{
    auto rq = c.request(MRC_CMD_CC_SET);
    rq.nest(MRC_A_CC, [&](auto &n) {
        n.u64(MRC_A_CC_ID, id).str(MRC_A_CC_ALGORITHM, p.nscc ? nscc_name : "fixed");
        if (p.window)
            n.u32(MRC_A_CC_WINDOW, p.window);
        if (!p.nscc)
            return;
        n.u8(MRC_A_CC_TRIMMING, p.trimming);
        n.u8(MRC_A_CC_DISABLE_QA, p.cfg.disable_qa).u8(MRC_A_CC_QA_GATE, p.cfg.qa_gate);
        for (const auto &w : wholes)
            n.u32(w.type, p.cfg.*w.field);
        for (const auto &r : reals)
            n.u32(r.type, fixed(r, p.cfg.*r.field));
    });
    c.call(rq);
}

void remove(mrc_ctl &c, uint64_t id)
{
    c.dump(MRC_CMD_QP_GET, [&](const table &t, const attr_range &) {
        if (table(t[MRC_A_QP])[MRC_A_QP_CC_PROFILE_ID].num() == id)
            throw refused{EBUSY, "QPs use CC profile " + std::to_string(id)};
    });
    auto rq = c.request(MRC_CMD_CC_DEL);
    rq.nest(MRC_A_CC, [&](auto &n) { n.u64(MRC_A_CC_ID, id); });
    c.call(rq);
}

// ---- attributes and states ----

cc_profile look_up(mrc_ctl &c, uint64_t id)
{
    auto it = c.ccs.find(id);
    cc_profile p = it == c.ccs.end() ? cc_profile() : it->second;

    if (p.state != MRC_CTL_PROFILE_OFFLINE && !load(c, id, p) && p.state == MRC_CTL_PROFILE_ONLINE)
        p.state = MRC_CTL_PROFILE_OFFLINE; // another controller removed it
    return p;
}

void set_algorithm(cc_profile &p, const char *name)
{
    if (name && std::strcmp(name, nscc_name) != 0)
        throw refused{EINVAL, std::string("algorithm ") + name + ": " + nscc_name + ", or NULL for none"};
    if (p.nscc != (name != nullptr))
        p.window = p.trimming = 0; // the values of the removed profile
    p.nscc = name;
}

void set_config(cc_profile &p, const void *config)
{
    if (!p.nscc) {
        if (config)
            throw refused{EINVAL, "cc_config: no algorithm, no configuration"};
        return;
    }
    if (!config)
        throw refused{EINVAL, "cc_config is NULL"};
    std::memcpy(&p.cfg, config, sizeof(p.cfg));
    if (p.cfg.disable_qa > 1 || p.cfg.qa_gate > 31)
        throw refused{EINVAL, "cc_config: disable_qa 0 or 1, qa_gate 0 ... 31"};
    for (const auto &r : reals)
        fixed(r, p.cfg.*r.field);
}

void move(mrc_ctl &c, uint64_t id, cc_profile &p, mrc_ctl_profile_state to)
{
    if (to == MRC_CTL_PROFILE_ONLINE) {
        if (p.nscc && !(p.given & MRC_CTL_CC_PROFILE_CONFIG))
            throw refused{EINVAL, "to ONLINE: the configuration is needed"};
        store(c, id, p);
    } else if (p.state == MRC_CTL_PROFILE_ONLINE) {
        remove(c, id);
    } else if (to == MRC_CTL_PROFILE_OFFLINE && !(p.given & MRC_CTL_CC_PROFILE_ALGORITHM)) {
        throw refused{EINVAL, "to OFFLINE: the algorithm is needed"};
    }
    p.state = to;
}

void modify(mrc_ctl &c, uint64_t id, const mrc_ctl_cc_profile_attr &a, int mask)
{
    cc_profile p = look_up(c, id);

    if (mask & MRC_CTL_CC_PROFILE_CUR_STATE && a.cur_profile_state != p.state)
        throw refused{EINVAL, "the state is " + std::to_string(p.state) + ", not " +
                                  std::to_string(a.cur_profile_state)};
    if (mask & MRC_CTL_CC_PROFILE_ALGORITHM) {
        if (p.state == MRC_CTL_PROFILE_ONLINE)
            throw refused{EINVAL, "ONLINE: the algorithm stays"};
        set_algorithm(p, a.algorithm);
    }
    if (mask & MRC_CTL_CC_PROFILE_CONFIG)
        set_config(p, a.cc_config);
    if (mask & MRC_CTL_CC_PROFILE_VENDOR_CFG)
        std::memcpy(p.vendor, a.vendor_cfg, sizeof(p.vendor));
    p.given |= static_cast<uint32_t>(mask);
    // One request to the kernel per call, and it comes last: a refused call has changed nothing.
    if (mask & MRC_CTL_CC_PROFILE_STATE && state_moves(p.state, a.profile_state))
        move(c, id, p, a.profile_state);
    else if (p.state == MRC_CTL_PROFILE_ONLINE && mask & MRC_CTL_CC_PROFILE_CONFIG)
        store(c, id, p);
    if (p.state == MRC_CTL_PROFILE_INIT && mask & MRC_CTL_CC_PROFILE_STATE)
        c.ccs.erase(id);
    else
        c.ccs[id] = p;
}

void query(mrc_ctl &c, uint64_t id, mrc_ctl_cc_profile_attr &a, int mask)
{
    cc_profile p = look_up(c, id);

    if (mask & MRC_CTL_CC_PROFILE_CONFIG && p.nscc) {
        if (!a.cc_config)
            throw refused{EINVAL, "cc_config: the caller's memory for the answer is NULL"};
        // The interface declares it const, but it is memory of the caller.
        std::memcpy(const_cast<void *>(a.cc_config), &p.cfg, sizeof(p.cfg));
    }
    if (mask & MRC_CTL_CC_PROFILE_STATE)
        a.profile_state = p.state;
    if (mask & MRC_CTL_CC_PROFILE_CUR_STATE)
        a.cur_profile_state = p.state;
    if (mask & MRC_CTL_CC_PROFILE_ALGORITHM)
        a.algorithm = p.nscc ? nscc_name : nullptr;
    if (mask & MRC_CTL_CC_PROFILE_VENDOR_CFG)
        std::memcpy(a.vendor_cfg, p.vendor, sizeof(p.vendor));
}

} // namespace

extern "C" {

int mrc_ctl_modify_cc_profile(struct mrc_context *ctx, uint64_t id,
                              struct mrc_ctl_cc_profile_attr *attr, int attr_mask)
{
    return mrc_ctl_run(ctx, __func__, [&](mrc_ctl &c) {
        check_call(attr, attr_mask, all_bits);
        check_id(id);
        need_admin();
        modify(c, id, *attr, attr_mask);
    });
}

int mrc_ctl_query_cc_profile(struct mrc_context *ctx, uint64_t id,
                             struct mrc_ctl_cc_profile_attr *attr, int attr_mask)
{
    return mrc_ctl_run(ctx, __func__, [&](mrc_ctl &c) {
        check_call(attr, attr_mask, all_bits);
        check_id(id);
        query(c, id, *attr, attr_mask);
    });
}

} // extern "C"
