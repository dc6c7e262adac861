// SPDX-License-Identifier: GPL-2.0
// world.h - a fabric that loses packets: which hops a probe takes, what each of them loses, and what
// the hosts report of it. It knows nothing of how faults are found.
//
// Losses are drawn per probe and slice, Poisson. Hosts pause 1 to 200 ms; queues fill and drop
// data; and packets get lost by nobody's fault.
#pragma once

#include <map>
#include <random>
#include <vector>

#include "../../tools/lib/verdict/evidence.h"

namespace world {

using mrcver::Evidence;
using mrcver::Probe;

struct Dims {
    unsigned planes = 4, t0s = 16, t1s = 64, hosts_per_t0 = 64;
};

enum class At { kHostUp, kHostDown, kUp, kDown, kT0, kT1, kPlane, kNic };
enum class Harm { kDrop, kFull, kCorrupt, kOtherPlane, kQueue, kElsewhere };

// A fault, from a time to another. Of kHostUp and kHostDown a is the host; of kUp and kDown a is the T0, b
// the T1; of a switch its number.
struct Fault {
    At at = At::kUp;
    unsigned plane = 1, a = 0, b = 0;
    Harm harm = Harm::kDrop;
    double rate = 1;              // of packets that cross it
    double from = 0, to = 1e12;
    double period = 0, on = 0;    // it flaps: so many seconds of each period
    unsigned other = 0;           // kElsewhere: the host that gets them

    double active(double begin, double end) const;   // what part of that time
};

class World {
public:
    World(const Dims &dims, const mrcver::Layout &layout, std::uint32_t seed);

    std::vector<Fault> faults;
    double pauses_per_hour = 6;       // of a host
    double stray_loss = 1e-8;         // of packets, by nobody's fault
    double bursts_per_hour = 4;       // queues of links that fill, of the whole fabric

    // What all hosts find until then.
    Evidence slice(double seconds);
    double now() const { return now_; }
    void reseed(std::uint32_t seed)
    {
        random_.seed(seed);
        faults.clear();
        now_ = 1000;
    }
    double uniform() { return std::uniform_real_distribution<double>(0, 1)(random_); }

private:
    struct Hop {
        At at;
        unsigned a, b;
    };
    struct Sent {
        Probe probe;
        double per_second;
    };

    static std::vector<Hop> hops(const Probe &p);
    static bool hits(const Fault &f, const Probe &p, const Hop &h);
    void harm(Evidence &e, const Fault &f, double begin, double end);
    void lose(Evidence &e, const Sent &s, const Fault &f, double share, double begin, double end);
    void stray(Evidence &e, double begin, double end);
    void pauses(Evidence &e, double begin, double end);
    void bursts(double begin, double end);
    std::uint64_t poisson(double mean);
    std::uint64_t binomial(std::uint64_t n, double p);

    Dims dims_;
    std::mt19937_64 random_;
    std::vector<Sent> sent_;
    std::vector<std::vector<std::size_t>> of_host_, of_plane_;   // in sent_
    std::map<std::array<unsigned, 3>, std::vector<std::size_t>> of_link_;   // plane, T0, T1
    std::vector<std::vector<std::array<double, mrcver::kProbeKinds>>> rates_;   // of hosts, by plane
    double all_ = 0;
    double now_ = 1000;
};

}   // namespace world
