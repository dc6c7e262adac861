// SPDX-License-Identifier: GPL-2.0
// tracer.h - loads, attaches and reads the programs of watch.bpf.c. They are removed with the
// object.
//
// The only file that uses libbpf. If mrcctl was built without it, start() always fails.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../../lib/nl/error.h"
#include "events.h"
#include "histogram.h"

namespace mrcctl {

class tracer {
  public:
    tracer();
    ~tracer();

    struct program {
        const char *name, *event;
    };
    // Starts all programs, or none; @qpn 0: for every QP. An error says what is missing.
    mrcnl::error start(const std::vector<program> &programs, uint32_t qpn);

    // The present rows of a map, as sums over all CPUs.
    std::vector<histogram> histograms(const char *map) const;
    std::vector<mrc_recovery> recoveries() const;

  private:
    struct loaded;
    std::unique_ptr<loaded> it_;
};

} // namespace mrcctl
