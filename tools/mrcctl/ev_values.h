// SPDX-License-Identifier: GPL-2.0
// ev_values.h - values of the EVs that records of the log name by index and entropy.
//
// The log has no room for values. The module's path sets have them, as long as the EV exists.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "../lib/nl/genl.h"
#include "values.h"

namespace mrcctl {

// An EV of a peer's path sets, as the module tells it.
struct peer_ev {
    uint8_t plane;
    uint32_t index, entropy;
    ev_value value;
};

// Calls @take for each EV of all path sets of @peer.
mrcnl::error each_ev(mrcnl::genl_socket &nl, const std::string &dev, const gid &peer,
                     const std::function<void(const peer_ev &)> &take);

// The EVs of all path sets of one peer.
class ev_list {
  public:
    void add(unsigned plane, uint32_t index, uint32_t entropy, const ev_value &value);
    // Null: there is no such EV, or path sets disagree about its value.
    std::optional<ev_value> find(unsigned plane, uint32_t index, uint32_t entropy) const;

  private:
    std::map<std::tuple<unsigned, uint32_t, uint32_t>, std::optional<ev_value>> values_;
};

// Gets them from the module over a socket of its own, so that it may be used while another dumps.
class ev_values {
  public:
    // Null also if the module does not answer.
    std::optional<ev_value> find(const std::string &dev, const gid &peer, unsigned plane, uint32_t index,
                                 uint32_t entropy);

  private:
    using clock = std::chrono::steady_clock;
    struct known {
        ev_list evs;
        std::optional<clock::time_point> asked;
    };

    void ask(const std::string &dev, const gid &peer, known &k);

    mrcnl::genl_socket nl_;
    bool open_ = false;
    std::map<std::pair<std::string, gid>, known> peers_;
};

} // namespace mrcctl
