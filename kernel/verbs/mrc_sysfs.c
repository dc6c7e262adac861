// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_sysfs.c - see mrc_sysfs.h.
 *
 * hw_rev, hca_type and board_id are attributes of adapters. They exist here because node_exporter
 * skips all RDMA devices of a host if one has no board_id.
 */
#include <rdma/ib_verbs.h>
#include <rdma/mrc-abi.h>
#include "core/mrc_dev.h"
#include "verbs/mrc_sysfs.h"

/* The verbs plug-in recognises our devices by this file. */
static ssize_t mrc_abi_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", MRC_UVERBS_ABI_VERSION);
}
static DEVICE_ATTR_RO(mrc_abi);

static ssize_t parent_show(struct device *device, struct device_attribute *attr, char *buf)
{
	struct mrc_dev *dev = rdma_device_to_drv_device(device, struct mrc_dev, ibdev);

	return sysfs_emit(buf, "%s\n", netdev_name(dev->ndev));
}
static DEVICE_ATTR_RO(parent);

static ssize_t hw_rev_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "0\n");
}
static DEVICE_ATTR_RO(hw_rev);

static ssize_t hca_type_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "MRC\n");
}
static DEVICE_ATTR_RO(hca_type);

static ssize_t board_id_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "software\n");
}
static DEVICE_ATTR_RO(board_id);

static struct attribute *sysfs_attrs[] = {
	&dev_attr_mrc_abi.attr,
	&dev_attr_parent.attr,
	&dev_attr_hw_rev.attr,
	&dev_attr_hca_type.attr,
	&dev_attr_board_id.attr,
	NULL
};

const struct attribute_group mrc_sysfs_group = {
	.attrs = sysfs_attrs,
};
