// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_genl_ep.c - see mrc_genl_ep.h.
 *
 * All requests of a message are validated before the first is sent. Later failures concern one
 * request and are reported by its id. The engine stores the sender as a cookie: port id of the
 * socket, and the number that the sender chose. A socket that reuses the port id of a closed one
 * may get a response that it did not request; it recognises that by the number.
 */
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include "compat/mrc_compat_net.h"
#include "path/mrc_profile_check.h"
#include "data/mrc_endpoint.h"
#include "genl/mrc_genl_ep.h"
#include "genl/mrc_genl_msg.h"
#include "genl/mrc_genl_policy.h"
#include "genl/mrc_genl_set.h"

/* ---- requests ---- */

static u64 ep_cookie(u32 portid, u16 id)
{
	return (u64)portid << 32 | id;
}

static int need(struct nlattr **tb, const struct nlattr *nest, u32 idx,
		struct netlink_ext_ack *extack)
{
	const struct {
		int attr;
		const char *name;
	} all[] = {
		{ MRC_A_EP_ID, "an id" }, { MRC_A_EP_GID, "the peer's GID" },
		{ MRC_A_EP_OP, "an operation" }, { MRC_A_EP_FMT, "the format of its EV" },
		{ MRC_A_EP_VALUE, "an EV" }, { MRC_A_EP_PORT, "the EV's port" },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (!tb[all[i].attr]) {
			NL_SET_BAD_ATTR(extack, nest);
			MRC_ERR_MSG(extack, "request %u needs %s", idx, all[i].name);
			return -EINVAL;
		}
	return 0;
}

static int parse_ports_up(struct mrc_endpoint_request *a, struct nlattr **tb, u32 idx,
			  struct netlink_ext_ack *extack)
{
	bool status = a->q.op == MRC_EP_PORT_STATUS;

	if (status == !!tb[MRC_A_EP_PORTS_UP]) {
		if (status)
			a->q.ports_up = nla_get_u32(tb[MRC_A_EP_PORTS_UP]);
		return 0;
	}
	NL_SET_BAD_ATTR(extack, tb[MRC_A_EP_PORTS_UP] ?: tb[MRC_A_EP_OP]);
	if (status)
		MRC_ERR_MSG(extack, "request %u: the ports that are up are missing", idx);
	else
		MRC_ERR_MSG(extack, "request %u: an EV probe carries no port states", idx);
	return -EINVAL;
}

/* The switch of the way back. An answer names its path by a uSID, which other formats do not have. */
static int parse_via(struct mrc_endpoint_request *a, struct nlattr **tb, u32 idx, struct netlink_ext_ack *extack)
{
	if (!tb[MRC_A_EP_VIA])
		return 0;
	a->q.via = nla_get_u16(tb[MRC_A_EP_VIA]);
	if (a->q.op == MRC_EP_EV_PROBE && a->fmt == MRC_FMT_SRV6)
		return 0;
	NL_SET_BAD_ATTR(extack, tb[MRC_A_EP_VIA]);
	MRC_ERR_MSG(extack, "request %u: only an EV probe of format SRv6 can name a switch for its answer", idx);
	return -EINVAL;
}

static int parse_way(struct mrc_dev *dev, struct mrc_endpoint_request *a, struct nlattr **tb, u32 idx,
		     struct netlink_ext_ack *extack)
{
	int err;

	a->fmt = nla_get_u32(tb[MRC_A_EP_FMT]);
	if (a->fmt != MRC_FMT_STEV && a->fmt != MRC_FMT_SRV6 && a->fmt != MRC_FMT_UDP) {
		NL_SET_BAD_ATTR(extack, tb[MRC_A_EP_FMT]);
		MRC_ERR_MSG(extack, "request %u: unknown EV format %u", idx, a->fmt);
		return -EINVAL;
	}
	nla_memcpy(a->ev.value, tb[MRC_A_EP_VALUE], sizeof(a->ev.value));
	a->ev.port = nla_get_u8(tb[MRC_A_EP_PORT]);
	a->ev.srh = a->fmt == MRC_FMT_SRV6 && memchr_inv(a->ev.value + 16, 0, 16);
	err = mrc_profile_check_ev(dev, a->fmt, idx, &a->ev, extack);
	if (err)
		NL_SET_BAD_ATTR(extack, err == -ENODEV ? tb[MRC_A_EP_PORT] : tb[MRC_A_EP_VALUE]);
	return err;
}

static int parse_ep(struct mrc_dev *dev, struct mrc_endpoint_request *a, const struct nlattr *nest,
		    u32 idx, struct genl_info *info)
{
	struct nlattr *tb[MRC_A_EP_MAX + 1];
	int err;

	err = nla_parse_nested(tb, MRC_A_EP_MAX, nest, mrc_genl_ep_policy, info->extack) ?:
	      need(tb, nest, idx, info->extack);
	if (err)
		return err;
	a->q.op = (u8)nla_get_u32(tb[MRC_A_EP_OP]);
	a->q.cookie = ep_cookie(info->snd_portid, nla_get_u16(tb[MRC_A_EP_ID]));
	nla_memcpy(&a->to, tb[MRC_A_EP_GID], sizeof(a->to));
	if (tb[MRC_A_EP_SRC])
		nla_memcpy(&a->from, tb[MRC_A_EP_SRC], sizeof(a->from));
	a->has_dscp = tb[MRC_A_EP_TC];
	if (a->has_dscp)
		a->dscp = nla_get_u8(tb[MRC_A_EP_TC]) >> 2;
	return parse_ports_up(a, tb, idx, info->extack) ?:
	       parse_way(dev, a, tb, idx, info->extack) ?:
	       parse_via(a, tb, idx, info->extack);
}

/* Parses all requests into @all, which has room for MRC_EP_MAX. Returns their number or -errno. */
static int parse_eps(struct mrc_dev *dev, struct mrc_endpoint_request *all, struct genl_info *info)
{
	const struct nlattr *a;
	int err, rem;
	u32 n = 0;

	nlmsg_for_each_attr(a, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(a) != MRC_A_EP)
			continue;
		if (n == MRC_EP_MAX) {
			NL_SET_BAD_ATTR(info->extack, a);
			MRC_ERR_MSG(info->extack, "a message takes at most %u requests", MRC_EP_MAX);
			return -E2BIG;
		}
		err = parse_ep(dev, &all[n], a, n, info);
		if (err)
			return err;
		n++;
	}
	if (n)
		return (int)n;
	NL_SET_ERR_ATTR_MISS(info->extack, NULL, MRC_A_EP);
	NL_SET_ERR_MSG(info->extack, "the requests are missing");
	return -EINVAL;
}

