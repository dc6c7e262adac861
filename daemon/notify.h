// SPDX-License-Identifier: GPL-2.0
// notify.h - reports readiness and status to the service manager (sd_notify protocol).
#pragma once

#include <chrono>
#include <string>

namespace mrcd {

// sd_notify(3). Without NOTIFY_SOCKET it does nothing.
void notify_manager(const std::string &state);
// Half of the time after which the manager considers us dead (WatchdogSec=); 0: no watchdog.
std::chrono::microseconds watchdog_period();

// Creates a file whose existence means "ready". Does not write through a file or link of another
// user.
bool touch(const std::string &path);   // false with errno if that fails
void untouch(const std::string &path);

}   // namespace mrcd
