// { "since": "never", "what": "must not compile: else the probing itself is broken", "used_by": "probe.sh" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/module.h>

int mrc_probe(void)
{
	return mrc_no_such_function();
}
