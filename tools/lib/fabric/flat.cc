// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// flat.cc - see flat.h.
#include "flat.h"

#include <algorithm>

namespace mrcfab {

unsigned Flat::number(std::string_view host) const
{
    const auto it = std::find(hosts.begin(), hosts.end(), host);
    return it == hosts.end() ? 0 : static_cast<unsigned>(it - hosts.begin()) + 1;
}

const std::vector<std::string> &Flat::ports_of(std::string_view host) const
{
    const auto it = differs.find(host);
    return it == differs.end() ? ports : it->second;
}

std::vector<IfAddr> Flat::addresses(unsigned n) const
{
    Ip6 v6 = prefix.addr;
    std::vector<IfAddr> list;

    put_bits(v6, 112, 16, n);
    list.push_back({{false, v6.bytes}, prefix.len});
    if (ipv4) {
        IfAddr v4 = *ipv4;
        Ip6 bits;
        std::copy_n(v4.addr.bytes.begin(), 4, bits.bytes.begin());
        put_bits(bits, v4.len, 32u - v4.len, n);
        std::copy_n(bits.bytes.begin(), 4, v4.addr.bytes.begin());
        list.push_back(v4);
    }
    return list;
}

Ip6 Flat::on_plane(unsigned plane, unsigned n) const
{
    Ip6 a{{0xfe, 0x80}};

    put_bits(a, 96, 16, plane);
    put_bits(a, 112, 16, n);
    return a;
}

}   // namespace mrcfab
