// SPDX-License-Identifier: GPL-2.0
// daemon.h - the event loop: when to reconcile.
#pragma once

#include <string>

#include "netlink_kernel.h"
#include "reconcile.h"

namespace mrcd {

// Until SIGTERM or SIGINT; returns the exit status. Everything stays as it is
// in the kernel: packets do not need this process.
int run_daemon(Reconciler &reconciler, const NetlinkKernel &kernel, const std::string &ready_file,
               const Log &log);

}   // namespace mrcd
