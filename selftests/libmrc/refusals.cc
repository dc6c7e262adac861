// SPDX-License-Identifier: GPL-2.0
// refusals.cc - see refusals.h; judged by test_ctl_errors.cc.
#include "refusals.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

constexpr int state = 1, cur_state = 2; // of all three kinds

// ---- calls with one thing said ----

using fmt_attr = mrc_ctl_ev_fmt_profile_attr;
using ev_attr = mrc_ctl_ev_profile_attr;
using cc_attr = mrc_ctl_cc_profile_attr;

template <class A> using with = std::function<void(A &)>;

int fmt(mrc_context *c, int mask, const with<fmt_attr> &set, uint64_t of = id)
{
    fmt_attr x = {};
    x.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_UDP;
    set(x);
    return mrc_ctl_modify_ev_fmt_profile(c, of, &x, mask);
}

int ev(mrc_context *c, int mask, const with<ev_attr> &set, uint64_t of = id)
{
    ev_attr x = {};
    x.ev_mode = MRC_CTL_EV_MODE_GEN;
    set(x);
    return mrc_ctl_modify_ev_profile(c, of, &x, mask);
}

int cc(mrc_context *c, int mask, const with<cc_attr> &set, uint64_t of = id)
{
    cc_attr x = {};
    set(x);
    return mrc_ctl_modify_cc_profile(c, of, &x, mask);
}

// One operation on one EV.
int op(mrc_context *c, mrc_ctl_ev_op what, mrc_ctl_ev_op_entry e)
{
    return ev(c, MRC_CTL_EV_PROFILE_EV_OP, [&](auto &x) { x.ev_op = {what, &e, 1}; });
}

int query_op(mrc_context *c, mrc_ctl_ev_op what, mrc_ctl_ev_op_entry *e, int n)
{
    ev_attr x = {};
    x.ev_op = {what, e, n};
    return mrc_ctl_query_ev_profile(c, id, &x, MRC_CTL_EV_PROFILE_EV_OP);
}

mrc_ctl_ev on_port(uint8_t port)
{
    auto e = fake_ev(9);
    e.port = port;
    return e;
}

// Without CAP_NET_ADMIN, which comes back.
template <class F> int unprivileged(F &&f)
{
    __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct caps[2] = {};

    EXPECT_EQ(syscall(SYS_capget, &head, caps), 0);
    caps[0].effective &= ~(1u << CAP_NET_ADMIN);
    EXPECT_EQ(syscall(SYS_capset, &head, caps), 0);
    int ret = f(), err = errno;
    caps[0].effective |= 1u << CAP_NET_ADMIN;
    EXPECT_EQ(syscall(SYS_capset, &head, caps), 0);
    errno = err;
    return ret;
}

// The kernel refuses the next command of that kind.
template <class F> int failing(int cmd, int code, F &&f)
{
    kernel.fails[cmd] = code;
    return f();
}

// With news waiting; the look at them fails with @code.
int poll(mrc_context *c, int n, bool array, int code = 0)
{
    mrc_cq *cq = mrc_ctl_create_ev_event_cq(c, 4, nullptr, nullptr, 0);
    mrc_ctl_ev_event event[4];

    kernel.events = code != 0;
    kernel.fails[MRC_CMD_EV_GET] = code;
    int ret = mrc_ctl_poll_ev_event(cq, n, array ? event : nullptr), err = errno;

    mrc_ev_queue_free(cq->events);
    std::free(cq);
    errno = err;
    return ret;
}

int queue_of(mrc_context *c, int room, mrc_comp_channel *channel)
{
    return mrc_ctl_create_ev_event_cq(c, room, nullptr, channel, 0) ? 0 : -1;
}

// Of a context that is not that of the call.
mrc_comp_channel a_channel = {MRC_KIND_CHANNEL, nullptr, nullptr, -1, 0, 0};

// ---- the table ----

mrc_ctl_ev_fmt_field wide[17] = {{9}, {9}};
mrc_ctl_ev_field fields[17] = {};
mrc_ctl_ev_op_entry entries[4097] = {};
mrc_ctl_cc_nscc_cfg config = {};

auto none = [](auto &) {};
auto to(int s)
{
    return [s](auto &x) { x.profile_state = static_cast<mrc_ctl_profile_state>(s); };
}

