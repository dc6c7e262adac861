// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// tracker.cc - see tracker.h.
#include "tracker.h"

#include <algorithm>

namespace mrcver {

namespace {

constexpr double kSure = 0.9;         // in a short window; a longer one says what else it may be
constexpr double kShort = 2;          // seconds: a window that does

}   // namespace

void Damper::bad(double now)
{
    while (!times_.empty() && now - times_.front() > kFlapTime)
        times_.pop_front();
    if (hold_ > 0 && now - went_good_ > kFlapTime)
        hold_ = 0;
    times_.push_back(now);
    if (hold_ > 0)
        hold_ = std::min(2 * hold_, kHoldMax);
    else if (times_.size() >= kFlapsMax)
        hold_ = kFlapTime;
    until_ = now + hold_;
}

bool Damper::good(double now, double last_loss)
{
    if (now - last_loss < kCleanTime || now < until_)
        return false;
    went_good_ = now;
    return true;
}

void Tracker::compact()
{
    for (std::size_t i = 0; i + 1 < slices_.size();) {
        Evidence &a = slices_[i], &b = slices_[i + 1];
        if (b.to - a.from <= grain(now_ - b.to)) {
            a.add(b);
            slices_.erase(slices_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        } else {
            i++;
        }
    }
    while (!slices_.empty() && now_ - slices_.front().to > windows_.back().length)
        slices_.pop_front();
    sent_.forget(now_ - windows_.back().length);
    sent_.compact(now_);
}

std::vector<Change> Tracker::add(const Evidence &slice)
{
    std::vector<Change> changes;

    if (begin_ == 0)
        begin_ = slice.from;
    for (const auto &[host, sent] : slice.hosts)
        sent_.add(host, std::max(slice.from, now_), slice.to, sent);
    now_ = std::max(now_, slice.to);
    slices_.push_back({slice.from, slice.to, {}, slice.failed, slice.traffic});
    compact();
    for (std::size_t i = 0; i < windows_.size(); i++) {
        Window &w = windows_[i];
        // As long as nothing is older, a shorter window sees the same.
        if (now_ < w.next || (i > 0 && now_ - begin_ <= windows_[i - 1].length))
            continue;
        w.next = now_ + w.each;
        judge(w, changes);
    }
    forgive(changes);
    return changes;
}

void Tracker::judge(Window &w, std::vector<Change> &changes)
{
    Evidence sum;
    std::set<Part> known;

    // From the first slice with losses on: what is dead for a second of twelve does not drop a twelfth, and two crossings
    // of it are no two chances.
    const auto end = std::find_if(slices_.rbegin(), slices_.rend(), [&](const Evidence &e) { return now_ - e.to >= w.length; });
    auto first = end;
    while (first != slices_.rbegin() && std::prev(first)->failed.empty())
        --first;
    for (auto it = slices_.rbegin(); it != first; ++it)
        sum.add(*it);
    if (sum.failed.empty())
        return;
    sum.hosts = sent_.between(sum.from, now_);
    for (const auto &[part, k] : known_)
        if (k.finding.symptom != Symptom::kStalled)
            known.insert(part);
    Inferred r = infer(layout_, sum, plans_, known, alone_);
    for (const Finding &f : r.findings) {
        if (const auto it = known_.find(f.part); it != known_.end() && it->second.bad)
            it->second.finding.last = std::max(it->second.finding.last, f.last);
        const bool sure = alone_ || f.confidence >= kSure || w.length > kShort || known.count(f.part);
        if (f.losses < kLossesWanted - 0.01 || !(f.confirmed || (alone_ && f.fits)) || !sure)
            continue;
        blame(f, changes);
        if (f.symptom == Symptom::kStalled)
            leave_out(f.part.a, w);
    }
    last_ = std::move(r);
}

// The host was starved: its probes tell nothing about paths, now and in longer windows.
void Tracker::leave_out(unsigned host, const Window &w)
{
    for (auto it = slices_.rbegin(); it != slices_.rend() && now_ - it->to < w.length; ++it)
        std::erase_if(it->failed, [&](const auto &x) { return x.first.host == host; });
}

void Tracker::blame(const Finding &f, std::vector<Change> &changes)
{
    Known &k = known_[f.part];

    // It is known, and what is seen is old.
    if (k.changed != 0 && !k.bad && f.last <= k.finding.last)
        return;
    const Finding before = k.finding;
    if (k.bad) {
        // A short window sees best how bad it is, and many losses how it fails.
        if (f.losses >= before.losses)
            k.finding = f;
        k.finding.loss = std::max(f.loss, before.loss);
        k.finding.since = std::min(f.since, before.since);
        k.finding.last = std::max(f.last, before.last);
        if (k.finding.fault() != before.fault())
            changes.push_back({f.part, true, now_});
        return;
    }
    k.finding = f;
    k.finding.last = std::max(f.last, before.last);
    k.bad = true;
    k.changed = now_;
    k.since = f.since;
    k.damper.bad(now_);
    changes.push_back({f.part, true, now_});
    for (auto it = known_.begin(); it != known_.end();)
        if (within(it->first, f.part)) {
            if (it->second.bad)
                changes.push_back({it->first, false, now_});
            it = known_.erase(it);
        } else {
            ++it;
        }
}

void Tracker::forgive(std::vector<Change> &changes)
{
    for (auto it = known_.begin(); it != known_.end();) {
        Known &k = it->second;
        if (k.bad && k.damper.good(now_, k.finding.last)) {
            k.bad = false;
            k.changed = now_;
            changes.push_back({it->first, false, now_});
            forget(it->first);
        }
        // Nothing in any window is of it any more, and no flap counts.
        if (!k.bad && now_ - k.changed > std::max(kFlapTime, windows_.back().length))
            it = known_.erase(it);
        else
            ++it;
    }
}

// What it lost is explained. In a long window, beside the losses of a later fault, it would count against a part that
// both have in common, such as the NIC.
void Tracker::forget(const Part &part)
{
    for (Evidence &e : slices_) {
        std::erase_if(e.failed, [&](const auto &x) {
            const Crossings list = crossings(x.first);
            return std::any_of(list.begin(), list.end(), [&](const Crossing &c) { return c.part == part; });
        });
        std::erase_if(e.traffic.links, [&](const auto &x) { return x.first == part || within(x.first, part); });
    }
}

}   // namespace mrcver
