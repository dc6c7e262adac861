// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * lid.c - InfiniBand addresses (LIDs), for programs that know no others: qperf without rdma_cm,
 * ibv_rc_pingpong without -g.
 *
 * RoCE ports have no LID, so such programs fail with EINVAL. Our LID is the last 16 bits of the
 * device's first IPv4 address, or of an IPv6 address if there is none. A destination LID selects
 * the host whose address differs from ours only in those bits. That reaches every host of an IPv4
 * subnet. Other hosts are not found, as with an unused address. LID 0 stays invalid.
 */
#include <string.h>
#include "mrc_prov.h"

#define LID_GIDS	128	/* as many as the module's port has */
#define LID_HOPS	64

static bool gid_is_v4(const union ibv_gid *gid)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid->raw, mapped, sizeof(mapped));
}

/* Link-local addresses reach only the other end of a cable. */
static bool gid_is_host(const union ibv_gid *gid)
{
	return gid->global.interface_id && !(gid->raw[0] == 0xfe && (gid->raw[1] & 0xc0) == 0x80);
}

/* The index of the GID whose last bits are the LID; negative: there is none. */
static int lid_gid(struct ibv_context *ctx, union ibv_gid *gid)
{
	union ibv_gid one;
	int i, found = -1;

	for (i = 0; i < LID_GIDS; i++) {
		if (ibv_query_gid(ctx, 1, i, &one) || !gid_is_host(&one))
			continue;
		if (found >= 0 && !gid_is_v4(&one))
			continue;
		found = i;
		*gid = one;
		if (gid_is_v4(&one))
			break;
	}
	return found;
}

uint16_t mrc_lid(struct ibv_context *ctx)
{
	union ibv_gid gid;

	return lid_gid(ctx, &gid) < 0 ? 0 : (uint16_t)(gid.raw[14] << 8 | gid.raw[15]);
}

void mrc_lid_resolve(struct ibv_context *ctx, struct ibv_ah_attr *attr)
{
	union ibv_gid gid;
	int idx;

	if (attr->is_global || !attr->dlid)
		return;
	idx = lid_gid(ctx, &gid);
	if (idx < 0)
		return;
	gid.raw[14] = (uint8_t)(attr->dlid >> 8);
	gid.raw[15] = (uint8_t)attr->dlid;
	attr->grh = (struct ibv_global_route) {
		.dgid = gid, .sgid_index = (uint8_t)idx, .hop_limit = LID_HOPS,
	};
	attr->is_global = 1;
}
