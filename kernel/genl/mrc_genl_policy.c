// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_genl_policy.c - see mrc_genl_policy.h. Attributes that are only reported are in no policy.
 */
#include <rdma/ib_verbs.h>
#include "engine/wire/mrc_evgen.h"
#include "engine/paths/mrc_spray.h"
#include "engine/base/mrc_types.h"
#include "genl/mrc_genl_policy.h"

#define MRC_CWND_MIN	4096	/* one packet */

/* Not const, because Linux 6.1 requires that. */
static struct netlink_range_validation mrc_cwnd_range = {
	.min = MRC_CWND_MIN,
	.max = 1u << 30,
};

static struct netlink_range_validation mrc_id_range = {
	.min = 1,
	.max = U64_MAX,
};

static struct netlink_range_validation mrc_window_range = {
	.max = 1u << 30,
};

static struct netlink_range_validation mrc_ratio_range = {
	.max = 1u << 16,	/* 1.0 in 16.16 */
};

static struct netlink_range_validation mrc_damp_range = {
	.max = 3600 * 1000,	/* an hour */
};

static struct netlink_range_validation mrc_expiry_range = {
	.min = 1,
	.max = 3600,		/* an hour */
};

static struct netlink_range_validation mrc_avoid_range = {
	.min = 1,
	.max = 24 * 3600,	/* a day */
};

static struct netlink_range_validation mrc_lateness_range = {
	.min = 1000,
	.max = 10 * 1000 * 1000,	/* 10 s */
};

static struct netlink_range_validation mrc_interval_range = {
	.min = 1000,
	.max = 1000 * 1000 * 1000,
};

static struct netlink_range_validation mrc_packet_range = {
	.max = U16_MAX,
};

const struct nla_policy mrc_genl_dev_policy[MRC_A_DEV_MAX + 1] = {
	[MRC_A_DEV_UDP_PORT]	= NLA_POLICY_MIN(NLA_U16, 1),
	[MRC_A_DEV_ICRC]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_DEV_CWND]	= NLA_POLICY_FULL_RANGE(NLA_U32, &mrc_cwnd_range),
	[MRC_A_DEV_MPR]		= NLA_POLICY_RANGE(NLA_U8, 1, MRC_MPR_MAX),
	[MRC_A_DEV_HOP_LIMIT]	= NLA_POLICY_MIN(NLA_U8, 1),
	[MRC_A_DEV_DSCP_DATA]	= NLA_POLICY_MAX(NLA_U8, 63),
	[MRC_A_DEV_DSCP_RTX]	= NLA_POLICY_MAX(NLA_U8, 63),
	[MRC_A_DEV_DSCP_CONTROL] = NLA_POLICY_MAX(NLA_U8, 63),
	[MRC_A_DEV_PROFILE_ID]	= { .type = NLA_U64 },
	[MRC_A_DEV_DSCP_NO_TRIM] = NLA_POLICY_MAX(NLA_U8, 63),
	[MRC_A_DEV_DSCP_TRIMMED] = NLA_POLICY_MAX(NLA_U8, 63),
	[MRC_A_DEV_DSCP_TRIMMED_LASTHOP] = NLA_POLICY_MAX(NLA_U8, 63),
	[MRC_A_DEV_TRIM_NACK]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_DEV_ACTIVE_EVS]	= NLA_POLICY_RANGE(NLA_U32, 1, MRC_EVS_MAX),
	[MRC_A_DEV_CC_PROFILE_ID] = { .type = NLA_U64 },
	[MRC_A_DEV_TIMESTAMPS]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_DEV_DYN_MPR]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_DEV_STRICT]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_DEV_SLEEK]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_DEV_INCAST]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_DEV_OOR_NACK]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_DEV_EXP_CNT]	= NLA_POLICY_MAX(NLA_U8, MRC_EXP_FOREVER),
	[MRC_A_DEV_EV_PORT_LOW]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_DEV_MRC_PAD]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_DEV_EP_OP_HIGH]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_DEV_PORT_BIT_1]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_DEV_BURST]	= NLA_POLICY_MAX(NLA_U8, MRC_BURST_MAX),
	[MRC_A_DEV_DAMP]	= NLA_POLICY_FULL_RANGE(NLA_U32, &mrc_damp_range),
};

