// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * verbs.c - queries of a device and its port.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "mrc_prov.h"

int mrc_query_device_ex(struct ibv_context *context,
			const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ib_uverbs_ex_query_device_resp resp = {};
	size_t resp_size = sizeof(resp);
	uint64_t fw;
	int ret;

	ret = ibv_cmd_query_device_any(context, input, attr, attr_size, &resp, &resp_size);
	if (ret)
		return ret;

	fw = resp.base.fw_ver;
	snprintf(attr->orig_attr.fw_ver, sizeof(attr->orig_attr.fw_ver), "%u.%u.%u",
		 (unsigned int)(fw >> 32) & 0xffff, (unsigned int)(fw >> 16) & 0xffff,
		 (unsigned int)fw & 0xffff);
	if (attr_size >= offsetof(struct ibv_device_attr_ex, max_dm_size) + sizeof(attr->max_dm_size))
		attr->max_dm_size = MRC_MAX_DM;
	return 0;
}

int mrc_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd = {};
	int ret;

	ret = ibv_cmd_query_port(context, port, attr, &cmd, sizeof(cmd));
	if (!ret)
		attr->lid = mrc_lid(context);
	return ret;
}

/* Completions have timestamps of CLOCK_MONOTONIC (mrc-abi.h), so that clock is the raw one. */
int mrc_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	const uint32_t asked = values->comp_mask;

	(void)context;
	values->comp_mask = 0;
	if (!(asked & IBV_VALUES_MASK_RAW_CLOCK))
		return asked ? EOPNOTSUPP : 0;
	if (clock_gettime(CLOCK_MONOTONIC, &values->raw_clock))
		return errno;
	values->comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
	return 0;
}
