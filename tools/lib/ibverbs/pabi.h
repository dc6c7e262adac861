/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * pabi.h - the private ABI between libibverbs and a provider, numbers 34 and 65.
 *
 * rdma-core does not package these declarations, so they are written here from
 * what the library's binary interface is: member order, sizes and offsets,
 * each asserted below. The order of verbs_context_ops is compared with the
 * installed static library's own table by selftests/host/test_plugin.sh.
 *
 * Number 34 covers rdma-core 34 to 56. The oldest we test is 44; between 44 and
 * 56 struct ibv_qp_ex grew by one pointer, so objects the library writes into
 * are declared larger than any of them (see union mrc_vqp). Number 65, of rdma-core 65, has more operations and
 * two calls with an argument more. Other numbers have other layouts and are refused at compile time.
 *
 * This is not a copy of rdma-core's driver.h: operations the plug-in does not
 * implement are plain slots, and only the ibv_cmd_* calls it makes are declared.
 */
#ifndef MRC_PABI_H
#define MRC_PABI_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

#ifndef MRC_PABI
#error "MRC_PABI is not set: the Makefile reads it from libibverbs.so.1"
#endif
#if MRC_PABI == 34
#define VERBS_REGISTER_DRIVER	verbs_register_driver_34
#define NEW_ARG(arg)
#define NEW_LAST(arg)
#elif MRC_PABI == 65
#define VERBS_REGISTER_DRIVER	verbs_register_driver_65
#define NEW_ARG(arg)		arg,
#define NEW_LAST(arg)		, arg
#else
#error "this libibverbs has a private ABI other than 34 and 65, which is not supported"
#endif

struct mrc_list_node {
	struct mrc_list_node *next, *prev;
};

enum {
	VERBS_MATCH_SENTINEL = 0,
	VERBS_MATCH_DRIVER_ID = 3,
};

struct verbs_match_ent {
	void *driver_data;
	union {
		const char *modalias;
		uint64_t driver_id;
	} u;
	uint16_t vendor;
	uint16_t device;
	uint8_t kind;
};

/* A device as libibverbs found it, by netlink or sysfs. */
struct verbs_sysfs_dev {
	struct mrc_list_node entry;
	void *provider_data;
	const struct verbs_match_ent *match;
	unsigned int flags;
	char sysfs_name[IBV_SYSFS_NAME_MAX];
	dev_t sysfs_cdev;
	char ibdev_name[IBV_SYSFS_NAME_MAX];
	char ibdev_path[IBV_SYSFS_PATH_MAX];
	char modalias[512];
	uint64_t node_guid;
	uint32_t driver_id;	/* 0 when unknown, also when found by sysfs */
	int node_type;
	int ibdev_idx;
	uint32_t num_ports;
	uint32_t abi_ver;
	struct timespec time_created;
};

struct verbs_device;

struct verbs_device_ops {
	const char *name;
	uint32_t match_min_abi_version;
	uint32_t match_max_abi_version;
	const struct verbs_match_ent *match_table;
	const struct verbs_device_ops **static_providers;
	bool (*match_device)(struct verbs_sysfs_dev *sysfs_dev);
	struct verbs_context *(*alloc_context)(struct ibv_device *device, int cmd_fd,
					       void *private_data);
	struct verbs_context *(*import_context)(struct ibv_device *device, int cmd_fd);
	struct verbs_device *(*alloc_device)(struct verbs_sysfs_dev *sysfs_dev);
	void (*uninit_device)(struct verbs_device *device);
};

struct verbs_device {
	struct ibv_device device;	/* first */
	const struct verbs_device_ops *ops;
	int refcount;
	struct mrc_list_node entry;
	struct verbs_sysfs_dev *sysfs;
	uint64_t core_support;
};

/* libibverbs fills it in at registration. */
struct verbs_mr {
	struct ibv_mr ibv_mr;
	int mr_type;
	int access;
};

enum {
	VERBS_QP_EX = 1 << 1,	/* of verbs_qp.comp_mask */
};

struct verbs_qp {
	union {
		struct ibv_qp qp;
		struct ibv_qp_ex qp_ex;
	};
	uint32_t comp_mask;	/* moves with the size of ibv_qp_ex */
	void *xrcd;
};

struct verbs_cq {
	union {
		struct ibv_cq cq;
		struct ibv_cq_ex cq_ex;
	};
};

