// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// events.h - what mrc_conn_next() says, asked for by kind: what comes before the kind that
// is asked for is kept until it is asked for itself.
#pragma once

#include <deque>

extern "C" {
#include "conn/mrc_conn.h"
}

class event_tap {
public:
    explicit event_tap(mrc_conn &c) : c_(c) {}

    bool hold(u32 *slot)
    {
        mrc_todo e;

        if (!next(MRC_DO_PLACE, e))
            return false;
        *slot = e.hold;
        return true;
    }
    bool tail(mrc_tail *t)
    {
        mrc_todo e;

        if (!next(MRC_DO_TAIL, e))
            return false;
        *t = e.tail;
        return true;
    }
    bool freed(u16 *slot)
    {
        mrc_todo e;

        if (!next(MRC_DO_FREE, e))
            return false;
        *slot = e.slot;
        return true;
    }
    bool exec(mrc_exec *x)
    {
        mrc_todo e;

        if (!next(MRC_DO_EXEC, e))
            return false;
        *x = e.exec;
        return true;
    }
    bool complete(mrc_cpl *x)
    {
        mrc_todo e;

        if (!next(MRC_DO_COMPLETE, e))
            return false;
        *x = e.cpl;
        return true;
    }
    void forget() { kept_.clear(); }

private:
    bool next(mrc_do what, mrc_todo &e)
    {
        for (auto i = kept_.begin(); i != kept_.end(); ++i)
            if (i->what == what) {
                e = *i;
                kept_.erase(i);
                return true;
            }
        while (mrc_conn_next(&c_, &e)) {
            if (e.what == what)
                return true;
            if (e.what == MRC_DO_PLACE) // is all that is said until it is placed
                return false;
            kept_.push_back(e);
        }
        return false;
    }

    mrc_conn &c_;
    std::deque<mrc_todo> kept_;
};
