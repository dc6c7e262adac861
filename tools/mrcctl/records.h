// SPDX-License-Identifier: GPL-2.0
//
// records.h - objects of the netlink family as records for the printer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "../lib/nl/genl.h"
#include "printer.h"

namespace mrcctl {

// Controllers in use towards a peer; several only while QPs of different profiles live.
class controllers {
  public:
    void add(const mrcnl::attr &peer);
    void into(record &r) &&;

  private:
    json list_ = json::array();
    std::string text_;
};

// Of a dump's QPs the first tells all counters, those behind it leave out what is 0.
class counter_names {
  public:
    // All of them, in the first one's order.
    counter_list complete(counter_list told);

  private:
    std::vector<std::string> names_;
};

// Name of the device a message is about.
std::string_view dev_name(const mrcnl::table &t);

record dev_record(const mrcnl::table &t);
record plane_record(const mrcnl::table &t);
// Without its EVs, which come in several messages.
record profile_record(const mrcnl::table &t);
record cc_record(const mrcnl::table &t);
// Without its controllers, which may come in several messages.
record peer_record(const mrcnl::table &t);
// @by: names of the switches that it crosses.
record ev_record(const mrcnl::table &t, const mrcnl::attr &ev, const std::vector<std::string> &by = {});
record qp_record(const mrcnl::table &t, counter_names &names);
record stats_record(const mrcnl::table &t);
// One line per counter, for text.
std::vector<record> stats_lines(const mrcnl::table &t, bool zeros);
record event_record(const mrcnl::table &t);
// A record of the module's log, with its own time.
record log_record(const mrcnl::table &t);

} // namespace mrcctl
