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

/* The one of that name; ib_core tells of each that there is when a client comes. */
static struct ib_device *ku_ibdev;

static int ku_add(struct ib_device *ibdev)
{
	if (!strcmp(dev_name(&ibdev->dev), dev) && ib_device_try_get(ibdev))
		ku_ibdev = ibdev;
	return 0;
}

static struct ib_client ku_client = { .name = "mrc_kuser", .add = ku_add };

static int __init ku_init(void)
{
	int i, err = ib_register_client(&ku_client);
	struct ib_device *ibdev;

	if (err)
		return err;
	ib_unregister_client(&ku_client);
	ibdev = ku_ibdev;
	if (!ibdev) {
		pr_err("mrc_kuser: no RDMA device %s\n", dev);
		return -ENODEV;
	}
	err = -ENOENT;
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
