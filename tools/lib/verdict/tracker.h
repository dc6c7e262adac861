// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// tracker.h - verdicts over time: evidence comes in slices, is judged in windows of several lengths,
// and parts become bad and good again, damped.
//
//	window    judged each    finds
//	1 s       slice          what is dead
//	12 s      1 s            1 % of loss
//	2 min     10 s           0.1 %
//	20 min    1 min          0.01 %
#pragma once

#include <array>
#include <deque>
#include <map>
#include <vector>

#include "infer.h"

namespace mrcver {

// When a part that was bad counts as good again.
class Damper {
public:
    void bad(double now);
    bool good(double now, double last_loss);   // and from then on

    double held_until() const { return until_; }
    unsigned flaps() const { return static_cast<unsigned>(times_.size()); }

private:
    std::deque<double> times_;   // when it became bad, of the last ten minutes
    double hold_ = 0, until_ = 0, went_good_ = 0;
};

inline constexpr double kCleanTime = 60, kFlapTime = 600, kHoldMax = 7200;
inline constexpr unsigned kFlapsMax = 3;

struct Known {
    Finding finding;
    bool bad = false;
    double since = 0, changed = 0;
    Damper damper;
};

struct Change {
    Part part;
    bool bad = false;
    double when = 0;
};

class Tracker {
public:
    explicit Tracker(const Layout &layout, bool alone = false) : layout_(layout), plans_(layout), alone_(alone)
    {
    }

    // What was found since the slice before. Returns what changed at its end.
    std::vector<Change> add(const Evidence &slice);

    const std::map<Part, Known> &known() const { return known_; }
    // Losses that no part explains, in the window of that number of seconds that was judged last.
    const Inferred &last() const { return last_; }
    double now() const { return now_; }

private:
    struct Window {
        double length, each;
        double next = 0;
    };

    void compact();
    void judge(Window &w, std::vector<Change> &changes);
    void blame(const Finding &f, std::vector<Change> &changes);
    void leave_out(unsigned host, const Window &w);
    void forgive(std::vector<Change> &changes);
    void forget(const Part &part);

    const Layout &layout_;
    Plans plans_;
    bool alone_;
    std::deque<Evidence> slices_;      // without what hosts sent
    SentLog sent_;
    std::array<Window, 4> windows_{{{1, 0}, {12, 1}, {120, 10}, {1200, 60}}};
    std::map<Part, Known> known_;
    Inferred last_;
    double now_ = 0, begin_ = 0;
};

}   // namespace mrcver