struct verbs_srq {
	struct ibv_srq srq;
	int srq_type;
	void *xrcd;
	struct ibv_cq *cq;
	uint32_t srq_num;
};

/*
 * The operations in ABI order: OP with a prototype is implemented here, NO is a
 * slot left NULL, for which the library answers "not supported"; NEW one of number 65. One list makes
 * the struct and the table that the layout test prints.
 */
#if MRC_PABI == 65
#define NEW(no, name)	no(name)
#else
#define NEW(no, name)
#endif
#define VERBS_CONTEXT_OPS(OP, NO)						\
	NO(advise_mr)								\
	NEW(NO, alloc_buf)							\
	OP(struct ibv_dm *, alloc_dm, (struct ibv_context *, struct ibv_alloc_dm_attr *)) \
	NEW(NO, alloc_dmah)							\
	OP(struct ibv_mw *, alloc_mw, (struct ibv_pd *, enum ibv_mw_type))		\
	NO(alloc_null_mr)							\
	OP(struct ibv_pd *, alloc_parent_domain,					\
	   (struct ibv_context *, struct ibv_parent_domain_init_attr *))		\
	OP(struct ibv_pd *, alloc_pd, (struct ibv_context *))			\
	OP(struct ibv_td *, alloc_td, (struct ibv_context *, struct ibv_td_init_attr *)) \
	NO(async_event)								\
	NO(attach_counters_point_flow)						\
	OP(int, attach_mcast, (struct ibv_qp *, const union ibv_gid *, uint16_t))	\
	OP(int, bind_mw, (struct ibv_qp *, struct ibv_mw *, struct ibv_mw_bind *))	\
	NO(close_xrcd)								\
	NO(cq_event)								\
	OP(struct ibv_ah *, create_ah, (struct ibv_pd *, struct ibv_ah_attr *))	\
	NEW(NO, create_comp_cntr)							\
	NO(create_counters)							\
	OP(struct ibv_cq *, create_cq,						\
	   (struct ibv_context *, int, struct ibv_comp_channel *, int))		\
	OP(struct ibv_cq_ex *, create_cq_ex,					\
	   (struct ibv_context *, struct ibv_cq_init_attr_ex *))		\
	NO(create_flow)								\
	NO(create_flow_action_esp)						\
	OP(struct ibv_qp *, create_qp, (struct ibv_pd *, struct ibv_qp_init_attr *)) \
	OP(struct ibv_qp *, create_qp_ex,					\
	   (struct ibv_context *, struct ibv_qp_init_attr_ex *))		\
	NO(create_rwq_ind_table)						\
	OP(struct ibv_srq *, create_srq, (struct ibv_pd *, struct ibv_srq_init_attr *)) \
	NO(create_srq_ex)							\
	NO(create_wq)								\
	NEW(NO, dealloc_dmah)							\
	OP(int, dealloc_mw, (struct ibv_mw *))					\
	OP(int, dealloc_pd, (struct ibv_pd *))					\
	OP(int, dealloc_td, (struct ibv_td *))					\
	OP(int, dereg_mr, (struct verbs_mr *))					\
	OP(int, destroy_ah, (struct ibv_ah *))					\
	NEW(NO, destroy_comp_cntr)							\
	NO(destroy_counters)							\
	OP(int, destroy_cq, (struct ibv_cq *))					\
	NO(destroy_flow)							\
	NO(destroy_flow_action)							\
	OP(int, destroy_qp, (struct ibv_qp *))					\
	NO(destroy_rwq_ind_table)						\
	OP(int, destroy_srq, (struct ibv_srq *))					\
	NO(destroy_wq)								\
	OP(int, detach_mcast, (struct ibv_qp *, const union ibv_gid *, uint16_t))	\
	NEW(NO, dm_export_dmabuf_fd)							\
	NEW(NO, free_buf)							\
	OP(void, free_context, (struct ibv_context *))				\
	OP(int, free_dm, (struct ibv_dm *))						\
	NO(get_srq_num)								\
	NO(import_dm)								\
	OP(struct ibv_mr *, import_mr, (struct ibv_pd *, uint32_t))			\
	OP(struct ibv_pd *, import_pd, (struct ibv_context *, uint32_t))		\
	NEW(NO, inc_comp_cntr)							\
	NEW(NO, inc_err_comp_cntr)							\
	OP(int, modify_cq, (struct ibv_cq *, struct ibv_modify_cq_attr *))		\
	NO(modify_flow_action_esp)						\
	OP(int, modify_qp, (struct ibv_qp *, struct ibv_qp_attr *, int))	\
	NO(modify_qp_rate_limit)						\
	OP(int, modify_srq, (struct ibv_srq *, struct ibv_srq_attr *, int))		\
	NO(modify_wq)								\
	NO(open_qp)								\
	NO(open_xrcd)								\
	OP(int, poll_cq, (struct ibv_cq *, int, struct ibv_wc *))		\
	OP(int, post_recv, (struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **)) \
	OP(int, post_send, (struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **)) \
	NO(post_srq_ops)							\
	OP(int, post_srq_recv,							\
	   (struct ibv_srq *, struct ibv_recv_wr *, struct ibv_recv_wr **))		\
	NEW(NO, qp_attach_comp_cntr)							\
	NEW(NO, query_comp_cntr_caps)							\
	OP(int, query_device_ex,						\
	   (struct ibv_context *, const struct ibv_query_device_ex_input *,	\
	    struct ibv_device_attr_ex *, size_t))				\
	NO(query_ece)								\
	OP(int, query_port, (struct ibv_context *, uint8_t, struct ibv_port_attr *)) \
	NEW(NO, query_port_speed)							\
	OP(int, query_qp,							\
	   (struct ibv_qp *, struct ibv_qp_attr *, int, struct ibv_qp_init_attr *)) \
	NO(query_qp_data_in_order)						\
	OP(int, query_rt_values, (struct ibv_context *, struct ibv_values_ex *))	\
	OP(int, query_srq, (struct ibv_srq *, struct ibv_srq_attr *))			\
	NEW(NO, read_comp_cntr)							\
	NO(read_counters)							\
	NEW(NO, read_err_comp_cntr)							\
	OP(struct ibv_mr *, reg_dm_mr,						\
	   (struct ibv_pd *, struct ibv_dm *, uint64_t, size_t, unsigned int))		\
	OP(struct ibv_mr *, reg_dmabuf_mr,						\
	   (struct ibv_pd *, uint64_t, size_t, uint64_t, int, int))			\
	OP(struct ibv_mr *, reg_mr, (struct ibv_pd *, void *, size_t, uint64_t, int)) \
	NEW(NO, reg_mr_ex)							\
	OP(int, req_notify_cq, (struct ibv_cq *, int))				\
	OP(int, rereg_mr,							\
	   (struct verbs_mr *, int, struct ibv_pd *, void *, size_t, int))		\
	OP(int, resize_cq, (struct ibv_cq *, int))					\
	NEW(NO, set_comp_cntr)							\
	NO(set_ece)								\
	NEW(NO, set_err_comp_cntr)							\
	NO(unimport_dm)								\
	OP(void, unimport_mr, (struct ibv_mr *))					\
	OP(void, unimport_pd, (struct ibv_pd *))

