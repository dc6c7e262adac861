// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// flat.h - hosts without SRv6: planes are direct cables or separate Ethernet networks.
//
// Host n of the list has address n of the networks, and on plane p the link-local address
// fe80::p:n, by which the others reach it. So no neighbours need to be configured.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ip.h"

namespace mrcfab {

struct Flat {
    std::vector<std::string> hosts;   // the first one is host 1
    std::vector<std::string> ports;   // the first one is plane 1
    std::map<std::string, std::vector<std::string>, std::less<>> differs;   // ports of a host
    std::string device;
    unsigned mtu = 0;
    Prefix6 prefix;
    std::optional<IfAddr> ipv4;

    unsigned number(std::string_view host) const;   // 0: there is none
    const std::vector<std::string> &ports_of(std::string_view host) const;
    // Of host @n: those of the device, and on a plane.
    std::vector<IfAddr> addresses(unsigned n) const;
    Ip6 on_plane(unsigned plane, unsigned n) const;
};

}   // namespace mrcfab
