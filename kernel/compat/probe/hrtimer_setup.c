// { "since": "6.13", "what": "hrtimer_setup() replaces hrtimer_init()", "used_by": "mrc_qp.c" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/hrtimer.h>

void mrc_probe(struct hrtimer *t, enum hrtimer_restart (*fn)(struct hrtimer *))
{
	hrtimer_setup(t, fn, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}
