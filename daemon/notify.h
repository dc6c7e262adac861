// SPDX-License-Identifier: GPL-2.0
// notify.h - reports readiness and status to the service manager (sd_notify protocol).
#pragma once

#include <chrono>
#include <string>

namespace mrcd {

// sd_notify(3): nothing happens without NOTIFY_SOCKET.
void notify_manager(const std::string &state);
// Half of the time after which the manager takes us for dead (WatchdogSec=); 0: it does not.
std::chrono::microseconds watchdog_period();

// A file that says "ready" by being there. Another's file or link is not written through.
bool touch(const std::string &path);   // false with errno if that fails
void untouch(const std::string &path);

}   // namespace mrcd
