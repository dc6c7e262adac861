// SPDX-License-Identifier: GPL-2.0
// Verdicts from probes that cross mrcsim's queues as packets: 64 hosts, 4 planes. world.cc only counts, so it can run for
// hours; this shows that packets, with queues, marks, trimming and pauses, tell the same.
//
//	PACKETS_SEEDS=20      of each fault
//	PACKETS_SIM=PATH      another mrcsim-cluster than the tree's
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "../../tools/lib/verdict/sentence.h"
#include "../../tools/lib/verdict/tracker.h"
#include "../daemon/rules.h"

namespace mrcver {

namespace {

constexpr unsigned kPlanes = 4, kT0s = 8, kT1s = 8, kPerT0 = 8, kSlicesPerSecond = 10;
constexpr double kBegin = 1000;   // of simulated time, seconds of the Epoch

struct Draw {
    std::mt19937 random;
    unsigned operator()(unsigned n) { return static_cast<unsigned>(random() % n); }
};

// What is wrong, as mrcsim is told (numbers from 0), and the part that is to be named, if any.
struct Harmed {
    std::string toml;
    std::optional<Part> part;
};

struct Trouble {
    const char *name;
    unsigned seconds;
    Harmed (*draw)(Draw &any);
};

std::string fault(const std::string &fields)
{
    return "[[fault]]\nat_us = 1000000\n" + fields;
}

template <bool up> Harmed link(Draw &any, unsigned ppm)
{
    const unsigned p = any(kPlanes), t0 = any(kT0s), t1 = any(kT1s);

    return {fault(fmt::format("kind = \"link\"\nway = \"{}\"\nplane = {}\nt0 = {}\nt1 = {}\nloss_ppm = {}\n",
                              up ? "up" : "down", p, t0, t1, ppm)),
            Part{up ? PartKind::kUp : PartKind::kDown, p + 1, t0 + 1, t1 + 1}};
}

// 16 hosts send to one as fast as they can; its ports' queues overflow.
std::string incast(Draw &any)
{
    const unsigned to = any(kT0s * kPerT0);
    std::string s;

    for (unsigned i = 1; i <= 16; i++)
        s += fmt::format("[[flow]]\nsrc = {}\ndst = {}\nbytes = 100000000\n", (to + 3 * i) % (kT0s * kPerT0), to);
    return s;
}

const std::vector<Trouble> &troubles()
{
    static const std::vector<Trouble> list{
        {"dead uplink", 3, [](Draw &any) { return link<true>(any, 1000000); }},
        {"dead downlink", 3, [](Draw &any) { return link<false>(any, 1000000); }},
        {"dead cable", 3,
         [](Draw &any) {
             const unsigned p = any(kPlanes), t0 = any(kT0s), t1 = any(kT1s);
             return Harmed{fault(fmt::format("kind = \"cable\"\nplane = {}\nt0 = {}\nt1 = {}\n", p, t0, t1)),
                           Part{PartKind::kCable, p + 1, t0 + 1, t1 + 1}};
         }},
        {"dead T0", 3,
         [](Draw &any) {
             const unsigned p = any(kPlanes), t0 = any(kT0s);
             return Harmed{fault(fmt::format("kind = \"leaf\"\nplane = {}\nt0 = {}\n", p, t0)),
                           Part{PartKind::kT0, p + 1, t0 + 1, 0}};
         }},
        {"dead T1", 3,
         [](Draw &any) {
             const unsigned p = any(kPlanes), t1 = any(kT1s);
             return Harmed{fault(fmt::format("kind = \"spine\"\nplane = {}\nt1 = {}\n", p, t1)),
                           Part{PartKind::kT1, p + 1, t1 + 1, 0}};
         }},
        {"dead NIC-T0 cable", 3,
         [](Draw &any) {
             const unsigned p = any(kPlanes), host = any(kT0s * kPerT0);
             return Harmed{fault(fmt::format("kind = \"port\"\nplane = {}\nhost = {}\n", p, host)),
                           Part{PartKind::kHostCable, p + 1, host + 1, 0}};
         }},
        {"dead plane", 3,
         [](Draw &any) {
             const unsigned p = any(kPlanes);
             return Harmed{fault(fmt::format("kind = \"plane\"\nplane = {}\n", p)), Part{PartKind::kPlane, p + 1, 0, 0}};
         }},
        {"uplink loses 1 %", 20, [](Draw &any) { return link<true>(any, 10000); }},
        {"downlink loses 1 %", 20, [](Draw &any) { return link<false>(any, 10000); }},
        {"dead uplink, an incast", 3,
         [](Draw &any) {
             Harmed h = link<true>(any, 1000000);
             h.toml += incast(any);
             return h;
         }},
        {"an incast, nothing wrong", 4, [](Draw &any) { return Harmed{incast(any), {}}; }},
        {"pauses, nothing wrong", 10,
         [](Draw &) { return Harmed{"[[pause]]\nevery_us = 3000000\nmin_us = 1000\nmax_us = 200000\n", {}}; }},
    };
    return list;
}

class Packets {
public:
    Packets()
    {
        const char *sim = std::getenv("PACKETS_SIM");

        sim_ = sim ? sim : std::filesystem::read_symlink("/proc/self/exe").parent_path() / "../sim/gcc/mrcsim-cluster";
        std::string name = std::filesystem::temp_directory_path() / "mrc-packets-XXXXXX";
        folder_ = mkdtemp(name.data());
        std::ofstream out(folder_ / "probes");
        for (unsigned host = 1; host <= layout_.hosts(); host++)
            for (const Planned &x : plan_probes(layout_, host, Rate::kNormal)) {
                out << host - 1 << ' ' << x.probe.plane - 1 << ' ' << x.per_second;
                for (const unsigned s : switches_of(x.probe))
                    out << ' ' << s - 1;
                out << '\n';
                plan_.push_back(x.probe);
            }
    }
    ~Packets() { std::filesystem::remove_all(folder_); }

