// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_verbs.c - the device's attributes for ib_core, and the small objects: user context,
 * protection domain.
 *
 * One IB port with the sum of the planes' speeds, ACTIVE while any plane is up. ib_core's table
 * derives GIDs from the addresses of the netdev. Queue pairs, completion queues and memory regions
 * have files of their own. Missing operations fail with -EOPNOTSUPP.
 *
 * Kernel users pass virtual addresses: the device has no DMA device, so ib_dma_map_*() returns them
 * unchanged.
 */
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include "compat/mrc_compat.h"
#include "core/mrc_dev_plane.h"
#include "mem/mrc_cq.h"
#include "mem/mrc_cq_modify.h"
#include "mem/mrc_fr.h"
#include "mem/mrc_mr.h"
#include "mem/mrc_mr_reg.h"
#include "mem/mrc_mw.h"
#include "mem/mrc_pd.h"
#include "mem/mrc_ring.h"
#include "mem/mrc_srq.h"
#include "mem/mrc_srq_modify.h"
#include "mem/mrc_ucontext.h"
#include "data/mrc_mcast.h"
#include "data/mrc_qp.h"
#include "verbs/mrc_ah.h"
#include "verbs/mrc_counters_hw.h"
#include "verbs/mrc_counters_qp.h"
#include "verbs/mrc_mad.h"
#include "verbs/mrc_mcast_verbs.h"
#include "verbs/mrc_post.h"
#include "verbs/mrc_qp_kind.h"
#include "verbs/mrc_qp_spec.h"
#include "verbs/mrc_restrack.h"
#include "verbs/mrc_sysfs.h"
#include "verbs/mrc_verbs.h"

#define MRC_GID_TBL_LEN	128
#define MRC_PKEY_TBL_LEN 1
#define MRC_PKEY	0xffff
#define MRC_FW_VER	"1.0.0"		/* of the protocol; query_device() has it as a number */
#define MRC_MAX_MSG	(1u << 31)
#define MRC_VENDOR_ID	0xffffff	/* as rxe: assigned to nobody; some tests require one */

static int query_device(struct ib_device *ibdev, struct ib_device_attr *a,
			struct ib_udata *udata)
{
	struct mrc_uquery_device_resp resp;
	int err;

	/* ib_core of Linux 7 queries without udata. */
	if (udata && udata->inlen)
		return -EINVAL;
	if (udata && udata->outlen) {
		mrc_qp_spec_limits(to_mrc_dev(ibdev), &resp);
		err = ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen));
		if (err)
			return err;
	}
	memset(a, 0, sizeof(*a));
	a->fw_ver = 1ull << 32;
	a->sys_image_guid = ibdev->node_guid;
	a->vendor_id = MRC_VENDOR_ID;
	a->max_mr_size = MRC_MAX_MR_SIZE;
	a->page_size_cap = PAGE_SIZE;	/* of fast registrations: mrc_fr.c */
	a->max_qp = MRC_MAX_QP;
	a->max_qp_wr = MRC_MAX_QP_WR;
	a->device_cap_flags = IB_DEVICE_RC_RNR_NAK_GEN | IB_DEVICE_MEM_WINDOW |
			      IB_DEVICE_MEM_WINDOW_TYPE_2B | IB_DEVICE_SRQ_RESIZE |
			      IB_DEVICE_MEM_MGT_EXTENSIONS;
	a->kernel_cap_flags = IBK_ALLOW_USER_UNREG |	/* rdma link delete */
				 IBK_BLOCK_MULTICAST_LOOPBACK;
	a->max_send_sge = MRC_MAX_SGE;
	a->max_recv_sge = MRC_MAX_SGE;
	a->max_sge_rd = MRC_MAX_SGE;
	a->max_cq = MRC_MAX_CQ;
	a->max_cqe = MRC_MAX_CQE;
	a->max_mr = MRC_MAX_MR;
	a->max_mw = MRC_MAX_MW;
	a->max_fast_reg_page_list_len = MRC_MAX_FR_PAGES;
	a->max_pd = MRC_MAX_PD;
	a->max_ah = MRC_MAX_AH;
	a->max_mcast_grp = MRC_MAX_MCAST_GRP;
	a->max_mcast_qp_attach = MRC_MAX_MCAST_QP;
	a->max_total_mcast_qp_attach = MRC_MAX_MCAST_GRP * MRC_MAX_MCAST_QP;
	a->max_srq = MRC_MAX_SRQ;
	a->max_srq_wr = MRC_MAX_SRQ_WR;
	a->max_srq_sge = MRC_MAX_SGE;
	a->max_qp_rd_atom = MRC_QP_RD;
	a->max_res_rd_atom = MRC_MAX_QP * MRC_QP_RD;
	a->max_qp_init_rd_atom = MRC_QP_RD;
	a->atomic_cap = IB_ATOMIC_HCA;
	a->max_pkeys = MRC_PKEY_TBL_LEN;
	a->local_ca_ack_delay = 15;	/* 134 ms: softirqs can be late */
	a->timestamp_mask = ~0ull;	/* of completions: ns of CLOCK_MONOTONIC */
	a->hca_core_clock = 1000000;	/* in kHz */
	a->cq_caps.max_cq_moderation_count = MRC_MAX_CQ_MODERATION;
	a->cq_caps.max_cq_moderation_period = MRC_MAX_CQ_MODERATION;
	return 0;
}

