// { "what": "tasklets, where work items in softirq are not", "used_by": "probe.sh" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/interrupt.h>

void mrc_probe(struct tasklet_struct *t, void (*fn)(struct tasklet_struct *t))
{
	tasklet_setup(t, fn);
	tasklet_schedule(t);
	tasklet_unlock_wait(t);
	tasklet_kill(t);
}
