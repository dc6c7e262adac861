// SPDX-License-Identifier: GPL-2.0
// daemon.h - the event loop of mrcd: decides when to reconcile.
#pragma once

#include "netlink_kernel.h"
#include "options.h"
#include "reconcile.h"

namespace mrcd {

// Until SIGTERM or SIGINT; returns the exit status. Everything stays as it is
// in the kernel: packets do not need this process.
int run_daemon(Reconciler &reconciler, const NetlinkKernel &kernel, const Options &options,
               const Log &log);

}   // namespace mrcd
