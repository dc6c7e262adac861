// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// probing.h - [probe] of a fabric file: how fast mrcd of each host probes, and what follows from a verdict.
#pragma once

#include <optional>
#include <string>

namespace mrcfab {

// What the file says; the options of mrcd go before it, and defaults are mrcd's.
struct Probing {
    std::optional<std::string> rate;   // off, slow, normal, fast
    std::optional<std::string> mode;   // observe, advise, act
    std::optional<unsigned> timeout_ms, avoid_expiry_s;
};

class Reader;
Probing read_probing(Reader &root);

}   // namespace mrcfab
