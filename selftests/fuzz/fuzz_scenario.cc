// SPDX-License-Identifier: GPL-2.0
// fuzz_scenario.cc - the bytes are a scenario of the simulator. It is refused with a place and a text fit for a terminal; or
// what is worked out from it stays in range, and without its faults it is a scenario, too.
#include <cctype>
#include <cmath>
#include <stdexcept>

#include "require.h"
#include "../../tools/sim/cluster/scenario.h"

namespace {

using namespace sim;

void refused(const std::string &text)
{
    REQUIRE(text.rfind("fuzz.toml:", 0) == 0);
    REQUIRE(text.size() < 400);
    for (const char c : text)
        REQUIRE(!std::iscntrl(static_cast<unsigned char>(c)));
}

void runs(const scenario &s)
{
    REQUIRE(!s.name.empty());
    REQUIRE(s.t0s() >= 1 && (s.t0s() - 1) * s.fabric.hosts_per_t0 < s.fabric.hosts);
    REQUIRE(s.base_rtt_ps() > 0 && s.base_rtt_ps() < 100'000'000 * ps_per_us);
    REQUIRE(s.burst() >= 1);
    for (u64 plane = 0; plane < s.fabric.planes; plane++)
        REQUIRE(s.plane_mbps(plane) > 0 && s.bdp_bytes(s.plane_mbps(plane)) < 1ull << 60);
    for (const flow_spec &f : s.flow)
        REQUIRE(f.src < s.fabric.hosts && f.dst < s.fabric.hosts && f.src != f.dst);
    for (const expectation &e : s.expect)
        REQUIRE(std::isfinite(e.value) && e.value >= 0);
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    try {
        scenario s = parse_scenario({reinterpret_cast<const char *>(data), size}, "fuzz.toml");

        check_scenario(s);
        runs(s);
        if (strip_faults(s)) {
            check_scenario(s);
            REQUIRE(!strip_faults(s));
        }
    } catch (const std::runtime_error &e) {
        refused(e.what());
    }
    return 0;
}
