// SPDX-License-Identifier: GPL-2.0
// daemon.h - the event loop of mrcd: decides when to reconcile.
#pragma once

#include "netlink_kernel.h"
#include "options.h"
#include "reconcile.h"

namespace mrcd {

// Runs until SIGTERM or SIGINT; returns the exit status. The kernel keeps all settings: packets do
// not need this process.
int run_daemon(Reconciler &reconciler, const NetlinkKernel &kernel, const Options &options,
               const Log &log);

}   // namespace mrcd
