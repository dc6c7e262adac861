// SPDX-License-Identifier: GPL-2.0
// fuzz_fabric.cc - the bytes are a fabric file. It is refused with a place and a text fit for a
// terminal; or names are found again, ports of a node have one name each, destinations one route
// each by each metric, profiles are within the module's limits, and every EV of some pairs arrives over the
// switches that it names.
#include <cctype>
#include <set>
#include <sstream>

#include "require.h"
#include "../../tools/lib/fabric/check.h"
#include "../../tools/lib/fabric/desired.h"

namespace {

using namespace mrcfab;

constexpr unsigned kSmall = 40;       // of a kind in a plane: all EVs are followed
constexpr unsigned kPortsMax = 2000;  // of a node: all are looked at
constexpr unsigned kFieldsMax = 128;  // MRC_GEN_FIELDS
constexpr std::size_t kNodesMax = 12; // of lists
constexpr int kErrorsMax = 20;        // shown, of tools/lib/fabric/errors.cc

// A line for each error, each with its place; the last may say how many more there are.
void refused(const std::string &text)
{
    std::istringstream lines(text);
    std::string line;
    int n = 0;

    REQUIRE(!text.empty() && text.back() != '\n');
    while (std::getline(lines, line)) {
        REQUIRE(++n <= kErrorsMax + 1);
        REQUIRE(line.rfind("fuzz.toml:", 0) == 0 || n == kErrorsMax + 1);
        REQUIRE(line.size() < 700);
        for (const char c : line)
            REQUIRE(!std::iscntrl(static_cast<unsigned char>(c)));
    }
}

void node(const Fabric &f, const std::string &name)
{
    const auto d = desired_for(f, name);
    std::set<std::string> links;
    std::set<std::pair<Prefix6, unsigned>> dsts;   // and metric

    REQUIRE(d);
    for (const WantedLink &l : d->links) {
        REQUIRE(!l.name.empty() && l.name.size() <= 15);
        REQUIRE(links.insert(l.name).second);
    }
    for (const WantedRoute &r : d->routes)
        REQUIRE(dsts.insert({r.dst, r.metric}).second);
    if (!d->device)
        return;
    REQUIRE(f.topology ? d->device->profiles.size() <= kProfilesMax : true);
    for (const Profile &p : d->device->profiles) {
        std::size_t fields = 0;
        for (const Generator &g : p.gens)
            fields += g.fields.size();
        REQUIRE(p.evs.size() <= kEvsMax && p.gens.size() <= kGeneratorsMax && fields <= kFieldsMax);
        REQUIRE((Prefix6{p.key.dst, p.key.len}.host_bits_zero()));
    }
}

void rule(const Fabric &f, const Topology &t)
{
    const NodeId ids[] = {HostId{1, 1}, HostId{t.t0s, t.hosts_per_t0}, T0Id{1, 1},
                          T0Id{t.planes, t.t0s}, T1Id{1, 1}, T1Id{t.planes, t.t1s}};
    const bool small = t.t0s <= kSmall && t.t1s <= kSmall && t.hosts_per_t0 <= kSmall;

    for (const NodeId &id : ids) {
        REQUIRE(t.named(t.name(id)) == id);
        if (t.has(id) && t.t0s <= kPortsMax && t.t1s <= kPortsMax && t.hosts_per_t0 <= kPortsMax)
            node(f, t.name(id));
    }
    if (small && f.evs_per_plane * f.planes <= kSmall)
        REQUIRE(check_fabric(f, 4, 1).astray == 0);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size)
{
    std::optional<Fabric> f;

    try {
        f = parse_fabric({reinterpret_cast<const char *>(data), size}, "fuzz.toml");
    } catch (const FabricError &e) {
        refused(e.what());
        return 0;
    }
    if (f->flat) {
        node(*f, f->flat->hosts.front());
        node(*f, f->flat->hosts.back());
        return 0;
    }
    if (f->topology) {
        rule(*f, *f->topology);
        return 0;
    }
    for (std::size_t i = 0; i < f->switches.size() && i < kNodesMax; i++)
        node(*f, f->switches[i].name);
    for (std::size_t i = 0; i < f->hosts.size() && i < kNodesMax; i++)
        node(*f, f->hosts[i].name);
    REQUIRE(check_fabric(*f, 4, 1).astray == 0);
    return 0;
}