static int put_error(struct sk_buff *skb, u16 id, int err)
{
	struct nlattr *nest = nla_nest_start(skb, MRC_A_EP);

	if (!nest || nla_put_u16(skb, MRC_A_EP_ID, id) ||
	    nla_put_u32(skb, MRC_A_EP_ERROR, (u32)-err))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Adds the requests that could not be sent to @reply, which has room for all. Returns their number. */
static int send_eps(struct mrc_dev *dev, const struct mrc_endpoint_request *all, int n,
		    struct sk_buff *reply)
{
	int i, err, failed = 0;

	for (i = 0; i < n; i++) {
		err = mrc_endpoint_request(dev, &all[i]);
		if (!err)
			continue;
		failed++;
		if (WARN_ON_ONCE(put_error(reply, (u16)all[i].q.cookie, err)))
			break;
	}
	return failed;
}

static int ep_ask(struct mrc_dev *dev, struct genl_info *info, struct mrc_endpoint_request *all)
{
	struct sk_buff *reply;
	void *hdr;
	int n;

	n = parse_eps(dev, all, info);
	if (n < 0)
		return n;
	reply = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!reply)
		return -ENOMEM;
	hdr = genlmsg_put_reply(reply, info, &mrc_genl_family, 0, MRC_CMD_EP_SEND);
	if (!hdr || mrc_genl_put_ids(reply, dev)) {
		nlmsg_free(reply);
		return -EMSGSIZE;
	}
	if (!send_eps(dev, all, n, reply)) {
		nlmsg_free(reply);
		return 0;
	}
	genlmsg_end(reply, hdr);
	return genlmsg_reply(reply, info);
}

static int ep_send(struct mrc_dev *dev, struct genl_info *info)
{
	struct mrc_endpoint_request *all = kcalloc(MRC_EP_MAX, sizeof(*all), GFP_KERNEL);
	int err;

	BUILD_BUG_ON(MRC_EP_MAX != MRC_EP_REQ_MAX);
	BUILD_BUG_ON((int)MRC_NL_EP_PORT_STATUS != (int)MRC_EP_PORT_STATUS);
	BUILD_BUG_ON((int)MRC_NL_EP_EV_PROBE != (int)MRC_EP_EV_PROBE);
	if (!all)
		return -ENOMEM;
	err = ep_ask(dev, info, all);
	kfree(all);
	return err;
}

int mrc_genl_ep_send(struct sk_buff *skb, struct genl_info *info)
{
	return mrc_genl_change(info, ep_send);
}

/* ---- responses ---- */

static int put_answer(struct sk_buff *skb, const struct mrc_peer *peer, const struct mrc_ep_rsp *a)
{
	struct nlattr *nest = nla_nest_start(skb, MRC_A_EP);

	if (!nest || nla_put_u16(skb, MRC_A_EP_ID, (u16)a->cookie) ||
	    nla_put(skb, MRC_A_EP_GID, sizeof(peer->gid), &peer->gid) ||
	    nla_put_u32(skb, MRC_A_EP_OP, a->op) ||
	    nla_put_u64_64bit(skb, MRC_A_EP_RTT, a->rtt_ns, MRC_A_EP_PAD))
		return -EMSGSIZE;
	if (a->plane != MRC_PLANE_NONE && nla_put_u8(skb, MRC_A_EP_PORT, a->plane + 1))
		return -EMSGSIZE;
	if (a->via && nla_put_u16(skb, MRC_A_EP_VIA, a->via))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* NULL: no memory. */
static struct sk_buff *answer_build(struct mrc_peer *peer, const struct mrc_ep_rsp *a, u32 portid)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_ATOMIC);
	void *hdr;

	if (!skb)
		return NULL;
	hdr = genlmsg_put(skb, portid, 0, &mrc_genl_family, 0, MRC_CMD_EP_ANSWER);
	if (!hdr || mrc_genl_put_ids(skb, peer->dev) || put_answer(skb, peer, a)) {
		nlmsg_free(skb);
		return NULL;
	}
	genlmsg_end(skb, hdr);
	return skb;
}

void mrc_genl_ep_answer(struct mrc_peer *peer, const struct mrc_ep_rsp *answer)
{
	u32 portid = (u32)(answer->cookie >> 32);
	struct mrc_dev *dev = peer->dev;
	struct sk_buff *skb;

	if (READ_ONCE(dev->dead))	/* its namespace may be ending */
		return;
	skb = answer_build(peer, answer, portid);
	if (!skb || genlmsg_unicast(dev->net, skb, portid))
		mrc_dev_count(dev, ep_answers_lost);
}