/* ---- the port ---- */

/* The lowest rate that ib_core has a name for and that is not below @mbps; else the highest. */
static void port_speed(u32 mbps, struct ib_port_attr *attr)
{
	static const struct {
		u32 mbps;
		u8 width;
		u16 speed;
	} rates[] = {
		{ 2500, IB_WIDTH_1X, IB_SPEED_SDR },
		{ 5000, IB_WIDTH_1X, IB_SPEED_DDR },
		{ 10000, IB_WIDTH_1X, IB_SPEED_QDR },
		{ 20000, IB_WIDTH_2X, IB_SPEED_QDR },
		{ 25000, IB_WIDTH_1X, IB_SPEED_EDR },
		{ 40000, IB_WIDTH_4X, IB_SPEED_QDR },
		{ 50000, IB_WIDTH_2X, IB_SPEED_EDR },
		{ 100000, IB_WIDTH_4X, IB_SPEED_EDR },
		{ 200000, IB_WIDTH_4X, IB_SPEED_HDR },
		{ 400000, IB_WIDTH_4X, IB_SPEED_NDR },
		{ 800000, IB_WIDTH_8X, IB_SPEED_NDR },
		{ 1200000, IB_WIDTH_12X, IB_SPEED_NDR },
	};
	u32 i = 0;

	while (i < ARRAY_SIZE(rates) - 1 && rates[i].mbps < mbps)
		i++;
	attr->active_width = rates[i].width;
	attr->active_speed = rates[i].speed;
}

static int query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *attr)
{
	struct mrc_dev *dev = to_mrc_dev(ibdev);

	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = mrc_dev_plane_ib_mtu(dev);
	attr->gid_tbl_len = MRC_GID_TBL_LEN;
	attr->ip_gids = true;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = MRC_MAX_MSG;
	attr->pkey_tbl_len = MRC_PKEY_TBL_LEN;
	attr->max_vl_num = 1;
	if (READ_ONCE(dev->planes_up)) {
		attr->state = IB_PORT_ACTIVE;
		attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	} else {
		attr->state = IB_PORT_DOWN;
		attr->phys_state = READ_ONCE(dev->n_planes) ? IB_PORT_PHYS_STATE_POLLING :
							      IB_PORT_PHYS_STATE_DISABLED;
	}
	port_speed(mrc_dev_plane_speed_mbps(dev, ~0u), attr);
	return 0;
}

static int get_port_immutable(struct ib_device *ibdev, u32 port,
			      struct ib_port_immutable *im)
{
	im->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	im->max_mad_size = IB_MGMT_MAD_SIZE;
	im->gid_tbl_len = MRC_GID_TBL_LEN;
	im->pkey_tbl_len = MRC_PKEY_TBL_LEN;
	return 0;
}

static int query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	if (index >= MRC_PKEY_TBL_LEN)
		return -EINVAL;
	*pkey = MRC_PKEY;
	return 0;
}

static enum rdma_link_layer get_link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

/* rdma-ndd(8) writes the host's name into node_desc. */
static int modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *to)
{
	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (mask & IB_DEVICE_MODIFY_NODE_DESC)
		memcpy(ibdev->node_desc, to->node_desc, sizeof(ibdev->node_desc));
	return 0;
}

static void get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	strscpy(str, MRC_FW_VER, IB_FW_VERSION_NAME_MAX);
}

/* ---- user contexts and protection domains ---- */

static int alloc_ucontext(struct ib_ucontext *ibuc, struct ib_udata *udata)
{
	struct mrc_ualloc_ucontext_resp resp = {
		.max_inline = MRC_MAX_INLINE,
		.max_sge = MRC_MAX_SGE,
	};
	int err = mrc_ucontext_check(udata, 0, sizeof(resp));

	return err ? err : ib_copy_to_udata(udata, &resp, sizeof(resp));
}

/* For plug-ins that import a context. The response is empty: the ABI has all that they need. */
static int query_ucontext(struct ib_ucontext *ibuc, struct uverbs_attr_bundle *attrs)
{
	return 0;
}

/* ib_core has destroyed all objects of the context. */
static void dealloc_ucontext(struct ib_ucontext *ibuc)
{
}

/*
 * Revokes nothing: rings are ordinary memory and stay mapped. Because the operation exists, ib_core
 * can remove a device in use.
 */
static void disassociate_ucontext(struct ib_ucontext *ibuc)
{
}

static int alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct mrc_dev *dev = to_mrc_dev(ibpd->device);
	u32 first = udata ? 1 : MRC_MAX_PD + 1;	/* kernel users have a range of their own */
	int pdn = ida_alloc_range(&dev->pdn_ida, first, first + MRC_MAX_PD - 1,
				  GFP_KERNEL_ACCOUNT);

	if (pdn < 0)
		return pdn;
	to_mrc_pd(ibpd)->pdn = pdn;
	return 0;
}