// Probes by one port; @err: why the kernel does not send them.
int ask(mrc_context *c, int n, mrc_ctl_ep_op_type op, int err = 0, uint8_t port = 1, int fmt = MRC_CTL_EV_FMT_MODE_UDP)
{
    std::vector<mrc_ctl_ep_req> req(static_cast<size_t>(n > 0 ? n : 1));
    std::vector<mrc_ctl_ep_rsp> rsp(req.size());
    int got = 0;

    for (auto &r : req) {
        r.req_ev = fake_ev(1);
        r.req_ev.port = port;
        r.ev_fmt_mode = static_cast<mrc_ctl_ev_fmt_mode>(fmt);
    }
    if (err)
        kernel.refuses[port] = err;
    int ret = mrc_ctl_ep_batch_send_wait(c, 0, op, req.data(), n, 1000, rsp.data(), &got);
    kernel.refuses.clear();
    return ret;
}

} // namespace

const std::vector<refusal> refusals = {
    {qdev, EINVAL, "no attributes", scene::nothing,
     [](auto *c) { return mrc_ctl_query_device(c->v, nullptr); }},
    {qdev, EOPNOTSUPP, "not our device", scene::nothing,
     [](auto *c) { mrc_ctl_device_attr x; kernel.is_ours = false; return mrc_ctl_query_device(c->v, &x); }},
    {qdev, EIO, "a device of another namespace", scene::nothing,
     [](auto *c) { mrc_ctl_device_attr x; kernel.ibdev = "mrc1"; return mrc_ctl_query_device(c->v, &x); }},
    {qdev_ex, EINVAL, "a context of another device", scene::nothing,
     [](auto *c) {
         mrc_ctl_device_attr x;
         ibv_context other = {};
         int supported;
         return mrc_ctl_query_device_ex(&other, c, &x, &supported);
     }},
    {qdev_ex, EIO, "a device of another namespace", scene::nothing,
     [](auto *c) {
         mrc_ctl_device_attr x;
         int supported;
         kernel.ibdev = "mrc1";
         return mrc_ctl_query_device_ex(c->v, nullptr, &x, &supported);
     }},
    {qport, EINVAL, "no such port", scene::nothing,
     [](auto *c) { mrc_ctl_port_attr x; return mrc_ctl_query_port(c, 2, &x, 1); }},
    {qport, EINVAL, "port 0", scene::nothing,
     [](auto *c) { mrc_ctl_port_attr x; return mrc_ctl_query_port(c, 0, &x, 1); }},
    {qport, EINVAL, "no attributes", scene::nothing,
     [](auto *c) { return mrc_ctl_query_port(c, 1, nullptr, 1); }},
    {qport, EIO, "the kernel does not answer", scene::nothing,
     [](auto *c) {
         mrc_ctl_port_attr x;
         return failing(MRC_CMD_PLANE_GET, ETIMEDOUT, [&] { return mrc_ctl_query_port(c, 1, &x, 1); });
     }},
    {mport, EINVAL, "no such port", scene::nothing,
     [](auto *c) { mrc_ctl_port_attr x = {}; return mrc_ctl_modify_port(c, 33, &x, 1); }},
    {mport, EINVAL, "neither state", scene::nothing,
     [](auto *c) {
         mrc_ctl_port_attr x = {static_cast<mrc_ctl_port_admin_state>(2)};
         return mrc_ctl_modify_port(c, 1, &x, 1);
     }},
    {mport, EINVAL, "a bit that no attribute has", scene::nothing,
     [](auto *c) { mrc_ctl_port_attr x = {}; return mrc_ctl_modify_port(c, 1, &x, 2); }},
    {mport, EPERM, "no privilege", scene::nothing,
     [](auto *c) {
         mrc_ctl_port_attr x = {};
         return unprivileged([&] { return mrc_ctl_modify_port(c, 1, &x, 1); });
     }},
    {mport, EIO, "the kernel's own trouble", scene::nothing,
     [](auto *c) {
         mrc_ctl_port_attr x = {};
         return failing(MRC_CMD_PLANE_SET, ENODEV, [&] { return mrc_ctl_modify_port(c, 1, &x, 1); });
     }},

    {mfmt, EINVAL, "id 0", scene::nothing, [](auto *c) { return fmt(c, 4, none, 0); }},
    {mfmt, EINVAL, "no attributes", scene::nothing,
     [](auto *c) { return mrc_ctl_modify_ev_fmt_profile(c, id, nullptr, 4); }},
    {mfmt, EINVAL, "a bit that no attribute has", scene::nothing, [](auto *c) { return fmt(c, 16, none); }},
    {mfmt, EINVAL, "no such mode", scene::nothing,
     [](auto *c) {
         return fmt(c, 4, [](auto &x) { x.ev_fmt_mode = static_cast<mrc_ctl_ev_fmt_mode>(3); });
     }},
    {mfmt, EINVAL, "OFFLINE without a mode", scene::nothing, [](auto *c) { return fmt(c, state, to(1)); }},
    {mfmt, EINVAL, "ONLINE at once", scene::nothing, [](auto *c) { return fmt(c, state | 4, to(2)); }},
    {mfmt, EINVAL, "no such state", scene::offline, [](auto *c) { return fmt(c, state, to(3)); }},
    {mfmt, EINVAL, "another state than believed", scene::offline, [](auto *c) { return fmt(c, cur_state, none); }},
    {mfmt, EINVAL, "ONLINE: mode", scene::offline, [](auto *c) { return fmt(c, 4, none); }},
    {mfmt, EINVAL, "no fields", scene::nothing, [](auto *c) { return fmt(c, 8, none); }},
    {mfmt, EINVAL, "a query", scene::nothing,
     [](auto *c) { return fmt(c, 8, [](auto &x) { x.ev_fmt_op = {MRC_CTL_EV_FMT_OP_QUERY_FIELDS, wide, 1}; }); }},
    {mfmt, E2BIG, "17 fields", scene::nothing,
     [](auto *c) { return fmt(c, 12, [](auto &x) { x.ev_fmt_op = {MRC_CTL_EV_FMT_OP_MODIFY_FIELDS, wide, 17}; }); }},
    {mfmt, E2BIG, "18 bits of 16", scene::nothing,
     [](auto *c) { return fmt(c, 12, [](auto &x) { x.ev_fmt_op = {MRC_CTL_EV_FMT_OP_MODIFY_FIELDS, wide, 2}; }); }},
    {mfmt, EBUSY, "an EV profile that is ONLINE uses it", scene::online,
     [](auto *c) { return fmt(c, state, to(1)); }},
    {mfmt, EPERM, "no privilege", scene::nothing,
     [](auto *c) { return unprivileged([&] { return fmt(c, 5, to(1)); }); }},
    {mfmt, EIO, "the kernel does not answer", scene::online,
     [](auto *c) { return failing(MRC_CMD_PROFILE_GET, ETIMEDOUT, [&] { return fmt(c, state, to(1)); }); }},
    {qfmt, EINVAL, "id 0", scene::nothing,
     [](auto *c) { fmt_attr x = {}; return mrc_ctl_query_ev_fmt_profile(c, 0, &x, 1); }},
    {qfmt, EINVAL, "a modification", scene::offline,
     [](auto *c) { fmt_attr x = {}; return mrc_ctl_query_ev_fmt_profile(c, id, &x, 8); }},
    {qfmt, E2BIG, "too little room", scene::offline,
     [](auto *c) {
         fmt_attr x = {};
         x.ev_fmt_op.op = MRC_CTL_EV_FMT_OP_QUERY_FIELDS;
         int ret = mrc_ctl_query_ev_fmt_profile(c, id, &x, 8);
         EXPECT_EQ(x.ev_fmt_op.fmt_field_count, 1);
         return ret;
     }},

    {mev, EINVAL, "id 0", scene::nothing, [](auto *c) { return ev(c, 4, none, 0); }},
    {mev, EINVAL, "no attributes", scene::nothing,
     [](auto *c) { return mrc_ctl_modify_ev_profile(c, id, nullptr, 4); }},
    {mev, EINVAL, "a bit that no attribute has", scene::nothing, [](auto *c) { return ev(c, 1 << 9, none); }},
    {mev, EINVAL, "no such mode", scene::nothing,
     [](auto *c) { return ev(c, 4, [](auto &x) { x.ev_mode = static_cast<mrc_ctl_ev_mode>(3); }); }},
    {mev, EINVAL, "no EVs", scene::nothing, [](auto *c) { return ev(c, 16, none); }},
    {mev, EINVAL, "news of EVs denied", scene::nothing,
     [](auto *c) { return ev(c, 64, [](auto &x) { x.ev_event_mask = MRC_CTL_EV_DENIED; }); }},
    {mev, EINVAL, "OFFLINE without what it needs", scene::nothing, [](auto *c) { return ev(c, state | 4, to(1)); }},
    {mev, EINVAL, "ONLINE at once", scene::nothing, [](auto *c) { return ev(c, state, to(2)); }},
    {mev, EINVAL, "more that stay than there are", scene::offline,
     [](auto *c) { return ev(c, state | 32, [](auto &x) { to(2)(x); x.ev_min_active = 3; }); }},
    {mev, EINVAL, "ONLINE with EVs not replaced", scene::offline,
     [](auto *c) { return ev(c, state | 16, [](auto &x) { to(2)(x); x.ev_count = 3; }); }},
    {mev, EINVAL, "ONLINE of a format that is not", scene::offline,
     [](auto *c) { return ev(c, state | 8, [](auto &x) { to(2)(x); x.ev_fmt_profile_id = 2; }); }},
    {mev, EINVAL, "another state than believed", scene::offline, [](auto *c) { return ev(c, cur_state, none); }},
    {mev, EINVAL, "ONLINE: count", scene::online,
     [](auto *c) { return ev(c, 16, [](auto &x) { x.ev_count = 1; }); }},
    {mev, EINVAL, "no entries", scene::offline,
     [](auto *c) { return ev(c, 128, [](auto &x) { x.ev_op = {MRC_CTL_EV_OP_REPLACE_EV, nullptr, 1}; }); }},
    {mev, EINVAL, "less than no entries", scene::offline,
     [](auto *c) { return ev(c, 128, [](auto &x) { x.ev_op = {MRC_CTL_EV_OP_REPLACE_EV, entries, -1}; }); }},
    {mev, EINVAL, "a query", scene::offline, [](auto *c) { return op(c, MRC_CTL_EV_OP_QUERY_EV_ARRAY, {}); }},
    {mev, EINVAL, "an EV of a plane that is not there", scene::offline,
     [](auto *c) { return op(c, MRC_CTL_EV_OP_REPLACE_EV, {fake_ev(0), on_port(2), MRC_CTL_EV_GOOD, 0}); }},
    {mev, EINVAL, "an EV of no plane", scene::offline,
     [](auto *c) { return op(c, MRC_CTL_EV_OP_REPLACE_EV, {fake_ev(0), on_port(0), MRC_CTL_EV_GOOD, 0}); }},
    {mev, EINVAL, "an EV that a controller calls ASSUMED_BAD", scene::used,
     [](auto *c) { return op(c, MRC_CTL_EV_OP_MODIFY_EV_STATE, {fake_ev(0), {}, MRC_CTL_EV_ASSUMED_BAD, 0}); }},
    {mev, EINVAL, "flags that are none", scene::offline,
     [](auto *c) { return op(c, MRC_CTL_EV_OP_REPLACE_EV, {fake_ev(0), fake_ev(9), MRC_CTL_EV_GOOD, 2}); }},
    {mev, EINVAL, "fields that are none", scene::nothing,
     [](auto *c) { return ev(c, 0x104, [](auto &x) { x.ev_fields_op = {MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS, nullptr, 1}; }); }},
    {mev, ENOENT, "no such EV to replace", scene::offline,
     [](auto *c) { return op(c, MRC_CTL_EV_OP_REPLACE_EV, {fake_ev(5), fake_ev(9), MRC_CTL_EV_GOOD, 0}); }},
    {mev, ENOENT, "no such EV to deny", scene::used,
     [](auto *c) { return op(c, MRC_CTL_EV_OP_MODIFY_EV_STATE, {fake_ev(5), {}, MRC_CTL_EV_DENIED, 0}); }},
    {mev, E2BIG, "4,097 EVs", scene::nothing,
     [](auto *c) { return ev(c, 16, [](auto &x) { x.ev_count = 4097; }); }},
    {mev, E2BIG, "4,097 entries", scene::offline,
     [](auto *c) { return ev(c, 128, [](auto &x) { x.ev_op = {MRC_CTL_EV_OP_REPLACE_EV, entries, 4097}; }); }},
    {mev, E2BIG, "17 fields", scene::nothing,
     [](auto *c) { return ev(c, 0x104, [](auto &x) { x.ev_fields_op = {MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS, fields, 17}; }); }},
    {mev, EBUSY, "a QP uses it", scene::used, [](auto *c) { return ev(c, state, to(1)); }},
    {mev, EBUSY, "the kernel: the last EV of a peer", scene::used,
     [](auto *c) {
         return failing(MRC_CMD_EV_SET, EBUSY, [&] {
             return op(c, MRC_CTL_EV_OP_MODIFY_EV_STATE, {fake_ev(0), {}, MRC_CTL_EV_DENIED, 0});
         });
     }},
    {mev, EINVAL, "fields of AUTO", scene::nothing,
     [](auto *c) {
         return ev(c, 0x104, [](auto &x) {
             x.ev_mode = MRC_CTL_EV_MODE_AUTO;
             x.ev_fields_op = {MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS, fields, 1};
         });
     }},
    {mev, EINVAL, "EVs and fields at once", scene::offline,
     [](auto *c) {
         return ev(c, 0x180, [](auto &x) {
             x.ev_op = {MRC_CTL_EV_OP_REPLACE_EV, entries, 1};
             x.ev_fields_op = {MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS, fields, 1};
         });
     }},
    {mev, EINVAL, "ONLINE with fields of no bits", scene::offline,
     [](auto *c) {
         return ev(c, state | 0x100, [](auto &x) {
             to(2)(x);
             x.ev_fields_op = {MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS, fields, 1};
         });
     }},
    {mev, EINVAL, "ONLINE with EVs wider than the masks", scene::offline,
     [](auto *c) {
         static mrc_ctl_ev_field narrow = {16, 0, 0, 3, 3};
         return ev(c, state | 0x100, [](auto &x) {
             to(2)(x);
             x.ev_fields_op = {MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS, &narrow, 1};
         });
     }},
    {mev, EBUSY, "all EVs denied", scene::online,
     [](auto *c) {
         mrc_ctl_ev_op_entry all[2] = {{fake_ev(0), {}, MRC_CTL_EV_DENIED, 0}, {fake_ev(1), {}, MRC_CTL_EV_DENIED, 0}};
         return ev(c, 0x80, [&](auto &x) { x.ev_op = {MRC_CTL_EV_OP_MODIFY_EV_STATE, all, 2}; });
     }},
    {mev, EPERM, "no privilege", scene::used,
     [](auto *c) {
         return unprivileged([&] {
             return op(c, MRC_CTL_EV_OP_MODIFY_EV_STATE, {fake_ev(0), {}, MRC_CTL_EV_DENIED, 0});
         });
     }},
    {mev, EPERM, "the kernel sees no privilege", scene::offline,
     [](auto *c) { return failing(MRC_CMD_PROFILE_SET, EACCES, [&] { return ev(c, state, to(2)); }); }},
    {mev, EIO, "the kernel's own trouble", scene::offline,
     [](auto *c) { return failing(MRC_CMD_PROFILE_SET, ENODEV, [&] { return ev(c, state, to(2)); }); }},
    {qev, EINVAL, "no attributes", scene::nothing,
     [](auto *c) { return mrc_ctl_query_ev_profile(c, id, nullptr, 1); }},
    {qev, EINVAL, "EVs of no profile", scene::nothing,
     [](auto *c) { return query_op(c, MRC_CTL_EV_OP_QUERY_EV_ARRAY, entries, 4); }},
    {qev, EINVAL, "EVs and fields at once", scene::offline,
     [](auto *c) { ev_attr x = {}; return mrc_ctl_query_ev_profile(c, id, &x, 0x180); }},
    {qev, EINVAL, "a modification", scene::offline,
     [](auto *c) { return query_op(c, MRC_CTL_EV_OP_REPLACE_EV, entries, 1); }},
    {qev, ENOENT, "no such EV", scene::online,
     [](auto *c) {
         mrc_ctl_ev_op_entry e = {fake_ev(5), {}, {}, 0};
         return query_op(c, MRC_CTL_EV_OP_QUERY_EV_STATE, &e, 1);
     }},
    {qev, E2BIG, "too little room", scene::online,
     [](auto *c) {
         ev_attr x = {};
         x.ev_op = {MRC_CTL_EV_OP_QUERY_EV_ARRAY, entries, 1};
         int ret = mrc_ctl_query_ev_profile(c, id, &x, MRC_CTL_EV_PROFILE_EV_OP);
         EXPECT_EQ(x.ev_op.entry_count, 2);
         return ret;
     }},
    {qev, EIO, "the kernel does not answer", scene::online,
     [](auto *c) {
         return failing(MRC_CMD_PROFILE_GET, ETIMEDOUT,
                        [&] { return query_op(c, MRC_CTL_EV_OP_QUERY_EV_ARRAY, entries, 4); });
     }},

    {mcc, EINVAL, "id 0", scene::nothing, [](auto *c) { return cc(c, 4, none, 0); }},
    {mcc, EINVAL, "no such algorithm", scene::nothing,
     [](auto *c) { return cc(c, 4, [](auto &x) { x.algorithm = "bbr"; }); }},
    {mcc, EINVAL, "OFFLINE without an algorithm", scene::nothing, [](auto *c) { return cc(c, state, to(1)); }},
    {mcc, EINVAL, "ONLINE at once", scene::nothing, [](auto *c) { return cc(c, state | 4, to(2)); }},
    {mcc, EINVAL, "ONLINE without a configuration", scene::offline, [](auto *c) { return cc(c, state, to(2)); }},
    {mcc, EINVAL, "no configuration", scene::offline, [](auto *c) { return cc(c, 8, none); }},
    {mcc, EINVAL, "a configuration of no algorithm", scene::nothing,
     [](auto *c) { return cc(c, 12, [](auto &x) { x.cc_config = &config; }); }},
    {mcc, EINVAL, "a number that is none", scene::offline,
     [](auto *c) {
         mrc_ctl_cc_nscc_cfg bad = {};
         bad.gamma = -1;
         return cc(c, 8, [&](auto &x) { x.cc_config = &bad; });
     }},
    {mcc, EINVAL, "qa_gate 32", scene::offline,
     [](auto *c) {
         mrc_ctl_cc_nscc_cfg bad = {};
         bad.qa_gate = 32;
         return cc(c, 8, [&](auto &x) { x.cc_config = &bad; });
     }},
    {mcc, EINVAL, "ONLINE: algorithm", scene::online, [](auto *c) { return cc(c, 4, none); }},
    {mcc, EINVAL, "another state than believed", scene::online, [](auto *c) { return cc(c, cur_state, none); }},
    {mcc, EBUSY, "the kernel: the device's default", scene::online,
     [](auto *c) { return failing(MRC_CMD_CC_DEL, EBUSY, [&] { return cc(c, state, to(1)); }); }},
    {mcc, EBUSY, "with a new configuration", scene::online,
     [](auto *c) {
         static mrc_ctl_cc_nscc_cfg other;
         other.base_rtt = 77;
         return failing(MRC_CMD_CC_DEL, EBUSY,
                        [&] { return cc(c, state | 8, [](auto &x) { to(1)(x); x.cc_config = &other; }); });
     }},
    {mcc, EPERM, "no privilege", scene::online,
     [](auto *c) { return unprivileged([&] { return cc(c, state, to(1)); }); }},
    {mcc, EIO, "the kernel's own trouble", scene::online,
     [](auto *c) { return failing(MRC_CMD_CC_DEL, ENODEV, [&] { return cc(c, state, to(1)); }); }},
    {qcc, EINVAL, "no memory for the configuration", scene::online,
     [](auto *c) { cc_attr x = {}; return mrc_ctl_query_cc_profile(c, id, &x, 8); }},
    {qcc, EIO, "the kernel does not answer", scene::online,
     [](auto *c) {
         cc_attr x = {};
         return failing(MRC_CMD_CC_GET, ETIMEDOUT, [&] { return mrc_ctl_query_cc_profile(c, id, &x, 1); });
     }},

    {make_cq, EINVAL, "no entries", scene::nothing, [](auto *c) { return queue_of(c, 0, nullptr); }},
    {make_cq, EINVAL, "with a channel of another context", scene::nothing, [](auto *c) { return queue_of(c, 4, &a_channel); }},
    {make_cq, EPERM, "no privilege", scene::nothing,
     [](auto *c) { return unprivileged([&] { return queue_of(c, 4, nullptr); }); }},
    {make_cq, EIO, "the kernel does not answer", scene::nothing,
     [](auto *c) { return failing(MRC_CMD_EV_GET, ETIMEDOUT, [&] { return queue_of(c, 4, nullptr); }); }},
    {poll_cq, EINVAL, "no queue", scene::nothing,
     [](auto *) { mrc_ctl_ev_event e; return mrc_ctl_poll_ev_event(nullptr, 1, &e); }},
    {poll_cq, EINVAL, "less than none", scene::nothing, [](auto *c) { return poll(c, -1, true); }},
    {poll_cq, EINVAL, "no array", scene::nothing, [](auto *c) { return poll(c, 1, false); }},
    {poll_cq, EIO, "the kernel does not answer", scene::used,
     [](auto *c) { return poll(c, 1, true, ETIMEDOUT); }},
    {ep, EINVAL, "no context", scene::nothing, [](auto *) { return ask(nullptr, 1, MRC_CTL_EP_OP_EV_PROBE); }},
    {ep, EINVAL, "no requests", scene::nothing, [](auto *c) { return ask(c, 0, MRC_CTL_EP_OP_EV_PROBE); }},
    {ep, EINVAL, "less than none", scene::nothing, [](auto *c) { return ask(c, -1, MRC_CTL_EP_OP_EV_PROBE); }},
    {ep, EINVAL, "unknown operation", scene::nothing,
     [](auto *c) { return ask(c, 1, static_cast<mrc_ctl_ep_op_type>(2)); }},
    {ep, E2BIG, "too many", scene::nothing, [](auto *c) { return ask(c, 32769, MRC_CTL_EP_OP_EV_PROBE); }},
    {ep, EPERM, "no privilege", scene::nothing,
     [](auto *c) { return unprivileged([&] { return ask(c, 1, MRC_CTL_EP_OP_EV_PROBE); }); }},
    {ep, EINVAL, "no such port", scene::nothing,
     [](auto *c) { return ask(c, 1, MRC_CTL_EP_OP_EV_PROBE, 0, 2); }},
    {ep, EINVAL, "a port status of port 0", scene::nothing,
     [](auto *c) {
         mrc_ctl_ep_req r = {};
         mrc_ctl_ep_rsp rsp;
         int got = 0;
         r.req_ev = fake_ev(1);
         r.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_UDP;
         r.op.port_status_update.port_status = 1;
         return mrc_ctl_ep_batch_send_wait(c, 0, MRC_CTL_EP_OP_PORT_STATUS_UPDATE, &r, 1, 1000, &rsp, &got);
     }},
    {ep, EINVAL, "unknown format", scene::nothing,
     [](auto *c) { return ask(c, 1, MRC_CTL_EP_OP_EV_PROBE, 0, 1, 3); }},
    {ep, ENOENT, "no such peer", scene::nothing, [](auto *c) { return ask(c, 1, MRC_CTL_EP_OP_EV_PROBE, ENOENT); }},
    {ep, EINVAL, "not our address", scene::nothing,
     [](auto *c) { return ask(c, 1, MRC_CTL_EP_OP_EV_PROBE, EADDRNOTAVAIL); }},
    {ep, EINVAL, "this host", scene::nothing, [](auto *c) { return ask(c, 1, MRC_CTL_EP_OP_EV_PROBE, EINVAL); }},
    {ep, EINVAL, "a peer without QPs", scene::nothing,
     [](auto *c) { return ask(c, 1, MRC_CTL_EP_OP_PORT_STATUS_UPDATE, ENOTCONN); }},
    {ep, ETIMEDOUT, "its plane is down", scene::nothing,
     [](auto *c) { return ask(c, 1, MRC_CTL_EP_OP_EV_PROBE, ENETDOWN); }},
    {ep, ETIMEDOUT, "no room at the kernel's", scene::nothing,
     [](auto *c) { return ask(c, 1, MRC_CTL_EP_OP_EV_PROBE, EBUSY); }},
    {ep, EIO, "the kernel does not answer", scene::nothing,
     [](auto *c) {
         return failing(MRC_CMD_EP_SEND, ETIMEDOUT, [&] { return ask(c, 1, MRC_CTL_EP_OP_EV_PROBE); });
     }},
};

