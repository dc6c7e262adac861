// { "since": "always", "what": "must compile: else the probing itself is broken", "used_by": "probe.sh" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/module.h>

int mrc_probe;
