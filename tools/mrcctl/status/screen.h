// SPDX-License-Identifier: GPL-2.0
//
// screen.h - formats a snapshot as a screen of text. Rates are relative to an earlier snapshot.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "../../lib/health/judge.h"

namespace mrcctl {

using health::device_now, health::peer_now, health::plane_now, health::problem, health::snapshot;

enum class peer_order { problems, qps, address };

struct screen_options {
    bool colour = false;
    size_t peers = 16; // the most peers that are shown
    peer_order order = peer_order::problems;
};

std::string draw_screen(const snapshot &before, const snapshot &now, const std::vector<problem> &problems,
                        const screen_options &opt);
// A rate in bytes per second as bits, with three digits: "12.1 Gb/s", "0".
std::string rate_text(double bytes_per_second);
// An address as users write it: ::ffff:10.0.0.1 without its first half.
std::string address_text(const std::string &gid);
// The rate of @counter in bytes per second.
double plane_rate(const snapshot &before, const snapshot &now, const std::string &dev, const plane_now &plane,
                  uint64_t plane_now::*counter);

} // namespace mrcctl
