// SPDX-License-Identifier: GPL-2.0
// flap.h - damping of planes that come and go: after kFlapDowns losses of
// carrier within kFlapWindow a plane is held down for kFlapHold, counted from
// its last loss. Pure: the time is an argument.
//
// The module reacts to each loss at once by itself; what damping saves is the
// peers' probing and the packets lost at each return.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace mrcd {

inline constexpr unsigned kFlapDowns = 5;
inline constexpr std::chrono::seconds kFlapWindow{10};
inline constexpr std::chrono::seconds kFlapHold{30};

class FlapDamper {
public:
    using Time = std::chrono::steady_clock::time_point;

    // The carrier of a plane as an event showed it. True: damping begins now.
    bool carrier(std::uint8_t plane, bool running, Time now);
    // Planes whose hold has ended by now; they are damped no longer.
    std::vector<std::uint8_t> release(Time now);
    bool damped(std::uint8_t plane) const;
    // When release() is next worth calling.
    std::optional<Time> deadline() const;

private:
    struct State {
        std::optional<bool> running;
        std::deque<Time> downs;
        std::optional<Time> held_until;
    };

    std::map<std::uint8_t, State> planes_;
};

}   // namespace mrcd
