// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// controller.cc - see controller.h.
#include "controller.h"

#include <linux/capability.h>
#include <linux/mrc.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <new>

namespace {

// Error numbers that the interface defines; others become EIO.
int code_of(const mrcnl::error &e)
{
    switch (e.code) {
    case EINVAL: case EBUSY: case E2BIG: case ENOENT: case EPERM: case EOPNOTSUPP: case ENOMEM:
        return e.code;
    case EACCES: return EPERM;
    case ERANGE: return EINVAL; // of netlink's own policies
    default: return EIO;
    }
}

mrc_ctl *controller_of(mrc_context *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    if (!ctx->ctl)
        ctx->ctl = new (std::nothrow) mrc_ctl;
    mrc_ctl *c = ctx->ctl;
    pthread_mutex_unlock(&ctx->lock);
    if (!c)
        throw std::bad_alloc();
    return c;
}

} // namespace

void mrc_ctl::check(const mrcnl::error &e)
{
    if (e)
        throw refused{code_of(e), e.text};
}

void mrc_ctl::open(const char *ibdev)
{
    if (owner == getpid() && ifindex)
        return;
    ifindex = 0;
    nl = {};
    check(nl.open(MRC_GENL_NAME));
    owner = getpid();
    mrcnl::request rq(MRC_CMD_DEV_GET);
    check(nl.dump(rq, [&](const mrcnl::message &m) {
        mrcnl::table t(m.attrs);
        if (t[MRC_A_IBDEV_NAME].str() == ibdev)
            ifindex = static_cast<uint32_t>(t[MRC_A_DEV_IFINDEX].num());
    }));
    if (!ifindex)
        throw refused{EIO, std::string(ibdev) + " is not a device of this network namespace"};
}

mrcnl::request mrc_ctl::request(uint8_t cmd) const
{
    mrcnl::request rq(cmd);
    rq.u32(MRC_A_DEV_IFINDEX, ifindex);
    return rq;
}

void mrc_ctl::call(mrcnl::request &rq)
{
    check(nl.call(rq));
}

bool mrc_ctl::call_unless(mrcnl::request &rq, std::initializer_list<int> codes)
{
    auto e = nl.call(rq);

    if (e.from_kernel && std::find(codes.begin(), codes.end(), e.code) != codes.end())
        return false;
    check(e);
    return true;
}

void mrc_ctl::dump(uint8_t cmd,
                   const std::function<void(const mrcnl::table &, const mrcnl::attr_range &)> &each)
{
    auto rq = request(cmd);
    check(nl.dump(rq, [&](const mrcnl::message &m) { each(mrcnl::table(m.attrs), m.attrs); }));
}

int mrc_ctl_run(mrc_context *ctx, const char *call, const std::function<void(mrc_ctl &)> &f)
{
    if (!MRC_IS(ctx, CONTEXT))
        return mrc_minus(EINVAL);
    try {
        mrc_ctl *c = controller_of(ctx);
        std::lock_guard hold(c->lock);
        c->open(ctx->v->device->name);
        f(*c);
        return 0;
    } catch (const refused &r) {
        return mrc_minus(mrc_debug(r.code, "%s: %s", call, r.text.c_str()));
    } catch (const std::exception &) {
        return mrc_minus(ENOMEM);
    }
}

extern "C" void mrc_ctl_free(mrc_ctl *ctl)
{
    delete ctl;
}

void need_admin()
{
    __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct caps[2] = {};

    if (syscall(SYS_capget, &head, caps) || !(caps[0].effective & 1u << CAP_NET_ADMIN))
        throw refused{EPERM, "changes need CAP_NET_ADMIN"};
}

bool state_moves(mrc_ctl_profile_state now, mrc_ctl_profile_state to)
{
    if (now == to)
        return false;
    if ((now == MRC_CTL_PROFILE_INIT && to == MRC_CTL_PROFILE_OFFLINE) ||
        (now == MRC_CTL_PROFILE_OFFLINE && to == MRC_CTL_PROFILE_ONLINE) ||
        (now == MRC_CTL_PROFILE_ONLINE && to == MRC_CTL_PROFILE_OFFLINE) ||
        (now == MRC_CTL_PROFILE_OFFLINE && to == MRC_CTL_PROFILE_INIT))
        return true;
    throw refused{EINVAL, "no way from state " + std::to_string(now) + " to " + std::to_string(to) +
                              ": INIT, OFFLINE, ONLINE and back, one by one"};
}

void check_call(const void *attr, int mask, int known)
{
    if (!attr)
        throw refused{EINVAL, "no attributes"};
    if (mask & ~known)
        throw refused{EINVAL, "the mask has bits that no attribute has"};
}

void check_id(uint64_t id)
{
    if (!id)
        throw refused{EINVAL, "profile id 0 means the device's default and is no profile"};
}
