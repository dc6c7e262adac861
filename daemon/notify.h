// SPDX-License-Identifier: GPL-2.0
// notify.h - tells those who started us how far we are.
#pragma once

#include <string>

namespace mrcd {

// sd_notify(3): nothing happens without NOTIFY_SOCKET.
void notify_manager(const std::string &state);
// Makes the file anew; false with errno if that fails.
bool touch(const std::string &path);

}   // namespace mrcd
