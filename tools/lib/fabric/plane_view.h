// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// plane_view.h - the part of a plane that fits into a picture.
#pragma once

#include <string>
#include <vector>

#include "fabric.h"

namespace mrcfab {

inline constexpr std::size_t kViewMax = 8;   // of a tier: the first ones and the last

struct PlaneView {
    struct Switch {
        std::string name;
        unsigned usid = 0;
        unsigned hosts = 0;                   // T0
        std::string first_host, last_host;
        std::vector<bool> cabled;             // T0: to each T1 of the view
    };

    unsigned plane = 0, planes = 0;
    Prefix6 block;
    std::size_t t0s = 0, t1s = 0;             // all of them
    std::vector<Switch> t0, t1;
    std::vector<std::string> exceptions;      // that the rule has, by name
};

PlaneView plane_view(const Fabric &fabric, unsigned plane);

}   // namespace mrcfab
