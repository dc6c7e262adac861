// SPDX-License-Identifier: GPL-2.0
// fuzz_verdict.cc - the bytes are lines of results, as hosts send them to whoever judges. Each line is taken
// or refused, and counted; what is taken names probes of the fabric and adds up; whatever is
// concluded has a sentence fit for a terminal, and a part that several hosts see needs two of them.
#include <cctype>
#include <string_view>

#include "require.h"
#include "../../tools/lib/verdict/lines.h"
#include "../../tools/lib/verdict/sentence.h"
#include "../../tools/lib/verdict/tracker.h"

namespace {

using namespace mrcver;

constexpr double kNow = 2000;
constexpr std::size_t kLinesMax = 64;
constexpr double kLineSeconds = 3600;

const char *const kFabric = R"([fabric]
block = "fcbb:bb00::/29"
prefix = "fd00:6d72:63::/64"
[planes]
count = 2
[profile]
id = 1
evs_per_plane = 2
[topology]
t0s = 2
t1s = 2
hosts_per_t0 = 2
)";

void taken(const Layout &l, const Evidence &e)
{
    REQUIRE(e.from < e.to && e.to <= kNow + 60.1);
    for (const auto &[host, sent] : e.hosts)
        REQUIRE(host >= 1 && host <= l.hosts() && sent.planes.size() <= l.planes());
    for (const auto &[p, r] : e.failed) {
        REQUIRE(e.hosts.count(p.host));
        REQUIRE(p.t0 == l.t0_of(p.plane, p.host));
        REQUIRE(r.n.failed() > 0 && r.n.failed() <= r.n.sent);
        REQUIRE(r.first >= 0 && r.first <= r.last && r.last > e.from - kLineSeconds && r.last <= e.to);
    }
}

void judged(const Layout &l, const Tracker &t)
{
    std::vector<Finding> all;

    for (const auto &[part, known] : t.known())
        all.push_back(known.finding);
    for (const Finding &f : all) {
        REQUIRE(f.loss >= 0 && f.loss <= 1 && f.confidence > 0 && f.confidence <= 1);
        REQUIRE(f.losses >= kLossesWanted - 0.1);
        REQUIRE(!shared(l, f.part) || f.observers >= kHostsWanted);
        for (const char c : sentence(l, f, all))
            REQUIRE(!std::iscntrl(static_cast<unsigned char>(c)));
    }
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
    static const auto fabric = mrcfab::parse_fabric(kFabric, "fuzz.toml");
    static const Layout layout(fabric);
    std::string_view text(reinterpret_cast<const char *>(data), size);
    Lines lines(layout, kNow);
    std::size_t n = 0;

    for (; !text.empty() && n < kLinesMax; n++) {
        const auto end = text.find('\n');
        const bool good = lines.add(text.substr(0, end));
        REQUIRE(lines.taken() + lines.refused() == n + 1);
        REQUIRE(!good || lines.hosts() >= 1);
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    Tracker t(layout);
    lines.each_slice(1, [&](const Evidence &e) {
        taken(layout, e);
        t.add(e);
    });
    judged(layout, t);
    return 0;
}