const struct nla_policy mrc_genl_plane_policy[MRC_A_PLANE_MAX + 1] = {
	[MRC_A_PLANE_NUMBER]	= NLA_POLICY_RANGE(NLA_U8, 1, MRC_PLANES_MAX),
	[MRC_A_PLANE_IFNAME]	= { .type = NLA_NUL_STRING, .len = IFNAMSIZ - 1 },
	[MRC_A_PLANE_ADMIN]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_PLANE_SID]	= NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
};

/* An EV of a profile */
const struct nla_policy mrc_genl_profile_ev_policy[MRC_A_EV_MAX + 1] = {
	[MRC_A_EV_VALUE]	= NLA_POLICY_EXACT_LEN(32),
	[MRC_A_EV_PORT]		= NLA_POLICY_RANGE(NLA_U8, 1, MRC_PLANES_MAX),
	[MRC_A_EV_STATE]	= NLA_POLICY_MAX(NLA_U32, MRC_NL_EV_DENIED),
};

const struct nla_policy mrc_genl_field_policy[MRC_A_FIELD_MAX + 1] = {
	[MRC_A_FIELD_WIDTH]	= NLA_POLICY_RANGE(NLA_U32, 1, 32),
	[MRC_A_FIELD_INIT]	= { .type = NLA_U32 },
	[MRC_A_FIELD_FIRST]	= { .type = NLA_U32 },
	[MRC_A_FIELD_LAST]	= { .type = NLA_U32 },
	[MRC_A_FIELD_MASK]	= { .type = NLA_U32 },
};

const struct nla_policy mrc_genl_copy_policy[MRC_A_COPY_MAX + 1] = {
	[MRC_A_COPY_FROM]	= { .type = NLA_U32 },
	[MRC_A_COPY_BIT]	= { .type = NLA_U32 },
	[MRC_A_COPY_WIDTH]	= { .type = NLA_U32 },
	[MRC_A_COPY_AT]		= { .type = NLA_U32 },
};

const struct nla_policy mrc_genl_gen_policy[MRC_A_GEN_MAX + 1] = {
	[MRC_A_GEN_PORT]	= NLA_POLICY_RANGE(NLA_U8, 1, MRC_PLANES_MAX),
	[MRC_A_GEN_FIELD]	= NLA_POLICY_NESTED(mrc_genl_field_policy),
	[MRC_A_GEN_COPY]	= NLA_POLICY_NESTED(mrc_genl_copy_policy),
};

const struct nla_policy mrc_genl_profile_policy[MRC_A_PROFILE_MAX + 1] = {
	[MRC_A_PROFILE_ID]	= NLA_POLICY_FULL_RANGE(NLA_U64, &mrc_id_range),
	[MRC_A_PROFILE_DST]	= NLA_POLICY_EXACT_LEN(sizeof(union ib_gid)),
	[MRC_A_PROFILE_FMT]	= { .type = NLA_U32 },
	[MRC_A_PROFILE_MODE]	= { .type = NLA_U32 },
	[MRC_A_PROFILE_MIN_ACTIVE] = NLA_POLICY_MAX(NLA_U32, MRC_EVS_MAX),
	[MRC_A_PROFILE_EV]	= NLA_POLICY_NESTED(mrc_genl_profile_ev_policy),
	[MRC_A_PROFILE_COUNT]	= NLA_POLICY_RANGE(NLA_U32, 1, MRC_EVS_MAX),
	[MRC_A_PROFILE_FMT_WIDTHS] = NLA_POLICY_RANGE(NLA_BINARY, 1, MRC_EV_FIELDS_MAX),
	[MRC_A_PROFILE_GEN]	= NLA_POLICY_NESTED(mrc_genl_gen_policy),
	[MRC_A_PROFILE_DST_LEN]	= NLA_POLICY_MIN(NLA_U8, 1),
};

