// SPDX-License-Identifier: GPL-2.0
// fabrics.h - fabric files for tests, in the form selftests/lib/fabric.sh prints.
#pragma once

#include <fmt/format.h>

#include <string>

#include "../../tools/lib/fabric/fabric.h"

namespace mrcd {

using namespace mrcfab;

struct Size {
    unsigned hosts = 3, planes = 2, t0s = 2, t1s = 2, evs_per_plane = 4;
    unsigned profile_id = 1, net = 0, first_port = 1, len = 64;
    const char *device = "mrc0";
    const char *suffix = "";   // of hosts' names

    auto operator<=>(const Size &) const = default;
};

inline std::string fabric_text(const Size &z = {})
{
    std::string s = fmt::format("[fabric]\n"
                                "block = \"fcbb:bb00::/32\"\n"
                                "prefix = \"fd00:6d72:63::/64\"\n"
                                "[usid]\n"
                                "plane_stride = 0x1000\n"
                                "t0_base = 0x000\n"
                                "t1_base = 0x100\n"
                                "host_base = 0x200\n"
                                "[planes]\n"
                                "count = {}\n"
                                "[profile]\n"
                                "id = {}\n"
                                "evs_per_plane = {}\n", z.planes, z.profile_id, z.evs_per_plane);
    const auto add_switch = [&](unsigned tier, unsigned p, unsigned n) {
        s += fmt::format("[[switch]]\nname = \"p{1}-t{0}-{2}\"\ntier = {0}\nplane = {1}\n"
                         "index = {2}\n", tier, p, n);
    };
    for (unsigned p = 1; p <= z.planes; p++) {
        for (unsigned n = 1; n <= z.t0s; n++) {
            add_switch(0, p, n);
            for (unsigned t = 1; t <= z.t1s; t++)
                s += fmt::format("[[switch.link]]\nport = \"t1-{0}\"\npeer = \"p{1}-t1-{0}\"\n"
                                 "peer_port = \"t0-{2}\"\n", t, p, n);
        }
        for (unsigned n = 1; n <= z.t1s; n++)
            add_switch(1, p, n);
    }
    for (unsigned i = 1; i <= z.hosts; i++) {
        s += fmt::format("[[host]]\nname = \"h{0}{4}\"\nindex = {0}\ndevice = \"{1}\"\n"
                         "addresses = [\"fd00:6d72:63::{0:x}/{2}\", \"10.77.0.{3}/24\"]\n", i,
                         z.device, z.len, i + 8 * z.net, z.suffix);
        for (unsigned p = 1; p <= z.planes; p++)
            s += fmt::format("[[host.port]]\nplane = {0}\nnetdev = \"eth{3}\"\n"
                             "switch = \"p{0}-t0-{1}\"\nswitch_port = \"h{2}\"\n", p,
                             (i - 1) % z.t0s + 1, i, (p + z.first_port - 2) % 4 + 1);
    }
    return s;
}

inline Fabric make_fabric(const Size &z = {}) { return parse_fabric(fabric_text(z), "fabric.toml"); }

}   // namespace mrcd