#define VERBS_OP_MEMBER(ret, name, args)	ret (*name) args;
#define VERBS_NO_MEMBER(name)			void (*name)(void);
struct verbs_context_ops {
	VERBS_CONTEXT_OPS(VERBS_OP_MEMBER, VERBS_NO_MEMBER)
};

#define MRC_AT(type, member, off) \
	static_assert(offsetof(type, member) == (off), #type "." #member " has moved")
#define MRC_SIZE(type, size) \
	static_assert(sizeof(type) == (size), "size of " #type " differs")

#if defined(__x86_64__)
MRC_SIZE(struct verbs_match_ent, 24);
MRC_SIZE(struct verbs_sysfs_dev, 992);
MRC_AT(struct verbs_sysfs_dev, ibdev_name, 112);
MRC_AT(struct verbs_sysfs_dev, ibdev_path, 176);
MRC_AT(struct verbs_sysfs_dev, modalias, 432);
MRC_AT(struct verbs_sysfs_dev, node_guid, 944);
MRC_AT(struct verbs_sysfs_dev, driver_id, 952);
MRC_AT(struct verbs_sysfs_dev, abi_ver, 968);
MRC_SIZE(struct verbs_device_ops, 72);
MRC_AT(struct verbs_device_ops, match_min_abi_version, 8);
MRC_AT(struct verbs_device_ops, match_table, 16);
MRC_AT(struct verbs_device_ops, match_device, 32);
MRC_AT(struct verbs_device_ops, alloc_context, 40);
MRC_AT(struct verbs_device_ops, import_context, 48);
MRC_AT(struct verbs_device_ops, alloc_device, 56);
MRC_AT(struct verbs_device_ops, uninit_device, 64);
MRC_SIZE(struct verbs_device, 712);
MRC_AT(struct verbs_device, ops, 664);
#if MRC_PABI == 34
MRC_SIZE(struct verbs_context_ops, 608);
MRC_AT(struct verbs_context_ops, poll_cq, 424);
MRC_AT(struct verbs_context_ops, post_recv, 432);
MRC_AT(struct verbs_context_ops, post_send, 440);
MRC_AT(struct verbs_context_ops, req_notify_cq, 552);
MRC_SIZE(struct verbs_context, 648);
#else
MRC_SIZE(struct verbs_context_ops, 744);
MRC_SIZE(struct verbs_context, 696);
#endif
MRC_SIZE(struct verbs_mr, 56);
MRC_SIZE(struct verbs_srq, 160);
MRC_SIZE(struct verbs_cq, 288);
static_assert(sizeof(struct verbs_qp) == 368 || sizeof(struct verbs_qp) == 376,
	      "size of struct verbs_qp differs");
#endif

/*
 * The memory for a QP and a CQ that libibverbs gets: its own struct, with room for every rdma-core
 * that has this ABI number.
 */
union mrc_vqp {
	struct ibv_qp qp;
	struct ibv_qp_ex qp_ex;
	struct verbs_qp vqp;
	uint32_t raw[128];
};

union mrc_vcq {
	struct ibv_cq cq;
	struct ibv_cq_ex cq_ex;
	uint64_t raw[64];
};

union mrc_vsrq {
	struct ibv_srq srq;
	struct verbs_srq vsrq;
	uint64_t raw[32];
};

static_assert(sizeof(struct verbs_srq) < sizeof(union mrc_vsrq) - 64, "no room to grow");
static_assert(sizeof(struct verbs_qp) < sizeof(union mrc_vqp) - 64, "no room to grow");
static_assert(sizeof(struct verbs_cq) < sizeof(union mrc_vcq) - 64, "no room to grow");

/*
 * Command buffers: an 8-byte header, the core payload of ib_user_verbs.h, then
 * the driver's. Responses have no header.
 */
#define MRC_CMD(name, core)							\
	struct name {								\
		struct ib_uverbs_cmd_hdr hdr;					\
		uint64_t payload[sizeof(struct core) / 8];			\
	};									\
	static_assert(sizeof(struct core) % 8 == 0, #core " has a tail")

MRC_CMD(ibv_get_context, ib_uverbs_get_context);
MRC_CMD(ibv_query_port, ib_uverbs_query_port);
MRC_CMD(ibv_alloc_pd, ib_uverbs_alloc_pd);
MRC_CMD(ibv_reg_mr, ib_uverbs_reg_mr);
MRC_CMD(ibv_create_cq, ib_uverbs_create_cq);
MRC_CMD(ibv_create_qp, ib_uverbs_create_qp);
MRC_CMD(ibv_query_qp, ib_uverbs_query_qp);
MRC_CMD(ibv_modify_qp, ib_uverbs_modify_qp);
MRC_CMD(ibv_rereg_mr, ib_uverbs_rereg_mr);
MRC_CMD(ibv_alloc_mw, ib_uverbs_alloc_mw);
MRC_CMD(ibv_resize_cq, ib_uverbs_resize_cq);
MRC_CMD(ibv_create_srq, ib_uverbs_create_srq);
MRC_CMD(ibv_modify_srq, ib_uverbs_modify_srq);
MRC_CMD(ibv_query_srq, ib_uverbs_query_srq);

/* An extended command: two headers. */
struct ibv_modify_cq {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_ex_cmd_hdr ex_hdr;
	struct ib_uverbs_ex_modify_cq core;
};
static_assert(sizeof(struct ibv_modify_cq) == 40, "ibv_modify_cq has a hole");

struct ibv_command_buffer;

void VERBS_REGISTER_DRIVER(const struct verbs_device_ops *ops);
/* @context_offset: where in the new object the verbs_context lies, as a pointer. */
void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd, size_t alloc_size,
				    struct verbs_context *context_offset, uint32_t driver_id);
void verbs_uninit_context(struct verbs_context *context);
void verbs_set_ops(struct verbs_context *vctx, const struct verbs_context_ops *ops);
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);

int ibv_cmd_get_context(struct verbs_context *context, struct ibv_get_context *cmd,
			size_t cmd_size, NEW_ARG(struct ibv_fd_arr *fds)
			struct ib_uverbs_get_context_resp *resp, size_t resp_size);
/* @driver: attributes of its own; NULL: none. */
int ibv_cmd_query_context(struct ibv_context *context, struct ibv_command_buffer *driver);
int ibv_cmd_query_device_any(struct ibv_context *context,
			     const struct ibv_query_device_ex_input *input,
			     struct ibv_device_attr_ex *attr, size_t attr_size,
			     struct ib_uverbs_ex_query_device_resp *resp, size_t *resp_size);
int ibv_cmd_query_port(struct ibv_context *context, uint8_t port_num,
		       struct ibv_port_attr *attr, struct ibv_query_port *cmd, size_t cmd_size);
int ibv_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd, struct ibv_alloc_pd *cmd,
		     size_t cmd_size, struct ib_uverbs_alloc_pd_resp *resp, size_t resp_size);
