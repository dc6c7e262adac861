// SPDX-License-Identifier: GPL-2.0
// histogram.h - sums up and prints the counts of programs in the kernel. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "events.h"

namespace mrcctl {

class histogram {
  public:
    struct step {
        uint64_t from, to, count; // [from, to)
        bool operator==(const step &) const = default;
    };

    // One processor's share; may be called for each.
    void add(const mrc_hist &part);

    uint64_t count() const { return sum_.count; }
    uint64_t min() const { return sum_.count ? ~sum_.least : 0; }
    uint64_t max() const { return sum_.max; }
    uint64_t mean() const { return sum_.count ? sum_.sum / sum_.count : 0; }
    uint64_t exactly(unsigned small) const { return sum_.slot[small]; } // below MRC_HIST_EXACT
    // So that @share of all are not above; between the ends of a step as if spread evenly.
    uint64_t quantile(double share) const;

    // Steps that are not empty.
    std::vector<step> steps() const;
    // From the first to the last that is not empty, one per doubling.
    std::vector<step> doublings() const;

  private:
    mrc_hist sum_{};
};

// Where slot @i begins.
uint64_t slot_begin(unsigned i);

// A line each, with bars; @number writes the edges.
std::string draw(const std::vector<histogram::step> &steps,
                 const std::function<std::string(uint64_t)> &number);

// "41.2us": three digits, of the unit that fits.
std::string format_ns(uint64_t ns);

} // namespace mrcctl
