// SPDX-License-Identifier: GPL-2.0
/*
 * main.c - a user of RDMA in the kernel, for tests only: connected QPs of one device.
 *
 *	insmod mrc_kuser.ko dev=mrc1 gid=1 test=fastreg	loads if all went well, says in the log
 *							what did not
 *
 * All is undone before it returns, but the module stays.
 */
#include <linux/module.h>
#include "pair.h"

static char *dev = "mrc0";
module_param(dev, charp, 0444);
static int gid = 1;
module_param(gid, int, 0444);
static char *test = "messages";
module_param(test, charp, 0444);

static const struct ku_test {
	const char *name;
	bool (*run)(struct ku *k);
	enum ib_poll_context poll;
	int n_qp;
	bool shared;
} tests[] = {
	{ "messages", ku_messages, IB_POLL_WORKQUEUE, 2 },
	{ "softirq", ku_messages, IB_POLL_SOFTIRQ, 2 },
	{ "unbound", ku_messages, IB_POLL_UNBOUND_WORKQUEUE, 2 },
	{ "direct", ku_messages, IB_POLL_DIRECT, 2 },
	{ "fastreg", ku_fastreg, IB_POLL_SOFTIRQ, 2 },
	{ "race", ku_race, IB_POLL_WORKQUEUE, 4 },
	{ "shared", ku_messages, IB_POLL_SOFTIRQ, 2, true },
	{ "srq", ku_srq, IB_POLL_WORKQUEUE, 4, true },
};

static int run(struct ib_device *ibdev, const struct ku_test *t)
{
	struct ku k = {
		.ibdev = ibdev, .gid = gid, .poll = t->poll, .n_qp = t->n_qp, .shared = t->shared,
	};
	int err = ku_make(&k);

	if (err)
		pr_err("mrc_kuser: no QPs on %s: %d\n", dev, err);
	else
		err = t->run(&k) ? 0 : -EIO;
	ku_end(&k);
	return err;
}

static int __init ku_init(void)
{
	struct ib_device *ibdev = ib_device_get_by_name(dev, RDMA_DRIVER_UNKNOWN);
	int i, err = -ENOENT;

	if (!ibdev) {
		pr_err("mrc_kuser: no RDMA device %s\n", dev);
		return -ENODEV;
	}
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		if (!strcmp(tests[i].name, test))
			err = run(ibdev, &tests[i]);
	ib_device_put(ibdev);
	return err;
}

static void __exit ku_exit(void)
{
}

module_init(ku_init);
module_exit(ku_exit);
MODULE_DESCRIPTION("test: a user of RDMA in the kernel");
MODULE_LICENSE("GPL");
