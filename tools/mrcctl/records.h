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

// Controllers in use towards a peer; several only while QPs of different profiles exist.
class controllers {
  public:
    void add(const mrcnl::attr &peer);
    void into(record &r) &&;

  private:
    json list_ = json::array();
    std::string text_;
};

// The first QP of a dump has all counters; the others omit those that are 0. This remembers the
// names.
class counter_names {
  public:
    // All counters, in the order of the first QP.
    counter_list complete(counter_list told);

  private:
    std::vector<std::string> names_;
};

// Names from the fabric file. Empty: none is known.
struct peer_names {
    std::string host;            // of the peer
    std::vector<std::string> by; // of the switches that the EV crosses
};

// The name of the device in a message.
std::string_view dev_name(const mrcnl::table &t);

record dev_record(const mrcnl::table &t);
record plane_record(const mrcnl::table &t);
// Without its EVs, which come in several messages.
record profile_record(const mrcnl::table &t);
record cc_record(const mrcnl::table &t);
// Without its controllers, which may come in several messages.
record peer_record(const mrcnl::table &t);
record ev_record(const mrcnl::table &t, const mrcnl::attr &ev, const peer_names &names = {});
record qp_record(const mrcnl::table &t, counter_names &names);
record stats_record(const mrcnl::table &t);
// One line per counter, for text.
std::vector<record> stats_lines(const mrcnl::table &t, bool zeros);
record event_record(const mrcnl::table &t, const peer_names &names = {});
// A record of the module's log, with its own time.
record log_record(const mrcnl::table &t, const peer_names &names = {});

} // namespace mrcctl