int ibv_cmd_dealloc_pd(struct ibv_pd *pd);
int ibv_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va, int access,
		   struct verbs_mr *vmr, struct ibv_reg_mr *cmd, size_t cmd_size,
		   struct ib_uverbs_reg_mr_resp *resp, size_t resp_size);
int ibv_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
			  int access, struct verbs_mr *vmr
			  NEW_LAST(struct ibv_command_buffer *driver));
int ibv_cmd_query_mr(struct ibv_pd *pd, struct verbs_mr *vmr, uint32_t mr_handle);
int ibv_cmd_create_ah(struct ibv_pd *pd, struct ibv_ah *ah, struct ibv_ah_attr *attr,
		      struct ib_uverbs_create_ah_resp *resp, size_t resp_size);
int ibv_cmd_destroy_ah(struct ibv_ah *ah);
int ibv_cmd_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
int ibv_cmd_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
int ibv_cmd_rereg_mr(struct verbs_mr *vmr, uint32_t flags, void *addr, size_t length,
		     uint64_t hca_va, int access, struct ibv_pd *pd, struct ibv_rereg_mr *cmd,
		     size_t cmd_size, struct ib_uverbs_rereg_mr_resp *resp, size_t resp_size);
int ibv_cmd_dereg_mr(struct verbs_mr *vmr);
int ibv_cmd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type, struct ibv_mw *mw,
		     struct ibv_alloc_mw *cmd, size_t cmd_size,
		     struct ib_uverbs_alloc_mw_resp *resp, size_t resp_size);
