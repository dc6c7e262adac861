// SPDX-License-Identifier: GPL-2.0
/* leak.c - forgets memory and a reference to the task that loads it, for host/runuml.sh. */
#include <linux/module.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

static int __init leak_init(void)
{
	void *lost = kmalloc(2048, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(lost);
	get_task_struct(current);
	return lost ? 0 : -ENOMEM;
}

static void __exit leak_exit(void)
{
}

module_init(leak_init);
module_exit(leak_exit);
MODULE_DESCRIPTION("forgets what it takes");
MODULE_LICENSE("GPL");
