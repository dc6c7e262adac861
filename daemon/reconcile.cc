// SPDX-License-Identifier: GPL-2.0
// reconcile.cc - see reconcile.h.
#include "reconcile.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace mrcd {

namespace {

// One pass for the present objects, one for those that depend on them, and some for changes
// meanwhile.
constexpr int kPasses = 6;
constexpr unsigned kPutRightLines = 10;

}   // namespace

void Reconciler::want(Desired desired)
{
    if (!fresh_)
        before_ = want_;
    held_.reset();
    if (want_.device)
        policy_.retired_profiles.insert(want_.device->profile_id);
    set_want(std::move(desired));
    if (want_.device)
        policy_.retired_profiles.erase(want_.device->profile_id);
    policy_.mtu_refused.clear();
    unsupported_.clear();
    fresh_ = true;
    confirmed_ = false;
}

void Reconciler::set_want(Desired desired)
{
    want_ = std::move(desired);
    settled_ = false;
    link_names_.clear();
    for (const WantedLink &w : want_.links)
        link_names_.insert(w.name);
}

void Reconciler::confirm()
{
    if (held_)
        want(std::move(*held_));
    confirmed_ = true;
}

std::optional<Plan> Reconciler::next_plan(Failures &failures)
{
    if (const auto e = kernel_.look(want_, have_)) {
        failures["the kernel cannot be read"] = e.text;
        return std::nullopt;
    }
    remember();
    Plan p = plan(want_, have_, policy_);
    policy_.seen_up.insert(p.left_shut.begin(), p.left_shut.end());
    return p;
}

void Reconciler::remember()
{
    const Link *device = want_.device ? have_.link(want_.device->name) : nullptr;
    std::set<int> still;

    for (const Link &link : have_.links)
        if (policy_.seen_up.count(link.ifindex) || (link.up && ours(link, device)))
            still.insert(link.ifindex);
    policy_.seen_up = std::move(still);
    forget_retired();
}

// Once our profiles of a retired id are removed, later profiles with that id belong to somebody
// else.
void Reconciler::forget_retired()
{
    if (policy_.retired_profiles.empty() || !have_.device)   // the module may still be loading
        return;
    std::set<std::uint64_t> there;
    for (const ObservedProfile &p : have_.device->profiles)
        if (!p.any_dst)
            there.insert(p.profile.key.id);
    std::erase_if(policy_.retired_profiles, [&](std::uint64_t id) { return !there.count(id); });
}

// Decides once per file, when its first plan is made.
bool Reconciler::hold_back(const Plan &p)
{
    if (!fresh_)
        return false;
    fresh_ = false;
    if (confirmed_ || !p.drastic())
        return false;
    log_.error("the file would remove {} of {} routes, addresses, profiles and planes that are "
               "here; nothing is changed: to accept it, send SIGHUP again or start with --force",
               p.removals, p.present);
    held_ = want_;
    set_want(before_);
    return true;
}

Reconciler::Outcome Reconciler::run(const Interrupted &interrupted)
{
    Failures failures;
    Plan p;

    policy_.missing_kinds = unsupported_;
    lasting_.clear();
    put_right_ = 0;
    for (int pass = 0; pass < kPasses; pass++) {
        const Failures earlier = std::exchange(failures, {});
        if (held_ && want_.links.empty())   // there is no earlier file to continue with
            return settle({}, {});
        auto next = next_plan(failures);
        if (!next)
            return settle({}, failures);
        if (hold_back(*next))
            continue;
        p = std::move(*next);
        const bool stuck = std::all_of(p.ops.begin(), p.ops.end(), [&](const Op &op) {
            return earlier.count(to_string(op));
        });
        const bool begun = !std::exchange(policy_.set_back, p.set_back).empty();
        if (stuck)   // or there is nothing to do
            return settle(p, p.ops.empty() ? Failures() : earlier);
        if (!carry_out(p, begun, failures, interrupted))
            return Outcome::kInterrupted;
    }
    if (failures.empty() && !p.ops.empty())
        failures.emplace(to_string(p.ops.front()),
                         fmt::format("repeated {} times without effect", kPasses));
    return settle(p, failures);
}

// False: interrupted. Not while interfaces of others have to be set back (@begun: since an earlier
// plan), because an exit would leave them as routers.
bool Reconciler::carry_out(const Plan &p, bool begun, Failures &failures,
                           const Interrupted &interrupted)
{
    not_raised_.clear();
    for (const Op &op : p.ops) {
        begun |= std::holds_alternative<SysctlSet>(op);
        const bool open = begun && !p.set_back.empty();
        if (!open && interrupted())
            return false;
        if (!spoilt(op) && !carry_out(op, failures))
            break;
    }
    return true;
}

// Was the port of @op not raised? It must not look like one that somebody set down later.
bool Reconciler::spoilt(const Op &op) const
{
    const auto links = marks(op);

    return std::any_of(links.begin(), links.end(),
                       [&](const std::string &name) { return not_raised_.count(name); });
}

