// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// templates.cc - the EV profiles of a host of a fabric by rule.
//
//	own T0's prefix    block : T0 : host                    short
//	all hosts          block : T0 : T1 : T0' : host         long; T0' and host from the GID
//	a T0 that lacks a way to some T1, or a plane            long, over the rest
//	a host that lacks a cable, or has other addresses       each EV, written out
//
// Three fields of 32 bits each: with as few as that every plane may have a generator of its own
// within the module's limit.
#include <algorithm>
#include <map>

#include <linux/mrc.h>

#include "desired_nodes.h"
#include "ports.h"
#include "usid.h"

namespace mrcfab {

namespace {

constexpr unsigned kField = 32;
constexpr unsigned kNumberMask = kNumberMax;
// First bits of an EV's numbers: block, T0, T1, T0', host; and block, T0, host.
constexpr unsigned kLongT0 = kUsidBlockLen + 2 * kUsidLen + (kUsidLen - kNumberBits);
constexpr unsigned kLongHost = kLongT0 + kUsidLen;
constexpr unsigned kShortHost = kUsidBlockLen + kUsidLen + (kUsidLen - kNumberBits);

struct Range { unsigned first, last; };

std::vector<Range> ranges(const std::vector<unsigned> &sorted)
{
    std::vector<Range> list;

    for (const unsigned n : sorted)
        if (!list.empty() && list.back().last + 1 == n)
            list.back().last = n;
        else
            list.push_back({n, n});
    return list;
}

GenField constant(std::uint32_t value) { return {kField, value, 0, 0, 0}; }

std::uint32_t two(unsigned usid, unsigned next) { return usid << kUsidLen | next; }

class Templates {
public:
    Templates(const Fabric &f, const Topology &t, HostId from) : f_(f), t_(t), from_(from)
    {
        for (const Cable &c : t_.cables(from_))
            planes_.push_back(c.plane);
        for (const unsigned plane : planes_)
            own_t1s_[plane] = t_.joining(plane, from_.t0, from_.t0);
        for (const unsigned plane : planes_)
            own_ranges_[plane] = ranges_of(own_t1s_[plane]);
    }

    std::vector<Profile> make()
    {
        const Irregular odd = irregular(t_);

        for (const AddressRule &rule : t_.addressing) {
            add({f_.profile_id, rule.net.addr, rule.net.len}, far(rule, from_.t0));
            add({f_.profile_id, rule.at_t0(from_.t0).addr, rule.at_t0(from_.t0).len}, near(rule));
            for (const unsigned t0 : odd.t0s)
                if (t0 != from_.t0)
                    add({f_.profile_id, rule.at_t0(t0).addr, rule.at_t0(t0).len}, far(rule, t0));
        }
        for (const HostId to : odd.hosts)
            if (to != from_)
                one_by_one(to);
        return std::move(list_);
    }

private:
    void add(const ProfileKey &key, std::vector<Generator> gens)
    {
        Profile p{key, 0, {}, {}, std::move(gens)};

        if (p.gens.empty())   // no way leads there
            return;
        p.widths.assign(p.gens[0].fields.size(), kField);
        std::size_t evs = 0;
        for (const Generator &g : p.gens)
            evs += g.fields[1].last - g.fields[1].first + 1;
        p.min_active = min_active_of(f_, evs);
        list_.push_back(std::move(p));
    }

    // The number at @at, which the address holds up to bit @end.
    static GenCopy copy(unsigned begin, unsigned end, unsigned at)
    {
        const unsigned width = std::min(kNumberBits, end - begin);

        return {MRC_COPY_DST, end - width, width, at + kNumberBits - width};
    }

    // To the hosts of our own T0.
    std::vector<Generator> near(const AddressRule &rule) const
    {
        std::vector<Generator> gens;

        for (const unsigned plane : planes_)
            gens.push_back({static_cast<std::uint8_t>(plane),
                            {constant(block(plane)), constant(two(own(plane), kHostUsids))},
                            {copy(rule.host_at, 128, kShortHost)}});
        return gens;
    }

