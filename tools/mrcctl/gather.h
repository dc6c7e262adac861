// SPDX-License-Identifier: GPL-2.0
// gather.h - joins the parts of an object that a dump delivers in several messages.
//
// The object is printed when the next one starts, or by flush().
#pragma once

#include "commands.h"
#include "records.h"

namespace mrcctl {

// Parts have equal heads; their generators and EVs are joined.
class profile_gatherer {
  public:
    explicit profile_gatherer(context &ctx) : ctx_(ctx) {}
    void part(const mrcnl::table &t);
    void flush();

  private:
    context &ctx_;
    bool started_ = false;
    record head_;
    json evs_ = json::array(), gens_ = json::array();
    std::string text_, gen_text_;
};

// Parts have the same GID; their congestion controllers are joined.
class peer_gatherer {
  public:
    explicit peer_gatherer(context &ctx) : ctx_(ctx) {}
    void part(const mrcnl::table &t);
    void flush();

  private:
    context &ctx_;
    std::string key_; // device and GID; empty: no part yet
    record head_;
    controllers ccs_;
};

} // namespace mrcctl
