// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// check.cc - see check.h.
#include "check.h"

#include <fmt/format.h>

#include <map>
#include <random>
#include <set>

#include "forward.h"

namespace mrcfab {

namespace {

constexpr std::size_t kProblemsMax = 20;
constexpr unsigned kTries = 1000;     // to hit a host that is there
constexpr std::size_t kOddMax = 256;  // exceptions looked at

class Checker {
public:
    Checker(const Fabric &f, std::uint32_t seed) : f_(f), net_(f), random_(seed) {}

    Checked check(unsigned pairs)
    {
        alone();
        for (const auto &odd : exceptions()) {
            pair(any_host(), odd);
            pair(odd, any_host());
        }
        for (unsigned i = 0; i < pairs; i++)
            pair(any_host(), any_host());
        out_.hops = net_.hops();
        return std::move(out_);
    }

private:
    unsigned below(std::size_t n) { return static_cast<unsigned>(random_() % n); }

    template <typename... Args>
    void problem(unsigned long &count, fmt::format_string<Args...> format, Args &&...args)
    {
        count++;
        if (out_.problems.size() == kProblemsMax)
            return;
        auto text = fmt::format(format, std::forward<Args>(args)...);
        if (said_.insert(text).second)
            out_.problems.push_back(std::move(text));
    }

    // T0s whose hosts reach no other's: one cause of many problems of pairs.
    void alone()
    {
        std::map<unsigned, unsigned> t0s;
        std::map<std::string, unsigned> hosts;

        for (const Switch &sw : f_.switches)
            t0s[sw.plane] += sw.tier == 0;
        for (const Host &host : f_.hosts)
            for (const HostPort &port : host.ports)
                hosts[port.switch_name]++;
        for (const Switch &sw : f_.switches)
            if (sw.tier == 0 && sw.links.empty() && t0s[sw.plane] > 1 && hosts[sw.name])
                problem(out_.unreached, "{} has no cable to any T1: on plane {} its {} hosts reach no other T0's",
                        sw.name, sw.plane, hosts[sw.name]);
    }

    // Half of them at the T0 of the one before: the short way, too.
    std::string any_host()
    {
        if (!f_.topology)
            return f_.hosts.empty() ? "" : f_.hosts[below(f_.hosts.size())].name;
        const Topology &t = *f_.topology;
        for (unsigned i = 0; i < kTries; i++) {
            const bool near = last_t0_ && below(2);
            const HostId h{near ? last_t0_ : 1 + below(t.t0s), 1 + below(t.hosts_per_t0)};
            if (!t.has(NodeId(h)))
                continue;
            last_t0_ = h.t0;
            return t.name(h);
        }
        return "";
    }

    // A host of each place where the rule does not hold.
    std::set<std::string> exceptions() const
    {
        std::set<std::string> names;

        if (!f_.topology)
            return names;
        const Topology &t = *f_.topology;
        const Irregular odd = irregular(t);
        for (const HostId h : odd.hosts)
            if (names.size() < kOddMax)
                names.insert(t.name(h));
        for (const unsigned t0 : odd.t0s)
            for (unsigned i = 1; i <= t.hosts_per_t0 && names.size() < kOddMax; i++)
                if (t.has(NodeId(HostId{t0, i}))) {
                    names.insert(t.name(HostId{t0, i}));
                    break;
                }
        return names;
    }

    // The device's addresses are all there is of a host besides its ports'.
    std::vector<Ip6> gids(const std::string &host)
    {
        const Desired &d = net_.desired(host);
        std::vector<Ip6> list;

        for (const WantedAddr &a : d.addrs)
            if (a.link == d.device->name)
                list.push_back(a.addr.addr.gid());
        return list;
    }

    std::set<unsigned> planes(const std::string &host)
    {
        std::set<unsigned> set;

        for (const WantedPlane &p : net_.desired(host).device->planes)
            set.insert(p.number);
        return set;
    }

    void pair(const std::string &from, const std::string &to)
    {
        if (from.empty() || to.empty() || from == to)
            return;
        out_.pairs++;
        const auto to_gids = gids(to), own = gids(from);
        const auto to_planes = planes(to), own_planes = planes(from);
        for (const Ip6 &dst : to_gids) {
            const Profile *found = profile_for(net_.desired(from).device->profiles, dst);
            std::set<unsigned> used;
            if (!found) {
                problem(out_.unreached, "{} has no profile for {} of {}", from, to_string(dst), to);
                continue;
            }
            const auto evs = expand(*found, dst, own.front());   // what follows may forget @from
            for (const Ev &ev : evs) {
                one(from, to, ev);
                used.insert(ev.port);
            }
            for (const unsigned plane : own_planes)
                if (to_planes.count(plane) && !used.count(plane))
                    problem(out_.unreached, "{} has no path to {} of {} on plane {}", from, to_string(dst),
                            to, plane);
        }
    }

    void one(const std::string &from, const std::string &to, const Ev &ev)
    {
        const Journey j = net_.send(from, ev);
        std::string wrong;

        out_.evs++;
        if (j.host.empty())
            wrong = j.lost;
        else if (j.host != to)
            wrong = "arrives at " + j.host;
        else if (j.switches != j.named)
            wrong = fmt::format("goes over {}, of which it names {}", fmt::join(j.switches, " "),
                                fmt::join(j.named, " "));
        if (!wrong.empty())
            problem(out_.astray, "{} to {}, plane {}, {}: {}", from, to, ev.port,
                    to_string(ev.outer_dst), wrong);
    }

    const Fabric &f_;
    Forwarding net_;
    std::mt19937 random_;
    unsigned last_t0_ = 0;
    std::set<std::string> said_;
    Checked out_;
};

}   // namespace

Checked check_fabric(const Fabric &fabric, unsigned pairs, std::uint32_t seed)
{
    return Checker(fabric, seed).check(pairs);
}

}   // namespace mrcfab