static int dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	ida_free(&to_mrc_dev(ibpd->device)->pdn_ida, to_mrc_pd(ibpd)->pdn);
	return 0;
}

static int dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	if (container_of(ibmr, struct mrc_ibmr, ibmr)->fr)
		return mrc_fr_dereg(ibmr);
	return mrc_mr_dereg(ibmr, udata);
}

/* ---- the table ---- */

static const struct ib_device_ops mrc_dev_ops = {
	.owner = THIS_MODULE,
	.driver_id = (enum rdma_driver_id)MRC_DRIVER_ID,
	.uverbs_abi_ver = MRC_UVERBS_ABI_VERSION,
	.device_group = &mrc_sysfs_group,

	.alloc_hw_port_stats = mrc_counters_hw_alloc,
	.alloc_mr = mrc_fr_alloc,
	.alloc_mw = mrc_mw_alloc,
	.alloc_pd = alloc_pd,
	.alloc_ucontext = alloc_ucontext,
	.attach_mcast = mrc_mcast_verbs_attach,
	.counter_alloc_stats = mrc_counters_hw_alloc_qp,
	.counter_bind_qp = mrc_counters_qp_bind,
	.counter_dealloc = mrc_counters_qp_dealloc,
	MRC_COUNTER_INIT(mrc_counters_qp_init)
	.counter_unbind_qp = mrc_counters_qp_unbind,
	.counter_update_stats = mrc_counters_hw_update_qp,
	.create_ah = mrc_ah_create,
	.create_cq = mrc_cq_create,
	.create_qp = mrc_qp_kind_create,
	.create_srq = mrc_srq_create,
	.create_user_ah = mrc_ah_create,
	.dealloc_mw = mrc_mw_dealloc,
	.dealloc_pd = dealloc_pd,
	.dealloc_ucontext = dealloc_ucontext,
	.dereg_mr = dereg_mr,
	.destroy_ah = mrc_ah_destroy,
	.destroy_cq = mrc_cq_destroy,
	.destroy_qp = mrc_qp_kind_destroy,
	.destroy_srq = mrc_srq_destroy,
	.detach_mcast = mrc_mcast_verbs_detach,
	.disassociate_ucontext = disassociate_ucontext,
	.fill_res_cq_entry = mrc_restrack_cq,
	.fill_res_mr_entry = mrc_restrack_mr,
	.fill_res_qp_entry = mrc_restrack_qp,
	MRC_FILL_RES_SRQ(mrc_restrack_srq)
	.get_dev_fw_str = get_dev_fw_str,
	.get_dma_mr = mrc_mr_get_dma,
	.get_hw_stats = mrc_counters_hw_get,
	.get_link_layer = get_link_layer,
	.get_port_immutable = get_port_immutable,
	.map_mr_sg = mrc_fr_map,
	.mmap = mrc_ring_mmap,
	.mmap_free = mrc_ring_mmap_free,
	.modify_cq = mrc_cq_moderate,
	.modify_device = modify_device,
	.modify_qp = mrc_qp_kind_modify,
	.modify_srq = mrc_srq_modify,
	.poll_cq = mrc_cq_poll,
	.post_recv = mrc_post_recv,
	.post_send = mrc_post_send,
	.post_srq_recv = mrc_post_srq_recv,
	.process_mad = mrc_mad_process,
	.query_ah = mrc_ah_query,
	.query_device = query_device,
	.query_pkey = query_pkey,
	.query_port = query_port,
	.query_qp = mrc_qp_kind_query,
	.query_srq = mrc_srq_query,
	.query_ucontext = query_ucontext,
	.reg_user_mr = mrc_mr_reg,
	.reg_user_mr_dmabuf = mrc_mr_reg_dmabuf,
	.req_notify_cq = mrc_cq_arm,
	.rereg_user_mr = mrc_mr_rereg,
	MRC_RESIZE_CQ(mrc_cq_resize)

	MRC_COUNTER_OBJ_SIZE
	INIT_RDMA_OBJ_SIZE(ib_ah, mrc_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, mrc_ibcq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_mw, mrc_ibmw, ibmw),
	INIT_RDMA_OBJ_SIZE(ib_pd, mrc_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, mrc_ibqp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_srq, mrc_ibsrq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, mrc_ucontext, ibuc),
};

/*
 * POST_SEND and POST_RECV are the plug-in's doorbells. REQ_NOTIFY_CQ raises a due event at once
 * (mem/mrc_cq.c).
 */
void mrc_verbs_setup(struct ib_device *ibdev)
{
	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = num_possible_cpus();
	ibdev->local_dma_lkey = 0;
	ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
				  BIT_ULL(IB_USER_VERBS_CMD_POST_RECV) |
				  BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);
	ib_set_device_ops(ibdev, &mrc_dev_ops);
}