    // The faults that are named while @t lasts. False: mrcsim failed.
    bool run(const Trouble &t, const Harmed &h, unsigned seed, std::set<Part> &named)
    {
        scenario(t, h, seed);
        const std::string d = folder_;
        if (std::system(fmt::format("{} {}/s.toml --probe-results {}/results >{}/out 2>&1", sim_, d, d, d).c_str())) {
            std::system(fmt::format("sed 's/^/# /' {}/out", d).c_str());
            return false;
        }
        Tracker tracker(layout_);
        for (const Evidence &e : results(t.seconds))
            for (const Change &c : tracker.add(e))
                if (const auto it = tracker.known().find(c.part);
                    c.bad && it != tracker.known().end() && it->second.finding.fault())
                    named.insert(c.part);
        return true;
    }
    // What mrcsim says of a file with that line.
    std::string refused(const std::string &line)
    {
        const std::string d = folder_;
        std::ofstream(folder_ / "probes") << line << '\n';
        scenario(troubles().front(), {}, 1);
        if (!std::system(fmt::format("{} {}/s.toml >{}/out 2>&1", sim_, d, d).c_str()))
            return "nothing";
        std::ifstream in(folder_ / "out");
        return {std::istreambuf_iterator<char>(in), {}};
    }
    std::string names(const std::set<Part> &parts) const
    {
        std::string s;

        for (const Part &p : parts)
            s += " " + part_name(layout_, p) + ";";
        return s;
    }

private:
    void scenario(const Trouble &t, const Harmed &h, unsigned seed)
    {
        std::ofstream out(folder_ / "s.toml");

        out << fmt::format("name = \"packets\"\n[fabric]\nhosts = {}\nhosts_per_t0 = {}\nt1s = {}\nplanes = {}\n"
                           "rate_mbps = 1000\ndelay_ns = 1000\nqueue = 100\nlast_queue = 100\n[workload]\nkind = \"list\"\n"
                           "[run]\nseed = {}\nlimit_us = {}\nbucket_us = {}\nprobes = \"probes\"\n",
                           kT0s * kPerT0, kPerT0, kT1s, kPlanes, seed, t.seconds * 1000000, 1000000 / kSlicesPerSecond);
        if (h.toml.find("[[flow]]") == std::string::npos)
            out << "[[flow]]\nsrc = 0\ndst = 1\nbytes = 1000\n";
        out << h.toml;
    }

