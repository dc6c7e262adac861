// SPDX-License-Identifier: GPL-2.0
//
// buckets.h - histograms of BPF programs in Prometheus' text format. Pure.
//
// A host has at most buckets_series_max of these series: planes beyond buckets_planes_max are one series, plane="more".
#pragma once

#include <string>
#include <vector>

#include "histogram.h"

namespace mrcctl {

inline constexpr size_t buckets_planes_max = 8;
inline constexpr size_t buckets_series_max = 165;

// @rtt: by plane, row 0 for an unknown one. @recovery: by cause, which are added up.
std::string buckets(const std::vector<histogram> &rtt, const std::vector<histogram> &recovery);

} // namespace mrcctl