// Executes one operation. After a failure the others are tried, because most do not depend on it.
// False: they do.
bool Reconciler::carry_out(const Op &op, Failures &failures)
{
    const auto e = kernel_.apply(op);

    if (!e) {
        tell_done(op);
        return true;
    }
    if (make_do(op, e))
        return !std::holds_alternative<LinkAdd>(op);
    if (const auto *add = std::get_if<LinkAdd>(&op)) {
        lasting_.emplace(to_string(op), e.text);
        policy_.missing_kinds.insert(add->kind);
        return false;
    }
    if (const auto *up = std::get_if<LinkUp>(&op))
        not_raised_.insert(up->name);
    failures.emplace(to_string(op), e.text);
    return !guards(op);
}

// Reports that a setting which was in place was restored: somebody had changed it, and looks here
// for the reason. The number of lines is limited, and the same line is not repeated all the time.
void Reconciler::tell_done(const Op &op)
{
    constexpr std::size_t kKnown = 1000;
    const auto *mtu = std::get_if<LinkMtu>(&op);
    const Link *link = mtu ? have_.link(mtu->name) : nullptr;
    const auto now = std::chrono::steady_clock::now();
    const auto text = to_string(op);

    log_.debug("{}", text);
    if (!settled_)
        return;
    const auto told = put_right_at_.find(text);
    if (told != put_right_at_.end() && now - told->second < std::chrono::seconds(10))
        return;
    if (put_right_++ >= kPutRightLines)
        return;
    if (put_right_at_.size() >= kKnown)
        put_right_at_.clear();
    put_right_at_[text] = now;
    log_.info("corrected a change of others: {}{}", text, link ? fmt::format(" (it was {})", link->mtu) : "");
}

// Something is not available: the next passes do without it.
bool Reconciler::make_do(const Op &op, const mrcnl::error &e)
{
    const auto *add = std::get_if<LinkAdd>(&op);
    const auto *mtu = std::get_if<LinkMtu>(&op);

    if (add && e.code == EOPNOTSUPP && optional(add->name)) {
        log_.info("this kernel does not support interfaces of kind {}: continuing without {}", add->kind,
                  add->name);
        unsupported_.insert(add->kind);
        policy_.missing_kinds.insert(add->kind);
        return true;
    }
    if (mtu && e.from_kernel && (e.code == EINVAL || e.code == ERANGE || e.code == EOPNOTSUPP)) {
        if (const Link *link = have_.link(mtu->name))
            policy_.mtu_refused.insert(link->ifindex);
        return true;
    }
    return false;
}

// A failure that a later pass repaired is not reported. Each line is reported once, however often
// the operation is tried, and again if it succeeded in between.
Reconciler::Outcome Reconciler::settle(const Plan &p, const Failures &failures)
{
    std::set<std::string> told;
    const bool waiting = !p.waiting.empty() || held_;
    const bool failed = !failures.empty() || !lasting_.empty();

    open_.clear();
    for (const Failures *list : {&std::as_const(lasting_), &failures})
        for (const auto &[what, why] : *list)
            open_.push_back(fmt::format("{}: {}", what, why));
    for (const auto &line : open_)
        if (told.insert(line).second && !told_.count(line))
            log_.error("{}; trying again", line);
    auto said = p.waiting;
    if (held_)
        said.push_back("the new file is held back: it would remove most of what is here");
    open_.insert(open_.end(), said.begin(), said.end());
    for (const auto &line : said)
        if (told.insert(line).second && !told_.count(line))
            log_.info("waiting: {}", line);
    for (const auto &line : p.notes)
        if (told.insert(line).second && !told_.count(line))
            log_.info("{}", line);
    told_ = std::move(told);
    if (put_right_ > kPutRightLines)
        log_.info("corrected {} more changes of others", put_right_ - kPutRightLines);
    settled_ |= !failed && !waiting;
    if (failed)
        return Outcome::kFailed;
    return waiting ? Outcome::kWaiting : Outcome::kComplete;
}

Reconciler::Check Reconciler::print_plan()
{
    Failures failures;

    policy_.foresee = true;
    const auto p = next_plan(failures);
    policy_.foresee = false;
    if (!p) {
        log_.error("{}", failures.begin()->second);
        return Check::kFailed;
    }
    for (const Op &op : p->ops)
        log_.print(to_string(op));
    if (p->drastic())
        log_.print(fmt::format("# removes {} of {}: needs --force", p->removals, p->present));
    for (const auto &text : p->waiting)
        log_.print("# " + text);
    for (const auto &text : p->notes)
        log_.print("# " + text);
    return p->complete() ? Check::kNothing : Check::kSomething;
}

bool Reconciler::optional(const std::string &link) const
{
    return std::any_of(want_.links.begin(), want_.links.end(), [&](const WantedLink &w) {
        return w.name == link && w.optional;
    });
}

// Compares its present name and the name at the last look. Also true for a plane of our device.
bool Reconciler::concerns(const Link &link) const
{
    const Link *device = want_.device ? have_.link(want_.device->name) : nullptr;

    return ours(link, device) || concerns(link.ifindex);
}

bool Reconciler::concerns(int ifindex) const
{
    const Link *link = have_.link(ifindex);

    return link && ours(*link, want_.device ? have_.link(want_.device->name) : nullptr);
}

bool Reconciler::ours(const Link &link, const Link *device) const
{
    return (device && link.master == device->ifindex) || link_names_.count(link.name);
}

}   // namespace mrcd