    std::vector<Evidence> results(unsigned seconds) const
    {
        std::vector<Evidence> all(seconds * kSlicesPerSecond);
        std::ifstream in(folder_ / "results");
        std::size_t bucket, n;

        for (std::size_t i = 0; i < all.size(); i++) {
            all[i].from = kBegin + static_cast<double>(i) / kSlicesPerSecond;
            all[i].to = kBegin + static_cast<double>(i + 1) / kSlicesPerSecond;
        }
        while (in >> bucket >> n) {
            Counts c;
            std::uint64_t first = 0, last = 0;

            in >> c.sent >> c.full_sent >> c.control_sent >> c.lost >> c.full_lost >> c.control_lost >> c.late >> c.queued >>
                c.rtt_sum >> c.rtt_low >> first >> last;
            if (bucket >= all.size())
                continue;
            const Probe &p = plan_.at(n);
            auto &planes = all[bucket].hosts[p.host].planes;
            planes.resize(kPlanes);
            planes[p.plane - 1][static_cast<std::size_t>(p.kind)] += c.sent;
            if (c.failed())
                all[bucket].failed[p] = {c, kBegin + static_cast<double>(first) * 1e-12,
                                         kBegin + static_cast<double>(last) * 1e-12};
        }
        return all;
    }

    mrcfab::Fabric fabric_ = mrcd::make_rule({.planes = kPlanes, .t0s = kT0s, .t1s = kT1s, .hosts_per_t0 = kPerT0});
    Layout layout_{fabric_};
    std::string sim_;
    std::filesystem::path folder_;
    std::vector<Probe> plan_;
};

TEST(packets, tell_the_part_and_the_direction)
{
    const char *flag = std::getenv("PACKETS_SEEDS");
    const unsigned seeds = flag ? static_cast<unsigned>(std::strtoul(flag, nullptr, 10)) : 1;
    Packets packets;

    for (const Trouble &t : troubles()) {
        unsigned right = 0;
        for (unsigned seed = 1; seed <= seeds; seed++) {
            Draw any{std::mt19937(seed)};
            const Harmed h = t.draw(any);
            std::set<Part> named, wanted;
            if (h.part)
                wanted.insert(*h.part);
            ASSERT_TRUE(packets.run(t, h, seed, named)) << t.name;
            EXPECT_EQ(named, wanted) << t.name << ", seed " << seed << ": named" << packets.names(named) << " wanted"
                                     << packets.names(wanted);
            right += named == wanted;
        }
        fmt::print("# {:<26} {} of {} right\n", t.name, right, seeds);
        std::fflush(stdout);
    }
}

TEST(packets, a_line_that_is_wrong_is_refused)
{
    const std::vector<std::array<const char *, 2>> lines{
        {"64 0 100 0", "no such host"},          {"0 4 100 0", "no such plane"},
        {"0 0 0 0", "a second"},                 {"0 0 100 0 8 0", "no such switch"},
        {"0 0 100 0 1", "ends at a T0"},         {"0 0 100 1", "another T0"},
        {"0 0 100 0 1 0 1 0 1 0", "five"},       {"0 0 100 0 x", "not a number"},
        {"0 0", "are wanted"},                   {"-1 0 100 0", "no such host"},
    };
    Packets packets;

    for (const auto &[line, why] : lines)
        EXPECT_NE(packets.refused(line).find(why), std::string::npos) << line << ": " << packets.refused(line);
}

}   // namespace

}   // namespace mrcver
