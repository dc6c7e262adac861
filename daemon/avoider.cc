// SPDX-License-Identifier: GPL-2.0
// avoider.cc - see avoider.h.
#include "avoider.h"

#include <fmt/format.h>
#include <linux/mrc.h>

#include <algorithm>

#include "../tools/lib/nl/genl.h"

namespace mrcd {

using mrcver::Layout;
using mrcver::Part;
using mrcver::PartKind;

namespace {

constexpr double kRetryAfter = 5;          // seconds, after an error
constexpr std::size_t kPercent = 5;   // of the cables of a plane

bool is_cable(PartKind kind)
{
    return kind == PartKind::kUp || kind == PartKind::kDown || kind == PartKind::kCable;
}

}   // namespace

Avoider::Avoider(const Layout &layout, const Setup &setup, AvoidKernel &kernel, OnSaid said)
    : layout_(layout), setup_(setup), kernel_(kernel), said_(std::move(said)), host_(layout.host(setup.node))
{
}

Avoider::Cables Avoider::cables_of(const Part &part) const
{
    Cables cables;

    if (is_cable(part.kind))
        cables.emplace(part.a, part.b);
    if (part.kind == PartKind::kT1)
        for (const unsigned t0 : layout_.downlinks(part.plane, part.a))
            cables.emplace(t0, part.a);
    if (part.kind == PartKind::kT0)
        for (const unsigned t1 : layout_.uplinks(part.plane, part.a))
            cables.emplace(part.a, t1);
    return cables;
}

// A verdict may have grown to a whole switch: the parts of the earlier verdict are still sick.
bool Avoider::covered(const Part &part, const std::vector<Part> &sick) const
{
    const Cables mine = cables_of(part);

    return std::any_of(sick.begin(), sick.end(), [&](const Part &s) {
        const Cables theirs = cables_of(s);
        const bool wide = s.kind != PartKind::kUp && s.kind != PartKind::kDown;
        return s == part || (s.plane == part.plane && wide && !mine.empty() &&
                             std::includes(theirs.begin(), theirs.end(), mine.begin(), mine.end()));
    });
}

std::string Avoider::beyond(const Part &part) const
{
    const unsigned own = layout_.t0_of(part.plane, host_);
    Cables cables = cables_of(part);
    std::size_t all = 0, left = 0;

    for (unsigned t0 = 1; t0 <= layout_.t0s(); t0++)
        all += layout_.uplinks(part.plane, t0).size();
    for (const Part &p : applied_)
        if (p.plane == part.plane)
            cables.merge(cables_of(p));
    for (const unsigned t1 : layout_.uplinks(part.plane, own))
        left += !cables.contains({own, t1});
    if (!left)
        return "no uplink of this host would be left";
    const bool one_t1 = std::all_of(cables.begin(), cables.end(), [&](const Cable &c) { return c.second == cables.begin()->second; });
    if (const std::size_t most = std::max<std::size_t>(all * kPercent / 100, 1); cables.size() > most && !one_t1)
        return fmt::format("{} cables would be avoided of {}, and {} are the most without a person", cables.size(), all, most);
    return "";
}

void Avoider::release(const std::vector<Part> &sick)
{
    std::erase_if(refused_, [&](const Part &p) { return std::find(sick.begin(), sick.end(), p) == sick.end(); });
    std::erase_if(applied_, [&](const Part &p) {
        if (covered(p, sick))
            return false;
        std::erase_if(refused_, [&](const Part &r) { return r.plane == p.plane; });   // the limit may allow it now
        said_(fmt::format("plane {}: {} {}", p.plane, part_name(layout_, p), setup_.act ? "is no longer avoided" : "would no longer be avoided"));
        return true;
    });
}

void Avoider::take(const Part &part)
{
    const auto links = usid_links(layout_, part);

    if (links.empty() || applied_.contains(part) || refused_.contains(part))
        return;
    if (const auto why = beyond(part); !why.empty()) {
        refused_.insert(part);
        return said_(fmt::format("plane {}: {} is not avoided: {}", part.plane, part_name(layout_, part), why));
    }
    applied_.insert(part);
    if (setup_.act)
        return said_(fmt::format("plane {}: {} is avoided", part.plane, part_name(layout_, part)));
    auto command = fmt::format("mrcctl avoid set dev {}", setup_.dev);
    for (const AvoidLink &l : this->links())
        command += l.to ? fmt::format(" link {} {:x} {:x}", l.plane, l.from, l.to) : fmt::format(" switch {} {:x}", l.plane, l.from);
    said_(fmt::format("plane {}: {} would be avoided: {}", part.plane, part_name(layout_, part), command));
}

std::vector<AvoidLink> Avoider::links() const
{
    std::set<AvoidLink> all;

    for (const Part &p : applied_)
        for (const AvoidLink &l : usid_links(layout_, p))
            all.insert(l);
    std::vector<AvoidLink> list(all.begin(), all.end());
    list.resize(std::min<std::size_t>(list.size(), MRC_AVOIDS_MAX));
    return list;
}

// An empty list is sent once, when the last link is released. Links that an earlier mrcd avoided
// expire in the module.
void Avoider::push(double now)
{
    const auto want = links();

    if (want == pushed_ && (want.empty() || now < next_))
        return;
    if (want.empty() && !begun_)
        return;
    if (want != pushed_ && now < next_ && !complaint_.empty())
        return;
    const auto e = kernel_.set(setup_.dev, want, setup_.expiry_s);
    next_ = now + (e ? kRetryAfter : setup_.expiry_s / 3.0);
    if (e && e.text != complaint_)
        said_(fmt::format("links to avoid of {}: {}", setup_.dev, e.text));
    complaint_ = e.text;
    if (e)
        return;
    pushed_ = want;
    begun_ = true;
}

void Avoider::tick(double now, const std::vector<Part> &sick)
{
    release(sick);
    for (const Part &part : sick)
        take(part);
    if (setup_.act)
        push(now);
}

mrcnl::error NetlinkAvoids::set(const std::string &dev, const std::vector<AvoidLink> &links, unsigned expiry_s)
{
    mrcnl::genl_socket nl;   // opened each time: a reloaded module has another family number
    mrcnl::request rq(MRC_CMD_AVOID_SET);
    const auto e = nl.open(MRC_GENL_NAME);

    rq.str(MRC_A_DEV_NAME, dev);
    rq.nest(MRC_A_AVOIDS, [&](auto &n) { n.u32(MRC_A_AVOIDS_BY, MRC_AVOID_DAEMON).u32(MRC_A_AVOIDS_EXPIRY, expiry_s); });
    for (const AvoidLink &l : links)
        rq.nest(MRC_A_AVOID, [&](auto &n) {
            n.u8(MRC_A_AVOID_PLANE, static_cast<std::uint8_t>(l.plane)).u16(MRC_A_AVOID_FROM, static_cast<std::uint16_t>(l.from));
            if (l.to)
                n.u16(MRC_A_AVOID_TO, static_cast<std::uint16_t>(l.to));
        });
    return e ? e : nl.call(rq);
}

}   // namespace mrcd
