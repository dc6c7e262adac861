// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// device.cc - a device from its controller's view: limits, capabilities, ports.
#include <linux/mrc.h>

#include <cstring>

#include "controller.h"
#include "profile.h"

extern "C" {
#include "uverbs.h"
}

namespace {

constexpr uint32_t most_profiles = 16384; // the kernel's limit per device
constexpr uint32_t most_evs = 4096;       // the kernel's limit per profile
constexpr uint32_t most_ccs = 256;

// The interface returns a list that the caller could write to; nothing here relies on it.
const char *const algorithms[] = {"uet-1.0-nscc", nullptr};

uint32_t evs_taken(mrc_ctl &c)
{
    uint32_t n = 0;

    c.dump(MRC_CMD_PROFILE_GET, [&](const mrcnl::table &t, const mrcnl::attr_range &) {
        for (auto a : t[MRC_A_PROFILE].nested())
            n += a.type() == MRC_A_PROFILE_EV;
    });
    return n;
}

void fill_device(mrc_ctl &c, mrc_ctl_device_attr &a)
{
    a.mrc_ctl_protocol_version = MRC_CTL_PROTOCOL_VERSION_1;
    a.ev.ev_max_fmt_profiles = most_profiles;
    a.ev.ev_max_profiles = most_profiles;
    a.ev.ev_max_count = most_profiles * most_evs;
    a.ev.ev_free_count = a.ev.ev_max_count - evs_taken(c);
    a.ev.ev_max_count_profile = most_evs;
    a.ev.ev_count_align = 1;
    a.ev.ev_max_width = 8 * MRC_CTL_EV_MAX_BYTES;
    a.ev.ev_fmt_mode_mask =
        MRC_CTL_EV_FMT_MODE_STEV | MRC_CTL_EV_FMT_MODE_SRV6 | MRC_CTL_EV_FMT_MODE_UDP;
    a.ev.ev_mode_mask = MRC_CTL_EV_MODE_AUTO | MRC_CTL_EV_MODE_EXP | MRC_CTL_EV_MODE_GEN;
    a.ev.ev_op_max_entries = most_evs;
    a.cc.cc_max_profiles = most_ccs;
    a.cc.algorithms = const_cast<const char **>(algorithms);
    a.phy_port_mask = ports_shown(ports_of(c));
    a.opt_attr = MRC_CTL_OPT_CAP_EV_PROFILE_MODIFY_ONLINE |
                 MRC_CTL_OPT_CAP_CC_PROFILE_MODIFY_ONLINE | MRC_CTL_OPT_CAP_EV_EVENT |
                 MRC_CTL_OPT_CAP_EV_EVENT_PRECISE_DROP_CNT | MRC_CTL_OPT_CAP_EP_OP_EV_PROBE;
}

// Calls f() with the plane of that number. An error if there is none.
template <class F> void with_plane(mrc_ctl &c, uint8_t port, F &&f)
{
    bool found = false;

    c.dump(MRC_CMD_PLANE_GET, [&](const mrcnl::table &t, const mrcnl::attr_range &) {
        mrcnl::table p(t[MRC_A_PLANE]);
        if (p[MRC_A_PLANE_NUMBER].num() != port)
            return;
        found = true;
        f(p);
    });
    if (!found)
        throw refused{EINVAL, "there is no port " + std::to_string(port)};
}

} // namespace

uint32_t ports_of(mrc_ctl &c)
{
    uint32_t mask = 0;

    c.dump(MRC_CMD_PLANE_GET, [&](const mrcnl::table &t, const mrcnl::attr_range &) {
        auto n = mrcnl::table(t[MRC_A_PLANE])[MRC_A_PLANE_NUMBER].num();
        if (n >= 1 && n <= 32)
            mask |= 1u << (n - 1);
    });
    return mask;
}

extern "C" {

void mrc_ctl_query_version(uint32_t *current_version, uint32_t *last_supported_version,
                           uint32_t *vendor_version, uint32_t *last_supported_vendor_version)
{
    if (current_version)
        *current_version = MRC_CTL_API_CURRENT_VERSION;
    if (last_supported_version)
        *last_supported_version = MRC_CTL_API_LAST_SUPPORTED_VERSION;
    if (vendor_version)
        *vendor_version = MRC_CTL_VENDOR_API_CURRENT_VERSION;
    if (last_supported_vendor_version)
        *last_supported_vendor_version = MRC_CTL_VENDOR_API_LAST_SUPPORTED_VERSION;
}

int mrc_ctl_query_device_ex(struct ibv_context *context, struct mrc_context *mcontext,
                            struct mrc_ctl_device_attr *attr, int *supported)
{
    mrc_context *own = nullptr;

    if (!context || !attr || !supported ||
        (mcontext && (!MRC_IS(mcontext, CONTEXT) || mcontext->v != context)))
        return mrc_minus(EINVAL);
    std::memset(attr, 0, sizeof(*attr));
    *supported = mrc_uverbs_is_ours(context);
    if (!*supported)
        return 0;
    if (!mcontext) {
        own = mrc_create_context(context, nullptr);
        if (!own)
            return -1;
    }
    int ret = mrc_ctl_run(mcontext ? mcontext : own, __func__,
                          [&](mrc_ctl &c) { fill_device(c, *attr); });
    if (own) {
        int err = errno;
        mrc_destroy_context(own);
        errno = err;
    }
    return ret;
}

int mrc_ctl_query_device(struct ibv_context *context, struct mrc_ctl_device_attr *attr)
{
    int supported = 0;

    if (mrc_ctl_query_device_ex(context, nullptr, attr, &supported))
        return -1;
    return supported ? 0 : mrc_minus(EOPNOTSUPP);
}

int mrc_ctl_query_port(struct mrc_context *ctx, uint8_t port_num, struct mrc_ctl_port_attr *attr,
                       int attr_mask)
{
    return mrc_ctl_run(ctx, __func__, [&](mrc_ctl &c) {
        check_call(attr, attr_mask, MRC_CTL_PORT_ADMIN_STATE);
        with_plane(c, port_num, [&](const mrcnl::table &p) {
            attr->port_admin_state = p[MRC_A_PLANE_ADMIN].num() ? MRC_CTL_PORT_ADMIN_ENABLED :
                                                                  MRC_CTL_PORT_ADMIN_DISABLED;
        });
    });
}

int mrc_ctl_modify_port(struct mrc_context *ctx, uint8_t port_num, struct mrc_ctl_port_attr *attr,
                        int attr_mask)
{
    return mrc_ctl_run(ctx, __func__, [&](mrc_ctl &c) {
        check_call(attr, attr_mask, MRC_CTL_PORT_ADMIN_STATE);
        need_admin();
        with_plane(c, port_num, [](const mrcnl::table &) {});
        if (!attr_mask)
            return;
        if (attr->port_admin_state != MRC_CTL_PORT_ADMIN_ENABLED &&
            attr->port_admin_state != MRC_CTL_PORT_ADMIN_DISABLED)
            throw refused{EINVAL, "port_admin_state is neither ENABLED nor DISABLED"};
        auto rq = c.request(MRC_CMD_PLANE_SET);
        rq.nest(MRC_A_PLANE, [&](auto &n) {
            n.u8(MRC_A_PLANE_NUMBER, port_num);
            n.u8(MRC_A_PLANE_ADMIN, attr->port_admin_state == MRC_CTL_PORT_ADMIN_ENABLED);
        });
        c.call(rq);
    });
}

} // extern "C"
