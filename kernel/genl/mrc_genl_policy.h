/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_genl_policy.h - netlink policies: the attributes that requests may contain.
 */
#ifndef MRC_GENL_POLICY_H
#define MRC_GENL_POLICY_H

#include <net/netlink.h>
#include "linux/mrc.h"

#define MRC_CC_NAME_MAX	31

/* Nested policies; for nla_parse_nested(). */
extern const struct nla_policy mrc_genl_dev_policy[MRC_A_DEV_MAX + 1];
extern const struct nla_policy mrc_genl_plane_policy[MRC_A_PLANE_MAX + 1];
extern const struct nla_policy mrc_genl_profile_policy[MRC_A_PROFILE_MAX + 1];
extern const struct nla_policy mrc_genl_profile_ev_policy[MRC_A_EV_MAX + 1];
extern const struct nla_policy mrc_genl_profile_key_policy[MRC_A_PROFILE_MAX + 1];
extern const struct nla_policy mrc_genl_gen_policy[MRC_A_GEN_MAX + 1];
extern const struct nla_policy mrc_genl_field_policy[MRC_A_FIELD_MAX + 1];
extern const struct nla_policy mrc_genl_copy_policy[MRC_A_COPY_MAX + 1];
extern const struct nla_policy mrc_genl_cc_policy[MRC_A_CC_MAX + 1];
extern const struct nla_policy mrc_genl_cc_key_policy[MRC_A_CC_MAX + 1];
extern const struct nla_policy mrc_genl_peer_policy[MRC_A_PEER_MAX + 1];
extern const struct nla_policy mrc_genl_peer_key_policy[MRC_A_PEER_MAX + 1];
extern const struct nla_policy mrc_genl_ev_policy[MRC_A_EV_MAX + 1];
extern const struct nla_policy mrc_genl_qp_policy[MRC_A_QP_MAX + 1];
extern const struct nla_policy mrc_genl_ep_policy[MRC_A_EP_MAX + 1];
extern const struct nla_policy mrc_genl_probes_policy[MRC_A_PROBES_MAX + 1];
extern const struct nla_policy mrc_genl_avoids_policy[MRC_A_AVOIDS_MAX + 1];
extern const struct nla_policy mrc_genl_avoid_policy[MRC_A_AVOID_MAX + 1];
extern const struct nla_policy mrc_genl_probe_policy[MRC_A_PROBE_MAX + 1];

#endif
