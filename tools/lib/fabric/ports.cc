// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// ports.cc - see ports.h.
#include "ports.h"

#include <algorithm>

#include "usid.h"

namespace mrcfab {

namespace {

Ip6 end_address(End end)
{
    return {{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, std::uint8_t(end == End::kLower ? 1 : 2)}};
}

End other(End end) { return end == End::kLower ? End::kUpper : End::kLower; }

}   // namespace

void add_port(Desired &d, unsigned mtu, const std::string &link, End own)
{
    d.links.push_back({.name = link, .kind = "", .mtu = mtu, .physical = true});
    d.addrs.push_back({link, {{false, end_address(own).bytes}, kCableLen}});
}

void add_next_hop(Desired &d, const Prefix6 &block, unsigned usid, const std::string &link, End own)
{
    d.routes.push_back({usid_locator(block, usid), end_address(other(own)), {link}});
}

void finish_switch(Desired &d, const Prefix6 &block, unsigned usid)
{
    WantedRoute own{usid_locator(block, usid), std::nullopt, {kSidDevice}};
    for (const WantedLink &link : d.links)
        own.links.push_back(link.name);
    d.routes.insert(d.routes.begin(), own);
    d.links.insert(d.links.begin(),
                   {.name = kSidDevice, .kind = "dummy", .mtu = 0, .optional = true});

    // Both switches of the kernel that need "all"; neither opens an interface by itself.
    d.sysctls = {{"all/forwarding", "1"}, {"all/seg6_enabled", "1"}};
    for (const WantedLink &link : d.links)
        for (const auto &[key, value] : {std::pair{"/forwarding", "1"},
                                         std::pair{"/seg6_enabled", "1"},
                                         std::pair{"/accept_dad", "0"}})
            d.sysctls.push_back({link.name + key, value});
}

unsigned min_active_of(const Fabric &f, std::size_t evs)
{
    const auto n = static_cast<unsigned>(evs);

    return std::min(n, f.min_active.value_or(std::max(1u, n / 4)));
}

}   // namespace mrcfab
