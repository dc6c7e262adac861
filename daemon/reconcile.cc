// SPDX-License-Identifier: GPL-2.0
#include "reconcile.h"

#include <algorithm>
#include <cerrno>

namespace mrcd {

namespace {

// One for what there is, one for what depends on it, and some for changes
// meanwhile.
constexpr int kPasses = 6;

}   // namespace

Reconciler::Reconciler(std::string config, std::string name, Kernel &kernel, const Log &log)
    : config_(std::move(config)), name_(std::move(name)), log_(log), kernel_(kernel)
{
}

void Reconciler::load()
{
    const Fabric fabric = load_fabric(config_);
    auto want = desired_for(fabric, name_);

    if (!want)
        throw FabricError(fmt::format("{}: there is neither a switch nor a host \"{}\" in it, "
                                      "expected the name of one (--name)", config_, name_));
    if (want_.device && (!want->device || want->device->profile_id != want_.device->profile_id))
        policy_.retired_profiles.insert(want_.device->profile_id);
    want_ = std::move(*want);
    if (want_.device)
        policy_.retired_profiles.erase(want_.device->profile_id);
    seen_up_.clear();
    policy_.plane_admin.clear();
    if (want_.device)
        for (const WantedPlane &p : want_.device->planes)
            policy_.plane_admin[p.number] = !damper_.damped(p.number);
}

bool Reconciler::reload()
{
    try {
        load();
        return true;
    } catch (const FabricError &e) {
        log_.error("{}; going on with the earlier file", e.what());
        return false;
    }
}

bool Reconciler::look(std::set<std::string> &failures)
{
    if (const auto e = kernel_.look(want_, have_)) {
        fail(e.text, failures);
        return false;
    }
    remember();
    return true;
}

void Reconciler::remember()
{
    const auto now = std::chrono::steady_clock::now();

    for (const Link &link : have_.links)
        link_seen(link, now);
    for (auto it = seen_up_.begin(); it != seen_up_.end();) {
        const Link *link = have_.link(it->first);
        it = link && link->ifindex == it->second ? std::next(it) : seen_up_.erase(it);
    }
    for (const WantedLink &w : want_.links) {
        const Link *link = have_.link(w.name);
        if (w.may_be_shut() && link && link->up)
            seen_up_[w.name] = link->ifindex;
    }
    policy_.leave_down.clear();
    for (const auto &[name, ifindex] : seen_up_)
        policy_.leave_down.insert(name);

    // Said once is enough, except of damped planes.
    if (!have_.device)
        return;
    for (const Plane &p : have_.device->planes) {
        const auto it = policy_.plane_admin.find(p.number);
        if (it != policy_.plane_admin.end() && it->second == p.admin && !damper_.damped(p.number))
            policy_.plane_admin.erase(it);
    }
}

void Reconciler::link_seen(const Link &link, FlapDamper::Time now)
{
    if (!want_.device)
        return;
    for (const WantedPlane &p : want_.device->planes) {
        if (p.link != link.name || !damper_.carrier(p.number, link.running, now))
            continue;
        log_.warning("plane {}: {} lost its carrier {} times within {} s, not used until {} s "
                     "after the last time", p.number, link.name, kFlapDowns, kFlapWindow.count(),
                     kFlapHold.count());
        policy_.plane_admin[p.number] = false;
    }
}

void Reconciler::release(FlapDamper::Time now)
{
    for (const std::uint8_t plane : damper_.release(now)) {
        log_.info("plane {}: quiet for {} s, used again", plane, kFlapHold.count());
        policy_.plane_admin[plane] = true;
    }
}

Reconciler::Outcome Reconciler::run()
{
    std::set<std::string> failures;
    bool settled = false;
    bool read = true;

    policy_.missing_kinds = unsupported_;
    for (int pass = 0; pass < kPasses && !settled; pass++) {
        read = look(failures);
        if (!read)
            break;
        const Plan p = plan(want_, have_, policy_);
        if (p.ops.empty())
            report_waiting(p.waiting);
        settled = p.ops.empty() || carry_out(p.ops, failures) == Carried::kFailed;
    }
    if (read && !settled)
        log_.warning("there is still something to do after {} passes; trying again", kPasses);
    failures_ = std::move(failures);
    if (!settled || !failures_.empty())
        return Outcome::kFailed;
    return waiting_.empty() ? Outcome::kComplete : Outcome::kWaiting;
}

bool Reconciler::print_plan()
{
    std::set<std::string> failures;

    if (!look(failures))
        return false;
    Policy policy = policy_;
    policy.foresee = true;
    const Plan p = plan(want_, have_, policy);
    for (const Op &op : p.ops)
        fmt::print("{}\n", to_string(op));
    for (const auto &text : p.waiting)
        fmt::print("# {}\n", text);
    return true;
}

// The rest is tried after a failure: mostly it does not depend on it. Except when
// an interface could not be made: then another plan goes without.
Reconciler::Carried Reconciler::carry_out(const std::vector<Op> &ops,
                                          std::set<std::string> &failures)
{
    Carried outcome = Carried::kAll;

    for (const Op &op : ops) {
        const auto e = kernel_.apply(op);
        if (!e) {
            log_.debug("{}", to_string(op));
            continue;
        }
        const auto *add = std::get_if<LinkAdd>(&op);
        if (add && e.code == EOPNOTSUPP && is_optional(add->name)) {
            log_.info("this kernel has no interfaces of kind {}: going without {}", add->kind,
                      add->name);
            unsupported_.insert(add->kind);
        } else {
            fail(fmt::format("{}: {}", to_string(op), e.text), failures);
        }
        if (add) {
            policy_.missing_kinds.insert(add->kind);
            return Carried::kReplan;
        }
        outcome = Carried::kFailed;
    }
    return outcome;
}

// Told once, however often it is tried.
void Reconciler::fail(const std::string &line, std::set<std::string> &failures)
{
    if (failures_.count(line) || failures.count(line))
        log_.debug("still: {}", line);
    else
        log_.error("{}; trying again", line);
    failures.insert(line);
}

bool Reconciler::is_optional(const std::string &link) const
{
    return std::any_of(want_.links.begin(), want_.links.end(), [&](const WantedLink &w) {
        return w.name == link && w.optional;
    });
}

void Reconciler::report_waiting(const std::vector<std::string> &waiting)
{
    if (waiting == waiting_)
        return;
    waiting_ = waiting;
    for (const auto &text : waiting_)
        log_.info("waiting: {}", text);
}

}   // namespace mrcd
