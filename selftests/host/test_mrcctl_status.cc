// SPDX-License-Identifier: GPL-2.0
// test_mrcctl_status.cc - which problems mrcctl status finds on a snapshot, and how it draws one.
#include "../../tools/mrcctl/status/screen.h"
#include "test_mrcctl.h"

using namespace mrcctl;

namespace {

plane_now plane_up(unsigned number, uint64_t tx, uint64_t rx)
{
    return {.number = number, .port = fmt::format("eth{}", number), .admin = true, .carrier = true, .up = true,
            .held = false, .small = false, .mtu = 9000, .speed_mbps = 100000, .tx_bytes = tx, .rx_bytes = rx};
}

snapshot healthy(uint64_t tx1, uint64_t tx2)
{
    snapshot s;
    s.devices.push_back({.name = "mrc0", .registered = true, .qps = 4, .planes = {plane_up(1, tx1, 0), plane_up(2, tx2, 0)}});
    s.peers.push_back({.dev = "mrc0", .gid = "::ffff:10.0.0.2", .evs = 8, .good = 8, .skip = 0, .assumed_bad = 0,
                       .denied = 0, .qps = 4, .hints = {}, .bad_of = {}});
    return s;
}

std::string problems_as(const snapshot &s)
{
    std::string out;
    for (auto &p : problems_of(s))
        out += fmt::format("{}{}/{}: {}", out.empty() ? "" : "; ", p.dev, p.plane, p.text);
    return out;
}

// With plane 2 as @change makes it.
template <class F>
std::string with_plane(F change)
{
    snapshot s = healthy(0, 0);
    s.devices[0].planes[1].up = false;
    change(s.devices[0].planes[1]);
    return problems_as(s);
}

bool has(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

void test_problems()
{
    equal("status: well", problems_as(healthy(0, 0)), "");
    equal("no carrier", with_plane([](plane_now &p) { p.carrier = false; }), "mrc0/2: plane 2 (eth2) has no carrier");
    equal("a plane that was switched off is none", with_plane([](plane_now &p) { p.admin = p.carrier = false; }), "");
    equal("flaps", with_plane([](plane_now &p) { p.held = true; }),
          "mrc0/2: plane 2 (eth2) is held: its link came and went too often");
    equal("MTU", with_plane([](plane_now &p) { p.small = true; p.mtu = 1500; }),
          "mrc0/2: plane 2 (eth2) is kept out: its MTU of 1500 is too small for packets of QPs");
    equal("no port", with_plane([](plane_now &p) { p.port = ""; p.carrier = false; }), "mrc0/2: plane 2 has no port");
    equal("another reason", with_plane([](plane_now &) {}), "mrc0/2: plane 2 (eth2) is not used");
    snapshot s = healthy(0, 0);
    s.peers[0].assumed_bad = 3;
    s.peers[0].bad_of = {{2, 3}};
    s.peers[0].hints = {"icrc"};
    s.peers[0].denied = 1;
    equal("a peer's paths and hints", problems_as(s),
          "mrc0/0: peer ::ffff:10.0.0.2: hint icrc; mrc0/2: peer ::ffff:10.0.0.2: 3 paths on plane 2 lost packets and are silent");
    s.devices[0].planes.clear();
    s.peers.clear();
    equal("no plane", problems_as(s), "mrc0/0: the device has no plane");
}

void test_screen()
{
    snapshot before = healthy(1000, 1000), now = healthy(1000 + 125000000, 1000 + 375000000);
    now.at = before.at + std::chrono::seconds(1);
    auto text = draw_screen(before, now, problems_of(now), {});
    check("the verdict is on top", text.starts_with("well: 2 of 2 planes up, 1 peer, 8 of 8 paths good\n"), text);
    check("planes with rates and shares", has(text, "1.00 Gb/s           0   25 %") && has(text, "3.00 Gb/s           0   75 %"),
          text);
    check("an IPv4 address as people write it", has(text, " 10.0.0.2 ") && !has(text, "ffff"), text);
    check("no colour in a file", !has(text, "\033"), text);
    now.devices[0].planes[0].up = now.devices[0].planes[0].carrier = false;
    text = draw_screen(before, now, problems_of(now), {.colour = true, .peers = 16, .order = peer_order::qps});
    check("a problem has its remedy below", has(text, "plane 1 (eth1) has no carrier\n      ip link show eth1"), text);
    check("and is red", has(text, "\033[31mno carrier"), text);
    now.peers.resize(20, now.peers[0]);
    text = draw_screen(before, now, {}, {});
    check("the rest of many peers is counted", has(text, "and 4 more: mrcctl peer show"), text);
    now.devices[0].planes[1].tx_bytes = 0;
    check("counters that began anew give no rate",
          plane_rate(before, now, "mrc0", now.devices[0].planes[1], &plane_now::tx_bytes) == 0);
    equal("rates", fmt::format("{}, {}, {}, {}, {}", rate_text(0), rate_text(1), rate_text(124.9), rate_text(1.25e10),
                               rate_text(4.9e10)),
          "0, 8 b/s, 999 b/s, 100 Gb/s, 392 Gb/s");
}

} // namespace

void test_status()
{
    test_problems();
    test_screen();
}
