// SPDX-License-Identifier: GPL-2.0
// ctl.cc - mrc_ctl.h: see app.h. What is refused changes nothing, but for lists of EVs, of which what was
// done before the one that is refused stays; states move as they may; without CAP_NET_ADMIN
// nothing reaches the kernel.
#include <cstring>

#include "witness.h"

namespace {

using profile_state = mrc_ctl_profile_state;

// @n of T in memory of exactly their size; now and then less than none.
template <class T> struct exact {
    exact(bytes &in, int n) : count(n), at(nullptr)
    {
        if (n < 0 || n > 5000 || in.one_in(16))
            return;
        at = static_cast<T *>(std::malloc(static_cast<size_t>(n) * sizeof(T)));
        std::memset(static_cast<void *>(at), 0x5a, static_cast<size_t>(n) * sizeof(T));
    }
    ~exact() { std::free(at); }
    exact(const exact &) = delete;
    int room() const { return at ? count : 0; }
    int count;
    T *at;
};

int some_count(bytes &in)
{
    static const int counts[] = {0, 1, 2, 3, 4, 16, 17, -1}, large[] = {4096, 4097};
    return in.one_in(32) ? in.any<int>() : in.one_in(16) ? in.pick(large) : in.pick(counts);
}

// Of a few, so that they are met again.
mrc_ctl_ev some_ev(bytes &in)
{
    mrc_ctl_ev ev = {};
    ev.val[0] = static_cast<u8>(in.below(4));
    ev.port = static_cast<u8>(in.one_in(8) ? in.any<u8>() : in.below(5));
    return ev;
}

int some_mask(bytes &in, u32 usual)
{
    return static_cast<int>(in.one_in(16) ? in.any<u32>() : in.any<u32>() & usual);
}

struct ctl_calls {
    program &p;
    world &w;
    bytes &in;
    mrc_context *ctx;
    u64 id;

    explicit ctl_calls(program &p)
        : p(p), w(p.w), in(p.in), ctx(p.pick(p.contexts)),
          id(in.one_in(16) ? in.extreme<u64>() : 1 + in.below(3))
    {
    }
    profile_state some_state()
    {
        return static_cast<profile_state>(in.one_in(16) ? in.any<u8>() : in.below(3));
    }