const struct nla_policy mrc_genl_profile_key_policy[MRC_A_PROFILE_MAX + 1] = {
	[MRC_A_PROFILE_ID]	= NLA_POLICY_FULL_RANGE(NLA_U64, &mrc_id_range),
	[MRC_A_PROFILE_DST]	= NLA_POLICY_EXACT_LEN(sizeof(union ib_gid)),
	[MRC_A_PROFILE_DST_LEN]	= NLA_POLICY_MIN(NLA_U8, 1),
};

const struct nla_policy mrc_genl_cc_policy[MRC_A_CC_MAX + 1] = {
	[MRC_A_CC_ID]		= NLA_POLICY_FULL_RANGE(NLA_U64, &mrc_id_range),
	[MRC_A_CC_ALGORITHM]	= { .type = NLA_NUL_STRING, .len = MRC_CC_NAME_MAX },
	[MRC_A_CC_WINDOW]	= NLA_POLICY_FULL_RANGE(NLA_U32, &mrc_window_range),
	[MRC_A_CC_DISABLE_QA]	= NLA_POLICY_MAX(NLA_U8, 1),
	[MRC_A_CC_QA_GATE]	= NLA_POLICY_MAX(NLA_U8, 31),
	[MRC_A_CC_QA_THRESHOLD]	= { .type = NLA_U32 },
	[MRC_A_CC_TARGET_DELAY]	= { .type = NLA_U32 },
	[MRC_A_CC_BASE_RTT]	= { .type = NLA_U32 },
	[MRC_A_CC_MAX_CWND]	= NLA_POLICY_FULL_RANGE(NLA_U32, &mrc_window_range),
	[MRC_A_CC_ADJUST_BYTES]	= { .type = NLA_U32 },
	[MRC_A_CC_ADJUST_PERIOD] = { .type = NLA_U32 },
	[MRC_A_CC_ETA]		= { .type = NLA_U32 },
	[MRC_A_CC_FI]		= { .type = NLA_U32 },
	[MRC_A_CC_FI_SCALE]	= { .type = NLA_U32 },
	[MRC_A_CC_GAMMA]	= NLA_POLICY_FULL_RANGE(NLA_U32, &mrc_ratio_range),
	[MRC_A_CC_MAX_MD_JUMP]	= NLA_POLICY_FULL_RANGE(NLA_U32, &mrc_ratio_range),
	[MRC_A_CC_TRIMMING]	= NLA_POLICY_MAX(NLA_U8, 1),
};

const struct nla_policy mrc_genl_cc_key_policy[MRC_A_CC_MAX + 1] = {
	[MRC_A_CC_ID]		= NLA_POLICY_FULL_RANGE(NLA_U64, &mrc_id_range),
};

const struct nla_policy mrc_genl_peer_policy[MRC_A_PEER_MAX + 1] = {
	[MRC_A_PEER_GID]	= NLA_POLICY_EXACT_LEN(sizeof(union ib_gid)),
	[MRC_A_PEER_PATHS]	= { .type = NLA_U64 },
	[MRC_A_PEER_NAMED]	= { .type = NLA_U64 },
};

/* For a dump, which can be limited to one peer. */
const struct nla_policy mrc_genl_peer_key_policy[MRC_A_PEER_MAX + 1] = {
	[MRC_A_PEER_GID]	= NLA_POLICY_EXACT_LEN(sizeof(union ib_gid)),
};

/* An EV of a path set */
const struct nla_policy mrc_genl_ev_policy[MRC_A_EV_MAX + 1] = {
	[MRC_A_EV_INDEX]	= NLA_POLICY_MAX(NLA_U32, MRC_EVS_MAX - 1),
	[MRC_A_EV_VALUE]	= NLA_POLICY_EXACT_LEN(MRC_EV_BYTES),
	[MRC_A_EV_PORT]		= NLA_POLICY_RANGE(NLA_U8, 1, MRC_PLANES_MAX),
	[MRC_A_EV_STATE]	= NLA_POLICY_MAX(NLA_U32, MRC_NL_EV_DENIED),
};