int ibv_cmd_dealloc_mw(struct ibv_mw *mw);
int ibv_cmd_create_cq(struct ibv_context *context, int cqe, struct ibv_comp_channel *channel,
		      int comp_vector, struct ibv_cq *cq, struct ibv_create_cq *cmd,
		      size_t cmd_size, struct ib_uverbs_create_cq_resp *resp, size_t resp_size);
int ibv_cmd_resize_cq(struct ibv_cq *cq, int cqe, struct ibv_resize_cq *cmd, size_t cmd_size,
		      struct ib_uverbs_resize_cq_resp *resp, size_t resp_size);
int ibv_cmd_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr,
		      struct ibv_modify_cq *cmd, size_t cmd_size);
int ibv_cmd_destroy_cq(struct ibv_cq *cq);
int ibv_cmd_create_srq(struct ibv_pd *pd, struct ibv_srq *srq, struct ibv_srq_init_attr *attr,
		       struct ibv_create_srq *cmd, size_t cmd_size,
		       struct ib_uverbs_create_srq_resp *resp, size_t resp_size);
int ibv_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask,
		       struct ibv_modify_srq *cmd, size_t cmd_size);
int ibv_cmd_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr,
		      struct ibv_query_srq *cmd, size_t cmd_size);
int ibv_cmd_destroy_srq(struct ibv_srq *srq);
int ibv_cmd_create_qp_ex(struct ibv_context *context, struct verbs_qp *qp,
			 struct ibv_qp_init_attr_ex *attr, struct ibv_create_qp *cmd,
			 size_t cmd_size, struct ib_uverbs_create_qp_resp *resp,
			 size_t resp_size);
int ibv_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		     struct ibv_qp_init_attr *init_attr, struct ibv_query_qp *cmd,
		     size_t cmd_size);
int ibv_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
		      struct ibv_modify_qp *cmd, size_t cmd_size);
int ibv_cmd_destroy_qp(struct ibv_qp *qp);

#endif