    void device();
    void port();
    void fmt();
    void ev();
    void ev_query(mrc_ctl_ev_profile_attr &a, int mask);
    void cc();
    void queue();
    void endpoint();
    void make();
};

// What a controller means to do: a format, an EV profile of it that a peer uses, a CC profile, all ONLINE.
// Calls at random hardly ever get that far. (The kernel may refuse any step.)
void ctl_calls::make()
{
    static const mrc_ctl_ev_mode modes[] = {MRC_CTL_EV_MODE_EXP, MRC_CTL_EV_MODE_GEN, MRC_CTL_EV_MODE_EXP,
                                            MRC_CTL_EV_MODE_AUTO};
    mrc_ctl_ev_fmt_profile_attr f = {};
    mrc_ctl_ev_profile_attr a = {};
    mrc_ctl_ev_fmt_field width = {32};
    mrc_ctl_ev_field field = {32, 0, 0, 3, 3};
    mrc_ctl_ev_op_entry e[3] = {};
    u32 n = 1 + in.below(3);

    f.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_STEV;
    f.ev_fmt_op.fmt_fields = &width;
    f.ev_fmt_op.fmt_field_count = 1;
    a.ev_mode = in.pick(modes);
    a.ev_fmt_profile_id = id;
    a.ev_count = n;
    a.ev_event_mask = 3;
    a.ev_op.entries = e;
    a.ev_op.entry_count = static_cast<int>(n);
    for (auto &x : e) {
        x.ev_new = some_ev(in);
        x.ev_new.port = static_cast<u8>(1 + in.below(4));
        x.state = MRC_CTL_EV_GOOD;
    }
    a.ev_fields_op.fields = &field;
    a.ev_fields_op.field_count = 1;
    int mask = MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_FMT_ID |
               MRC_CTL_EV_PROFILE_COUNT | MRC_CTL_EV_PROFILE_MIN_ACTIVE | MRC_CTL_EV_PROFILE_EVENT_MASK;
    mask |= a.ev_mode == MRC_CTL_EV_MODE_EXP ? MRC_CTL_EV_PROFILE_EV_OP :
            a.ev_mode == MRC_CTL_EV_MODE_GEN ? MRC_CTL_EV_PROFILE_EV_FIELDS_OP : 0;
    for (int state = MRC_CTL_PROFILE_OFFLINE; state <= MRC_CTL_PROFILE_ONLINE; state++) {
        f.profile_state = a.profile_state = static_cast<profile_state>(state);
        mrc_ctl_modify_ev_fmt_profile(ctx, id, &f, state == MRC_CTL_PROFILE_OFFLINE ? 0xd : 1);
    }
    a.profile_state = MRC_CTL_PROFILE_OFFLINE;
    mrc_ctl_modify_ev_profile(ctx, id, &a, mask);
    a.profile_state = MRC_CTL_PROFILE_ONLINE;
    int ret = mrc_ctl_modify_ev_profile(ctx, id, &a, MRC_CTL_EV_PROFILE_STATE);
    REQUIRE(ret || w.net.profiles.contains(id) || !w.honest);
    if (!ret)
        p.meet(id);
    mrc_ctl_cc_nscc_cfg cfg = {};
    mrc_ctl_cc_profile_attr cc = {};
    cc.algorithm = in.below(2) ? "uet-1.0-nscc" : nullptr;
    cc.cc_config = cc.algorithm ? &cfg : nullptr;
    cc.profile_state = MRC_CTL_PROFILE_OFFLINE;
    mrc_ctl_modify_cc_profile(ctx, id, &cc, 0xd);
    cc.profile_state = MRC_CTL_PROFILE_ONLINE;
    ret = mrc_ctl_modify_cc_profile(ctx, id, &cc, 1);
    REQUIRE(ret || w.net.ccs.contains(id) || !w.honest);
}

void ctl_calls::device()
{
    mrc_ctl_device_attr a;
    int supported = -1;
    u32 v[2];

    mrc_ctl_query_version(&v[0], in.below(2) ? &v[1] : nullptr, nullptr, nullptr);
    auto *c = in.one_in(8) ? nullptr : &w.ctx[in.below(2)];
    int ret = in.below(2) ? mrc_ctl_query_device(c, in.one_in(8) ? nullptr : &a) :
                            mrc_ctl_query_device_ex(c, ctx, in.one_in(8) ? nullptr : &a,
                                                    in.one_in(8) ? nullptr : &supported);
    REQUIRE(!ret || ret == -1);
    if (!ret && supported) {
        REQUIRE(w.ours && a.ev.ev_max_count_profile == 4096);
        REQUIRE(std::string(a.cc.algorithms[0]) == "uet-1.0-nscc" && !a.cc.algorithms[1]);
    }
}

void ctl_calls::port()
{
    mrc_ctl_port_attr a = {};
    u8 port = in.one_in(8) ? in.any<u8>() : static_cast<u8>(1 + in.below(4));
    int mask = in.one_in(8) ? in.any<int>() : 1;
    unsigned changes = w.net.changes;

    a.port_admin_state = static_cast<mrc_ctl_port_admin_state>(in.one_in(8) ? in.any<u8>() : in.below(2));
    bool was = w.net.planes.contains(port) && w.net.planes[port];
    if (in.below(2)) {
        int ret = mrc_ctl_modify_port(ctx, port, in.one_in(8) ? nullptr : &a, mask);
        REQUIRE(ret ? w.net.changes == changes : w.admin && (w.net.planes.contains(port) || !w.honest));
        REQUIRE(!w.net.planes.contains(port) || w.net.planes[port] == (ret || !mask ? was : a.port_admin_state));
    } else {
        int ret = mrc_ctl_query_port(ctx, port, in.one_in(8) ? nullptr : &a, mask);
        REQUIRE(ret || !w.honest || (w.net.planes.contains(port) && (!mask || a.port_admin_state == w.net.planes[port])));
    }
}

void ctl_calls::fmt()
{
    mrc_ctl_ev_fmt_profile_attr a = {};
    int n = in.one_in(4) ? some_count(in) : 2;
    exact<mrc_ctl_ev_fmt_field> fields(in, n);
    int mask = in.below(4) ? MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_MODE | MRC_CTL_EV_FMT_PROFILE_OP :
                             some_mask(in, 0x8000000fu);

    a.profile_state = some_state();
    a.cur_profile_state = some_state();
    a.ev_fmt_mode = static_cast<mrc_ctl_ev_fmt_mode>(in.one_in(8) ? in.any<u8>() : 1u << in.below(3));
    if (in.one_in(3) && a.profile_state != MRC_CTL_PROFILE_OFFLINE)
        mask = MRC_CTL_EV_FMT_PROFILE_STATE;
    a.ev_fmt_op.fmt_fields = fields.at;
    a.ev_fmt_op.fmt_field_count = fields.at ? n : some_count(in);
    for (int i = 0; i < fields.room(); i++)
        fields.at[i].width = i > 2 ? 1 : static_cast<u8>(in.one_in(8) ? in.any<u8>() : in.below(12));
    if (in.one_in(4)) {
        a.ev_fmt_op.op = static_cast<mrc_ctl_ev_fmt_op>(in.below(3));
        mrc_ctl_query_ev_fmt_profile(ctx, id, in.one_in(16) ? nullptr : &a, mask);
        return;
    }
    a.ev_fmt_op.op = static_cast<mrc_ctl_ev_fmt_op>(in.one_in(16) ? 1 : 0);
    witness see(p, ctx, id, see_fmt);
    int ret = mrc_ctl_modify_ev_fmt_profile(ctx, id, in.one_in(16) ? nullptr : &a, mask);
    see.judge(ret, false);
}

void ctl_calls::ev_query(mrc_ctl_ev_profile_attr &a, int mask)
{
    int room = a.ev_op.entry_count, fields = a.ev_fields_op.field_count;
    silence s(w);

    a.ev_op.op = static_cast<mrc_ctl_ev_op>(in.below(5));
    a.ev_fields_op.op = static_cast<mrc_ctl_ev_fields_op>(in.below(3));
    if (!mrc_ctl_query_ev_profile(ctx, id, in.one_in(16) ? nullptr : &a, mask))
        return;
    if (errno == E2BIG && w.honest) // and says how much is needed
        REQUIRE(a.ev_op.entry_count > room || a.ev_fields_op.field_count > fields || room > 4096);
}

void ctl_calls::ev()
{
    mrc_ctl_ev_profile_attr a = {};
    static const int usual[] = {0x17f & ~2, 0xff & ~2, 0x1, 0x80, 0x100, 0x81};
    int mask = in.one_in(4) ? some_mask(in, 0x800001ffu) : in.pick(usual);
    int n = in.one_in(4) ? some_count(in) : static_cast<int>(in.below(4));
    exact<mrc_ctl_ev_op_entry> entries(in, n);
    int m = in.one_in(4) ? some_count(in) : 2;
    exact<mrc_ctl_ev_field> fields(in, m);
    static const mrc_ctl_ev_state states[] = {MRC_CTL_EV_GOOD, MRC_CTL_EV_DENIED, MRC_CTL_EV_GOOD,
                                              MRC_CTL_EV_ASSUMED_BAD};

    a.profile_state = some_state();
    a.cur_profile_state = some_state();
    a.ev_mode = static_cast<mrc_ctl_ev_mode>(in.one_in(16) ? in.any<u8>() : 1u << in.below(3));
    a.ev_fmt_profile_id = in.one_in(16) ? in.any<u64>() : 1 + in.below(3);
    a.ev_count = in.one_in(8) ? static_cast<u32>(some_count(in)) : 1 + in.below(3);
    a.ev_min_active = in.one_in(8) ? in.extreme<u32>() : in.below(2);
    a.ev_event_mask = static_cast<int>(in.one_in(8) ? in.any<u32>() : in.below(4));
    a.ev_op.entries = entries.at;
    a.ev_op.entry_count = entries.at ? n : some_count(in);
    for (int i = 0; i < entries.room(); i++) {
        auto &e = entries.at[i];
        e = i > 3 ? entries.at[i - 1] : mrc_ctl_ev_op_entry();
        if (i > 3)
            continue;
        auto it = w.net.profiles.find(id);
        e.ev = in.one_in(3) ? some_ev(in) : MRC_CTL_EV_UNPOPULATED;
        if (it != w.net.profiles.end() && !it->second.evs.empty() && in.below(4))
            e.ev = it->second.evs[in.below(static_cast<u32>(it->second.evs.size()))];
        e.ev_new = some_ev(in);
        e.state = in.pick(states);
        e.flags = in.one_in(8) ? in.extreme<u32>() : in.below(2);
    }
    a.ev_fields_op.fields = fields.at;
    a.ev_fields_op.field_count = fields.at ? m : some_count(in);
    for (int i = 0; i < fields.room(); i++)
        fields.at[i] = i > 2 ? fields.at[0] : mrc_ctl_ev_field{in.below(12), in.below(9), in.below(4), in.below(4), in.extreme<u8>()};
    if (in.one_in(4)) {
        ev_query(a, mask);
        return;
    }
    a.ev_op.op = static_cast<mrc_ctl_ev_op>(in.one_in(16) ? in.below(5) : in.below(2));
    a.ev_fields_op.op = static_cast<mrc_ctl_ev_fields_op>(in.one_in(16) ? 1 : 0);
    witness see(p, ctx, id, see_ev);
    int ret = mrc_ctl_modify_ev_profile(ctx, id, in.one_in(16) ? nullptr : &a, mask);
    see.judge(ret, mask & MRC_CTL_EV_PROFILE_EV_OP);
}

void ctl_calls::cc()
{
    mrc_ctl_cc_profile_attr a = {};
    mrc_ctl_cc_nscc_cfg cfg = {};
    static const char *const names[] = {"uet-1.0-nscc", "uet-1.0-nscc", nullptr, "", "cubic\n"};
    int mask = in.below(3) ? MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_ALGORITHM | MRC_CTL_CC_PROFILE_CONFIG :
                             some_mask(in, 0x8000000fu);

    a.profile_state = some_state();
    a.cur_profile_state = some_state();
    if (in.one_in(3))
        mask = MRC_CTL_CC_PROFILE_STATE | (in.below(2) ? MRC_CTL_CC_PROFILE_CONFIG : 0);
    a.algorithm = in.pick(names);
    cfg.disable_qa = in.one_in(8) ? in.any<u8>() : 0;
    cfg.qa_gate = in.one_in(8) ? in.any<u8>() : 3;
    u32 word = in.one_in(8) ? in.any<u32>() : 0x3f000000; // any float: negative, NaN, infinite
    std::memcpy(&cfg.eta, &word, sizeof(word));
    cfg.fi_scale = cfg.gamma = 0.25f;
    cfg.max_cwnd = in.extreme<u32>();
    a.cc_config = in.one_in(4) ? nullptr : &cfg;
    if (in.one_in(4)) {
        mrc_ctl_query_cc_profile(ctx, id, in.one_in(16) ? nullptr : &a, mask);
        return;
    }
    witness see(p, ctx, id, see_cc);
    int ret = mrc_ctl_modify_cc_profile(ctx, id, in.one_in(16) ? nullptr : &a, mask);
    see.judge(ret, false);
}

void ctl_calls::queue()
{
    if (in.one_in(3) && p.event_cqs.size() < 3) {
        auto *ch = in.one_in(4) ? p.pick(p.channels) : nullptr;
        auto *cq = mrc_ctl_create_ev_event_cq(ctx, static_cast<int>(in.one_in(4) ? in.any<u32>() : 1 + in.below(3)), &p, ch, 0);
        REQUIRE(cq ? (!ch || p.owner[ch] == ctx) && w.admin && program::has(p.contexts, ctx) : errno);
        if (cq) {
            p.event_cqs.push_back(cq);
            p.owner[cq] = ctx;
        }
        return;
    }
    auto *cq = in.one_in(8) ? p.pick(p.cqs) : p.pick(p.event_cqs);
    int n = static_cast<int>(in.below(5)) - 1;
    exact<mrc_ctl_ev_event> events(in, n);
    int got = mrc_ctl_poll_ev_event(cq, n, events.at);
    REQUIRE((got < 0 && got == -errno) || (got >= 0 && got <= n && program::has(p.event_cqs, cq)));
}

void ctl_calls::endpoint()
{
    int most = in.one_in(16) ? 40000 : 3, n = static_cast<int>(in.below(static_cast<u32>(most) + 1)) - 1, got = -7;
    exact<mrc_ctl_ep_req> req(in, n);
    exact<mrc_ctl_ep_rsp> rsp(in, n);

    if (mrc_ctl_ep_batch_send_wait(ctx, in.any<u8>(), static_cast<mrc_ctl_ep_op_type>(in.below(3)), req.at, n,
                                   in.below(3), rsp.at, &got) == 0)
        REQUIRE(w.admin && program::has(p.contexts, ctx) && n > 0 && got == n);
    else
        REQUIRE(errno && (got == -7 || (got >= 0 && got <= n)));
}

} // namespace

void program::control()
{
    ctl_calls c(*this);

    switch (in.below(14)) {
    case 0: c.device(); break;
    case 1: c.port(); break;
    case 2: case 3: c.fmt(); break;
    case 4: case 5: case 6: case 7: c.ev(); break;
    case 8: case 9: c.cc(); break;
    case 10: c.queue(); break;
    case 11: case 12: c.make(); break;
    default: c.endpoint();
    }
}