    // To those of others, over T1s that @t0 reaches as well; of our own T0: as if it lacked none.
    std::vector<Generator> far(const AddressRule &rule, unsigned t0) const
    {
        std::vector<Generator> gens;

        for (const unsigned plane : planes_)
            for (const Range r : ranges_towards(plane, t0))
                gens.push_back({static_cast<std::uint8_t>(plane),
                                {constant(block(plane)),
                                 {kField, two(own(plane), kT1Usids), kNumberMask, r.first, r.last},
                                 constant(two(kT0Usids, kHostUsids))},
                                {copy(rule.t0_at, rule.host_at, kLongT0),
                                 copy(rule.host_at, 128, kLongHost)}});
        return gens;
    }

    // Most T0s lack nothing: what is left to them is what is left to ours.
    std::vector<Range> ranges_towards(unsigned plane, unsigned t0) const
    {
        return t0 == from_.t0 || t_.whole({plane, t0}) ? own_ranges_.at(plane)
                                                               : ranges_of(t1s_towards(plane, t0));
    }

    // T1s that @t0 reaches as well, without asking for each.
    std::vector<unsigned> t1s_towards(unsigned plane, unsigned t0) const
    {
        std::vector<unsigned> list = own_t1s_.at(plane);

        if (!t_.has(NodeId(T0Id{plane, t0})))
            return {};
        for (auto c = t_.cut.lower_bound({plane, t0, true, 0});
             c != t_.cut.end() && c->plane == plane && c->t0 == t0; ++c) {
            const auto at = std::lower_bound(list.begin(), list.end(), c->number);
            if (at != list.end() && *at == c->number)
                list.erase(at);
        }
        return list;
    }

    std::vector<Range> ranges_of(const std::vector<unsigned> &t1s) const
    {
        auto list = ranges(chosen(t1s));
        const std::size_t room = std::max<std::size_t>(1, kGeneratorsMax / planes_.size());

        if (list.size() <= room)
            return list;
        // More gaps than the module takes generators: the longest runs.
        std::stable_sort(list.begin(), list.end(), [](const Range &a, const Range &b) {
            return a.last - a.first > b.last - b.first;
        });
        list.resize(room);
        return list;
    }

    // So many T1s in a row, each host beginning where the one before it ended.
    std::vector<unsigned> chosen(const std::vector<unsigned> &t1s) const
    {
        const std::uint64_t before = std::uint64_t{from_.t0 - 1} * t_.hosts_per_t0 + from_.host - 1;
        const std::size_t n = t1s.size(), k = std::min<std::size_t>(n, f_.evs_per_plane);
        std::vector<unsigned> list;

        for (std::size_t i = 0; i < k; i++)
            list.push_back(t1s[(before * k + i) % n]);
        std::sort(list.begin(), list.end());
        return list;
    }

    void one_by_one(HostId to)
    {
        std::vector<Ev> evs;

        for (const unsigned plane : planes_) {
            const auto port = static_cast<std::uint8_t>(plane);
            const unsigned end = Topology::usid(to);
            if (!t_.has(Cable{plane, to.t0, false, to.host}))
                continue;
            if (to.t0 == from_.t0)
                evs.push_back({usid_address(t_.block(plane), {own(plane), end}), port});
            else
                for (const unsigned t1 : chosen(t1s_towards(plane, to.t0)))
                    evs.push_back({usid_address(t_.block(plane),
                                                {own(plane), kT1Usids | t1, kT0Usids | to.t0, end}),
                                   port});
        }
        if (evs.empty())
            return;
        for (const IfAddr &a : t_.addresses(to))
            list_.push_back({{f_.profile_id, a.addr.gid()}, min_active_of(f_, evs.size()), evs, {}, {}});
    }

    std::uint32_t block(unsigned plane) const
    {
        return get_bits(t_.block(plane).addr, 0, kUsidBlockLen);
    }

    unsigned own(unsigned plane) const { return Topology::usid(T0Id{plane, from_.t0}); }

    const Fabric &f_;
    const Topology &t_;
    HostId from_;
    std::vector<unsigned> planes_;
    std::map<unsigned, std::vector<unsigned>> own_t1s_;   // by plane
    std::map<unsigned, std::vector<Range>> own_ranges_;
    std::vector<Profile> list_;
};

}   // namespace

std::vector<Profile> templates(const Fabric &f, const Topology &t, HostId from)
{
    return Templates(f, t, from).make();
}

}   // namespace mrcfab
