// { "since": "6.13", "what": "hrtimer_setup() replaces hrtimer_init()", "used_by": "verbs/mrc_qp_create.c path/mrc_peer_port.c" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/hrtimer.h>

void mrc_probe(struct hrtimer *t, enum hrtimer_restart (*fn)(struct hrtimer *))
{
	hrtimer_setup(t, fn, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
}
