// { "what": "hrtimer_init(), where hrtimer_setup is not", "used_by": "probe.sh" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/hrtimer.h>

void mrc_probe(struct hrtimer *t, enum hrtimer_restart (*fn)(struct hrtimer *))
{
	hrtimer_init(t, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	t->function = fn;
}
