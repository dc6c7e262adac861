// SPDX-License-Identifier: GPL-2.0
// monitor.h - the pages of mrcd's web server: "/metrics" for Prometheus, "/" for people, "/events" for that page.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "../../tools/lib/health/exposition.h"
#include "http.h"

namespace mrcd {

// The kernel is queried at most once in kMeasureEach, however many clients there are.
inline constexpr std::chrono::milliseconds kMeasureEach{900};

class Monitor {
public:
    using State = std::function<health::daemon_state()>;

    // Results of self-probes: the faults, a sentence each, and metrics.
    struct Probed {
        std::vector<std::string> faults;
        std::string metrics;
    };
    using Probes = std::function<Probed(std::size_t room)>;   // @room: the most series

    Monitor(std::string node, State state, Probes probes = {})
        : node_(std::move(node)), state_(std::move(state)), probes_(std::move(probes))
    {
    }
    HttpPage page(std::string_view path);
    // A server-sent event: this host as JSON.
    std::string event();

    static constexpr const char *kEvents = "/events";

private:
    const health::measurement &measured();

    std::string node_;
    State state_;
    Probes probes_;
    health::measurement last_;
    std::chrono::steady_clock::time_point until_{};
};

// The JSON of event(). Pure.
std::string onlooker_json(const std::string &node, const health::measurement &m,
                          const std::vector<std::string> &faults = {});

}   // namespace mrcd
