// SPDX-License-Identifier: GPL-2.0
// histogram.h - adds up and prints the counts of BPF programs. Pure.
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

    // Adds the counts of one CPU.
    void add(const mrc_hist &part);
    void add(const histogram &other) { add(other.sum_); }

    uint64_t count() const { return sum_.count; }
    uint64_t sum() const { return sum_.sum; }
    uint64_t min() const { return sum_.count ? ~sum_.least : 0; }
    uint64_t max() const { return sum_.max; }
    uint64_t mean() const { return sum_.count ? sum_.sum / sum_.count : 0; }
    uint64_t exactly(unsigned small) const { return sum_.slot[small]; } // below MRC_HIST_EXACT
    // The value that @share of all numbers do not exceed; linear inside a step.
    uint64_t quantile(double share) const;

    // The steps that are not empty.
    std::vector<step> steps() const;
    // One step per doubling, from the first to the last one that is not empty.
    std::vector<step> doublings() const;

  private:
    mrc_hist sum_{};
};

// The lower end of slot @i.
uint64_t slot_begin(unsigned i);

// A line per step, with bars; @number formats the ends.
std::string draw(const std::vector<histogram::step> &steps,
                 const std::function<std::string(uint64_t)> &number);

// "41.2us": three digits, in a suitable unit.
std::string format_ns(uint64_t ns);

} // namespace mrcctl
