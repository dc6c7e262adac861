// SPDX-License-Identifier: GPL-2.0
/*
 * mrcport_proc.c - /proc/net/mrcport: settings and counters of the ports of one
 * network namespace.
 *
 * Reading: one line "PORT KEY VALUE KEY VALUE..." per port. Writing: "PORT KEY VALUE
 * ..." with the settings to change; all or nothing.
 */
#include <linux/netdevice.h>
#include <linux/proc_fs.h>
#include <linux/rtnetlink.h>
#include <linux/seq_file.h>
#include <net/net_namespace.h>
#include "mrcport.h"

static const struct {
	const char *name;
	size_t offset;
} keys[] = {
#define KEY(k) { #k, offsetof(struct mrcport_params, k) }
	KEY(limit), KEY(ecn_min), KEY(ecn_max), KEY(trim), KEY(lasthop), KEY(inner),
	KEY(udplen), KEY(pad), KEY(trimmable), KEY(trimmable_rtx), KEY(control), KEY(trimmed),
	KEY(trimmed_lasthop),
#undef KEY
};

/* ---- reading ---- */

static void show_queue(struct seq_file *f, const char *name, const struct mrcport_queue *q)
{
	seq_printf(f, " %s_pkts %llu %s_bytes %llu %s_dropped %llu", name, q->sent_pkts,
		   name, q->sent_bytes, name, q->dropped);
	seq_printf(f, " %s_backlog %llu %s_max %llu", name, q->bytes, name, q->max_bytes);
}

static void show_port(struct seq_file *f, const struct net_device *dev, struct Qdisc *sch)
{
	struct mrcport *m = mrcport_of(sch);
	struct mrcport copy;
	int i;

	if (!m)
		return;
	sch_tree_lock(sch);
	copy = *m;
	sch_tree_unlock(sch);
	seq_printf(f, "%s rate %llu", dev->name, copy.p.rate);
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		seq_printf(f, " %s %u", keys[i].name, *(u32 *)((u8 *)&copy.p + keys[i].offset));
	show_queue(f, "data", &copy.data);
	show_queue(f, "high", &copy.high);
	seq_printf(f, " marked %llu trimmed_pkts %llu rtx_pkts %llu\n", copy.marked,
		   copy.trimmed, copy.rtx_pkts);
}

static int ports_show(struct seq_file *f, void *v)
{
	struct net_device *dev;

	rtnl_lock();
	for_each_netdev(seq_file_single_net(f), dev)
		show_port(f, dev, rtnl_dereference(dev->qdisc));
	rtnl_unlock();
	return 0;
}

/* ---- writing ---- */

static int set_one(struct mrcport_params *p, const char *key, const char *value)
{
	int i, err;
	u32 n;

	if (!strcmp(key, "rate"))
		return kstrtou64(value, 0, &p->rate);
	err = kstrtou32(value, 0, &n);
	if (err)
		return err;
	if (!strcmp(key, "ecn")) {	/* a step */
		p->ecn_min = n;
		p->ecn_max = n;
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strcmp(key, keys[i].name))
			continue;
		*(u32 *)((u8 *)p + keys[i].offset) = n;
		return 0;
	}
	return -EINVAL;
}

static int set_all(struct mrcport_params *p, char *text)
{
	char *key, *value;
	int err;

	while ((key = strsep(&text, " \n"))) {
		if (!*key)
			continue;
		value = strsep(&text, " \n");
		if (!value)
			return -EINVAL;
		err = set_one(p, key, value);
		if (err)
			return err;
	}
	return p->ecn_min > p->ecn_max ? -EINVAL : 0;
}

static int port_set(struct net *net, const char *name, char *text)
{
	struct net_device *dev = __dev_get_by_name(net, name);
	struct Qdisc *sch = dev ? rtnl_dereference(dev->qdisc) : NULL;
	struct mrcport *m = mrcport_of(sch);
	struct mrcport_params p;
	int err;

	if (!m)
		return -ENODEV;
	p = m->p;
	err = set_all(&p, text);
	if (err)
		return err;
	sch_tree_lock(sch);
	m->p = p;
	sch_tree_unlock(sch);
	return 0;
}

static int ports_write(struct file *file, char *buf, size_t size)
{
	struct net *net = seq_file_single_net(file->private_data);
	char *name = strsep(&buf, " \n");
	int err;

	rtnl_lock();
	err = buf ? port_set(net, name, buf) : -EINVAL;
	rtnl_unlock();
	return err;
}

/* ---- per namespace ---- */

static int __net_init ports_net_init(struct net *net)
{
	return proc_create_net_single_write("mrcport", 0600, net->proc_net, ports_show,
					    ports_write, NULL) ? 0 : -ENOMEM;
}

static void __net_exit ports_net_exit(struct net *net)
{
	remove_proc_entry("mrcport", net->proc_net);
}

static struct pernet_operations ports_net_ops = {
	.init = ports_net_init,
	.exit = ports_net_exit,
};

int mrcport_proc_init(void)
{
	return register_pernet_subsys(&ports_net_ops);
}

void mrcport_proc_exit(void)
{
	unregister_pernet_subsys(&ports_net_ops);
}
