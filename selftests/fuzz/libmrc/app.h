// SPDX-License-Identifier: GPL-2.0
// app.h - a program on mrc.h and mrc_ctl.h that does anything in any order, and knows what the
// interface promises about it.
#pragma once

#include "world.h"

struct a_qp {
    mrc_qp *qp = nullptr;
    ibv_qp_state state = IBV_QPS_RESET;
    mrc_qp_hint *hint = nullptr;
};

// All handles it has; of each kind a few.
struct program {
    explicit program(world &w) : w(w), in(w.in) {}

    world &w;
    bytes &in;
    std::vector<mrc_context *> contexts;
    std::vector<mrc_comp_channel *> channels;
    std::vector<mrc_cq *> cqs, event_cqs;
    std::vector<mrc_qp_hint *> hints;
    std::vector<a_qp> qps;
    std::map<void *, mrc_context *> owner;

    // A handle of @from, mostly; or none, or of another kind.
    template <class T> T *pick(const std::vector<T *> &from)
    {
        if (!from.empty() && !in.one_in(8))
            return from[in.below(static_cast<u32>(from.size()))];
        return static_cast<T *>(stranger());
    }
    // NULL, memory of somebody else, or an object of the library of whatever kind.
    void *stranger();
    template <class T> static bool has(const std::vector<T *> &all, const T *one)
    {
        for (const T *x : all)
            if (x == one)
                return true;
        return false;
    }
    template <class T> void forget(std::vector<T *> &all, T *one)
    {
        std::erase(all, one);
        owner.erase(one);
    }
    a_qp *find(const mrc_qp *qp);
    size_t of(const mrc_context *ctx) const;

    void act();     // one call
    void control(); // likewise, of mrc_ctl.h: ctl.cc
    void meet(u64 id); // a peer whose path set is of EV profile @id
    void end();     // everything goes, in the right order

private:
    void context_calls();
    void channel_calls();
    void cq_calls();
    void hint_calls();
    void qp_life();
    void qp_modify();
    void qp_post();
    void events();
    void others();

    junk_object junk_;
};
