// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// cabling.h - finds the other end of a cable.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "fabric.h"

namespace mrcfab {

struct PortAt {
    std::string node, port;

    auto operator<=>(const PortAt &) const = default;
};

class Cabling {
public:
    explicit Cabling(const Fabric &fabric);

    std::optional<PortAt> far_end(const PortAt &here) const;

private:
    const Fabric &fabric_;
    std::map<PortAt, PortAt> ends_;   // of lists
};

}   // namespace mrcfab