const struct nla_policy mrc_genl_qp_policy[MRC_A_QP_MAX + 1] = {
	[MRC_A_QP_NUM]		= { .type = NLA_U32 },
};

const struct nla_policy mrc_genl_ep_policy[MRC_A_EP_MAX + 1] = {
	[MRC_A_EP_ID]		= { .type = NLA_U16 },
	[MRC_A_EP_GID]		= NLA_POLICY_EXACT_LEN(sizeof(union ib_gid)),
	[MRC_A_EP_SRC]		= NLA_POLICY_EXACT_LEN(sizeof(union ib_gid)),
	[MRC_A_EP_OP]		= NLA_POLICY_MAX(NLA_U32, MRC_NL_EP_EV_PROBE),
	[MRC_A_EP_PORTS_UP]	= { .type = NLA_U32 },
	[MRC_A_EP_TC]		= { .type = NLA_U8 },
	[MRC_A_EP_FMT]		= { .type = NLA_U32 },
	[MRC_A_EP_VALUE]	= NLA_POLICY_EXACT_LEN(MRC_EV_BYTES),
	[MRC_A_EP_PORT]		= NLA_POLICY_RANGE(NLA_U8, 1, MRC_PLANES_MAX),
	[MRC_A_EP_VIA]		= NLA_POLICY_MIN(NLA_U16, 1),
};

const struct nla_policy mrc_genl_probes_policy[MRC_A_PROBES_MAX + 1] = {
	[MRC_A_PROBES_EXPIRY]	= NLA_POLICY_FULL_RANGE(NLA_U32, &mrc_expiry_range),
	[MRC_A_PROBES_BUDGET]	= { .type = NLA_U64 },
	[MRC_A_PROBES_TIMEOUT]	= NLA_POLICY_FULL_RANGE(NLA_U32, &mrc_lateness_range),
	[MRC_A_PROBES_STALL]	= NLA_POLICY_FULL_RANGE(NLA_U32, &mrc_lateness_range),
	[MRC_A_PROBES_FULL_EVERY] = { .type = NLA_U32 },
};

const struct nla_policy mrc_genl_probe_policy[MRC_A_PROBE_MAX + 1] = {
	[MRC_A_PROBE_ID]	= { .type = NLA_U32 },
	[MRC_A_PROBE_KIND]	= { .type = NLA_U32 },
	[MRC_A_PROBE_PLANE]	= NLA_POLICY_RANGE(NLA_U8, 1, MRC_PLANES_MAX),
	[MRC_A_PROBE_PATH]	= NLA_POLICY_EXACT_LEN(sizeof(struct in6_addr)),
	[MRC_A_PROBE_DSCP]	= NLA_POLICY_MAX(NLA_U8, 63),
	[MRC_A_PROBE_SIZE]	= NLA_POLICY_FULL_RANGE(NLA_U32, &mrc_packet_range),
	[MRC_A_PROBE_INTERVAL]	= NLA_POLICY_FULL_RANGE(NLA_U32, &mrc_interval_range),
};

const struct nla_policy mrc_genl_avoids_policy[MRC_A_AVOIDS_MAX + 1] = {
	[MRC_A_AVOIDS_BY]	= NLA_POLICY_MAX(NLA_U32, MRC_AVOID_PERSON),
	[MRC_A_AVOIDS_EXPIRY]	= NLA_POLICY_FULL_RANGE(NLA_U32, &mrc_avoid_range),
};

const struct nla_policy mrc_genl_avoid_policy[MRC_A_AVOID_MAX + 1] = {
	[MRC_A_AVOID_PLANE]	= NLA_POLICY_RANGE(NLA_U8, 1, MRC_PLANES_MAX),
	[MRC_A_AVOID_FROM]	= NLA_POLICY_MIN(NLA_U16, 1),
	[MRC_A_AVOID_TO]	= NLA_POLICY_MIN(NLA_U16, 1),
};
