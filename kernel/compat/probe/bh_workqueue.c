// { "since": "6.10", "what": "work items in softirq, which can be disabled, replace tasklets", "used_by": "data/mrc_bh.c data/mrc_ud.c verbs/mrc_ud_create.c" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/workqueue.h>

bool mrc_probe(struct work_struct *w)
{
	return (queue_work(system_bh_wq, w) || queue_work(system_bh_highpri_wq, w)) && disable_work_sync(w);
}
