// SPDX-License-Identifier: GPL-2.0
// witness.h - looks at a profile before and after a call that may change it: what is refused changed
// nothing, and errors are the documented ones.
#pragma once

#include <functional>

#include "app.h"

extern "C" {
#include "object.h"
}

// Everything that queries tell, as one string of bytes.
struct picture {
    std::string all;
    template <class T> void add(const T &x) { all.append(reinterpret_cast<const char *>(&x), sizeof(x)); }
};

struct silence {
    explicit silence(world &w) : w(w), was(w.quiet) { w.quiet = true; }
    ~silence() { w.quiet = was; }
    world &w;
    bool was;
};

inline picture see_fmt(mrc_context *ctx, u64 id)
{
    picture p;
    mrc_ctl_ev_fmt_profile_attr a = {};
    std::vector<mrc_ctl_ev_fmt_field> fields(16);

    a.ev_fmt_op.op = MRC_CTL_EV_FMT_OP_QUERY_FIELDS;
    a.ev_fmt_op.fmt_fields = fields.data();
    a.ev_fmt_op.fmt_field_count = 16;
    REQUIRE(!mrc_ctl_query_ev_fmt_profile(ctx, id, &a, static_cast<int>(0x8000000fu)));
    a.ev_fmt_op.fmt_fields = nullptr; // no addresses
    p.add(a);
    p.all.append(reinterpret_cast<char *>(fields.data()), static_cast<size_t>(a.ev_fmt_op.fmt_field_count));
    return p;
}

inline picture see_ev(mrc_context *ctx, u64 id)
{
    picture p;
    mrc_ctl_ev_profile_attr a = {};
    std::vector<mrc_ctl_ev_field> fields(64);
    std::vector<mrc_ctl_ev_op_entry> evs;

    a.ev_fields_op.op = MRC_CTL_EV_FIELDS_OP_QUERY_FIELDS;
    a.ev_fields_op.fields = fields.data();
    a.ev_fields_op.field_count = 64;
    REQUIRE(!mrc_ctl_query_ev_profile(ctx, id, &a, static_cast<int>(0x8000017fu)));
    a.ev_op.op = MRC_CTL_EV_OP_QUERY_EV_ARRAY;
    int ret = mrc_ctl_query_ev_profile(ctx, id, &a, MRC_CTL_EV_PROFILE_EV_OP);
    REQUIRE(!ret || errno == EINVAL || errno == E2BIG); // EINVAL: of AUTO, and of none
    if (ret && errno == E2BIG) {
        evs.resize(static_cast<size_t>(a.ev_op.entry_count));
        a.ev_op.entries = evs.data();
        ret = mrc_ctl_query_ev_profile(ctx, id, &a, MRC_CTL_EV_PROFILE_EV_OP);
        REQUIRE(!ret && a.ev_op.entry_count == static_cast<int>(evs.size()));
    }
    a.ev_op.entries = nullptr;
    a.ev_fields_op.fields = nullptr;
    p.add(a);
    p.all.append(reinterpret_cast<char *>(fields.data()),
                 static_cast<size_t>(a.ev_fields_op.field_count) * sizeof(fields[0]));
    for (int i = 0; !ret && i < a.ev_op.entry_count; i++)
        p.add(evs[static_cast<size_t>(i)]);
    return p;
}

inline picture see_cc(mrc_context *ctx, u64 id)
{
    picture p;
    mrc_ctl_cc_profile_attr a = {};
    mrc_ctl_cc_nscc_cfg cfg = {};

    a.cc_config = &cfg;
    REQUIRE(!mrc_ctl_query_cc_profile(ctx, id, &a, static_cast<int>(0x8000000fu)));
    a.algorithm = a.algorithm ? "some" : nullptr;
    a.cc_config = nullptr;
    p.add(a);
    p.add(cfg);
    return p;
}

// Before and after a call that may change something, around it.
struct witness {
    using look = std::function<picture(mrc_context *, u64)>;

    // True: the profile can be looked at.
    witness(program &p, mrc_context *ctx, u64 id, const look &f)
        : p(p), ctx(ctx), id(id), f(f), changes(p.w.net.changes)
    {
        silence s(p.w);
        mrc_ctl_device_attr any;
        int supported;
        auto it = p.w.net.profiles.find(id);
        sees = program::has(p.contexts, ctx) && id && !p.w.net.gone && p.w.ours &&
               (it == p.w.net.profiles.end() || it->second.evs.size() < 64) && // else it takes ages
               !mrc_ctl_query_device_ex(ctx->v, ctx, &any, &supported);
        if (sees)
            before = f(ctx, id);
    }
    void judge(int ret, bool partial)
    {
        int err = errno;

        REQUIRE(!ret || ret == -1);
        REQUIRE(ret || (p.w.admin && program::has(p.contexts, ctx) && id));
        REQUIRE(p.w.admin || p.w.net.changes == changes);
        static const int codes[] = {EINVAL, EBUSY, E2BIG, ENOENT, EPERM, EOPNOTSUPP, ENOMEM, EIO};
        bool known = !ret;
        for (int code : codes)
            known |= code == err;
        REQUIRE(known);
        if (!sees || !ret || partial || !p.w.honest)
            return;
        silence s(p.w);
        picture now = f(ctx, id);
        REQUIRE(now.all == before.all);
    }
    program &p;
    mrc_context *ctx;
    u64 id;
    look f;
    unsigned changes;
    bool sees = false;
    picture before;
};
