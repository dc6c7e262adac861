/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_ctl.h - Multipath Reliable Connection for the controller of a node: the interface that OCP
 * publishes (API 1.0.1), described in our own words. Names, values and layouts are OCP's.
 *
 * A controller creates profiles, which QPs name by their ids: of EVs (the paths that packets are
 * sprayed over), of the format of EVs, and of congestion control. A profile is INIT (it does not
 * exist), OFFLINE (being configured) or ONLINE (in use). Changes need CAP_NET_ADMIN. Ports are
 * numbered from 1; the port of an EV is a plane of the device. The extent of this implementation:
 * Documentation/guide/libmrc.md, mrc_ctl(7).
 *
 * Calls that return int return 0 or -1 and set errno. EINVAL: an argument or transition that is not
 * allowed; EBUSY: still in use; E2BIG: too long, or too short for a query, and the required length
 * is returned; ENOENT: no such EV; EPERM: no privilege; EOPNOTSUPP: not supported; EIO: others.
 */
#ifndef MRC_CTL_H
#define MRC_CTL_H

#include "mrc.h"
#include "mrc_ctl_api_ver.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MRC_CTL_MAX_VENDOR_CFG_SIZE	128
#define MRC_CTL_EV_MAX_BYTES		32

/* Bit 31 of a mask, as an int: the type of enumerators. */
#define MRC_CTL_BIT31	(-2147483647 - 1)

/* ---- devices ---- */

enum mrc_ctl_protocol_version {
	MRC_CTL_PROTOCOL_VERSION_0 = 0,
	MRC_CTL_PROTOCOL_VERSION_1 = 1 << 0,
};

enum mrc_ctl_profile_state {
	MRC_CTL_PROFILE_INIT = 0,
	MRC_CTL_PROFILE_OFFLINE = 1,
	MRC_CTL_PROFILE_ONLINE = 2,
};

enum mrc_ctl_attr_opt {
	MRC_CTL_OPT_CAP_EV_PROFILE_MODIFY_ONLINE = 1 << 0,
	MRC_CTL_OPT_CAP_CC_PROFILE_MODIFY_ONLINE = 1 << 1,
	MRC_CTL_OPT_CAP_EV_EVENT = 1 << 2,
	MRC_CTL_OPT_CAP_EV_EXPLICIT_RANGE = 1 << 3,	/* explicit EVs must be a range */
	MRC_CTL_OPT_CAP_EV_EVENT_PRECISE_DROP_CNT = 1 << 4,
	MRC_CTL_OPT_CAP_EP_OP_EV_PROBE = 1 << 5,
};

struct mrc_ctl_device_attr {
	uint32_t mrc_ctl_protocol_version;	/* enum mrc_ctl_protocol_version, ORed */
	struct {
		uint32_t ev_max_fmt_profiles;
		uint32_t ev_max_profiles;
		uint32_t ev_max_count;		/* EVs of all profiles */
		uint32_t ev_free_count;		/* EVs of these that are free */
		uint32_t ev_max_count_profile;	/* EVs of one profile */
		uint32_t ev_count_align;	/* number of EVs of a profile: a multiple of this */
		uint32_t ev_max_width;		/* bits */
		uint32_t ev_fmt_mode_mask;	/* enum mrc_ctl_ev_fmt_mode, ORed */
		uint32_t ev_mode_mask;		/* enum mrc_ctl_ev_mode, ORed */
		uint32_t ev_op_max_entries;	/* of one call */
	} ev;
	struct {
		uint32_t cc_max_profiles;
		const char **algorithms;	/* owned by the library; NULL after the last */
	} cc;
	uint32_t phy_port_mask;			/* bit N: port N; bit 0 is unused */
	uint32_t opt_attr;			/* enum mrc_ctl_attr_opt, ORed */
};

int mrc_ctl_query_device(struct ibv_context *context, struct mrc_ctl_device_attr *ctl_attr);
#if MRC_CTL_API_VER_USED >= MRC_CTL_API_VER(1, 0, 1)
/* Likewise; mcontext may be NULL. *supported is 0 for a device that is not ours. */
int mrc_ctl_query_device_ex(struct ibv_context *context, struct mrc_context *mcontext,
			    struct mrc_ctl_device_attr *ctl_attr, int *supported);
#endif
/* May be called at any time. Pointers may be NULL. */
void mrc_ctl_query_version(uint32_t *current_version, uint32_t *last_supported_version,
			   uint32_t *vendor_version, uint32_t *last_supported_vendor_version);

/* ---- ports ---- */

enum mrc_ctl_port_admin_state {
	MRC_CTL_PORT_ADMIN_DISABLED = 0,
	MRC_CTL_PORT_ADMIN_ENABLED = 1,
};

enum mrc_ctl_port_attr_mask {
	MRC_CTL_PORT_ADMIN_STATE = 1 << 0,
};

struct mrc_ctl_port_attr {
	enum mrc_ctl_port_admin_state port_admin_state;
};

int mrc_ctl_query_port(struct mrc_context *context, uint8_t port_num,
		       struct mrc_ctl_port_attr *attr, int attr_mask);
int mrc_ctl_modify_port(struct mrc_context *context, uint8_t port_num,
			struct mrc_ctl_port_attr *attr, int attr_mask);

/* ---- formats of EVs ---- */

enum mrc_ctl_ev_fmt_mode {
	MRC_CTL_EV_FMT_MODE_STEV = 1 << 0,	/* the first four bytes of a value */
	MRC_CTL_EV_FMT_MODE_SRV6 = 1 << 1,	/* outer destination, segment (zero: none) */
	MRC_CTL_EV_FMT_MODE_UDP = 1 << 2,	/* the first two bytes: UDP source port */
};

enum mrc_ctl_ev_fmt_op {
	MRC_CTL_EV_FMT_OP_MODIFY_FIELDS = 0,
	MRC_CTL_EV_FMT_OP_QUERY_FIELDS = 1,
};

enum mrc_ctl_ev_fmt_profile_attr_mask {
	MRC_CTL_EV_FMT_PROFILE_STATE = 1 << 0,
	MRC_CTL_EV_FMT_PROFILE_CUR_STATE = 1 << 1,
	MRC_CTL_EV_FMT_PROFILE_MODE = 1 << 2,
	MRC_CTL_EV_FMT_PROFILE_OP = 1 << 3,
	MRC_CTL_EV_FMT_VENDOR_CFG = MRC_CTL_BIT31,
};

struct mrc_ctl_ev_fmt_field {
	uint8_t width;			/* bits */
};

struct mrc_ctl_ev_fmt_profile_attr {
	enum mrc_ctl_profile_state profile_state;	/* modify: the new state; query: the
							 * current one */
	enum mrc_ctl_profile_state cur_profile_state;	/* the current state, as the caller
							 * assumes it */
	enum mrc_ctl_ev_fmt_mode ev_fmt_mode;
	struct {
		enum mrc_ctl_ev_fmt_op op;
		struct mrc_ctl_ev_fmt_field *fmt_fields;	/* the caller's */
		int fmt_field_count;
	} ev_fmt_op;
	uint8_t vendor_cfg[MRC_CTL_MAX_VENDOR_CFG_SIZE];
};

int mrc_ctl_modify_ev_fmt_profile(struct mrc_context *mrc_ctx, uint64_t ev_fmt_profile_id,
				  struct mrc_ctl_ev_fmt_profile_attr *attr, int attr_mask);
int mrc_ctl_query_ev_fmt_profile(struct mrc_context *mrc_ctx, uint64_t ev_fmt_profile_id,
				 struct mrc_ctl_ev_fmt_profile_attr *attr, int attr_mask);

/* ---- EVs ---- */

typedef uint8_t mrc_ctl_ev_t[MRC_CTL_EV_MAX_BYTES];

enum mrc_ctl_ev_state {
	MRC_CTL_EV_GOOD = 1 << 0,
	MRC_CTL_EV_ASSUMED_BAD = 1 << 1,
	MRC_CTL_EV_DENIED = 1 << 2,		/* denied by a controller */
	MRC_CTL_EV_UNKNOWN = MRC_CTL_BIT31,
};

enum mrc_ctl_ev_mode {
	MRC_CTL_EV_MODE_AUTO = 1 << 0,		/* the device chooses */
	MRC_CTL_EV_MODE_EXP = 1 << 1,		/* one by one */
	MRC_CTL_EV_MODE_GEN = 1 << 2,		/* from fields */
};

enum mrc_ctl_ev_op {
	MRC_CTL_EV_OP_REPLACE_EV = 0,		/* ev by ev_new, which gets state */
	MRC_CTL_EV_OP_MODIFY_EV_STATE = 1,	/* of ev to state, GOOD or DENIED */
	MRC_CTL_EV_OP_QUERY_EV_STATE = 2,	/* of ev, into state */
	MRC_CTL_EV_OP_QUERY_EV_ARRAY = 3,	/* all, into ev and state */
};

enum mrc_ctl_ev_fields_op {
	MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS = 0,
	MRC_CTL_EV_FIELDS_OP_QUERY_FIELDS = 1,
};

enum mrc_ctl_ev_profile_attr_mask {
	MRC_CTL_EV_PROFILE_STATE = 1 << 0,
	MRC_CTL_EV_PROFILE_CUR_STATE = 1 << 1,
	MRC_CTL_EV_PROFILE_MODE = 1 << 2,
	MRC_CTL_EV_PROFILE_FMT_ID = 1 << 3,
	MRC_CTL_EV_PROFILE_COUNT = 1 << 4,
	MRC_CTL_EV_PROFILE_MIN_ACTIVE = 1 << 5,
	MRC_CTL_EV_PROFILE_EVENT_MASK = 1 << 6,
	MRC_CTL_EV_PROFILE_EV_OP = 1 << 7,
	MRC_CTL_EV_PROFILE_EV_FIELDS_OP = 1 << 8,
	MRC_CTL_EV_PROFILE_VENDOR_CFG = MRC_CTL_BIT31,
};

enum mrc_ctl_ev_op_flags {
	MRC_CTL_EV_OP_F_ALL_COPIES = 1 << 0,	/* all copies of the EV, not only the first */
};

struct mrc_ctl_ev {
	mrc_ctl_ev_t val;
	uint8_t port;			/* from 1; 0: the entry is empty */
};

/* An empty entry. */
#ifdef __cplusplus
#define MRC_CTL_EV_UNPOPULATED	(::mrc_ctl_ev())
#else
#define MRC_CTL_EV_UNPOPULATED	((struct mrc_ctl_ev){ .val = { 0 }, .port = 0 })
#endif

/* A part of a generated EV: init_val, with the bits of mask counting from min_val to max_val. */
struct mrc_ctl_ev_field {
	uint32_t width;			/* bits */
	uint32_t init_val;
	uint32_t min_val;
	uint32_t max_val;
	uint32_t mask;			/* 0: the field is the same in all EVs */
};

struct mrc_ctl_ev_op_entry {
	struct mrc_ctl_ev ev;
	struct mrc_ctl_ev ev_new;
	enum mrc_ctl_ev_state state;
	uint32_t flags;			/* enum mrc_ctl_ev_op_flags, ORed */
};

struct mrc_ctl_ev_profile_attr {
	enum mrc_ctl_profile_state profile_state;
	enum mrc_ctl_profile_state cur_profile_state;
	enum mrc_ctl_ev_mode ev_mode;
	uint64_t ev_fmt_profile_id;
	uint32_t ev_count;
	uint32_t ev_min_active;		/* this number of EVs stays in use, even bad ones */
	int ev_event_mask;		/* enum mrc_ctl_ev_state, ORed: changes that are reported */
	struct {
		enum mrc_ctl_ev_op op;
		struct mrc_ctl_ev_op_entry *entries;	/* the caller's */
		int entry_count;
	} ev_op;
	struct {
		enum mrc_ctl_ev_fields_op op;
		struct mrc_ctl_ev_field *fields;	/* the caller's */
		int field_count;
	} ev_fields_op;
	uint8_t vendor_cfg[MRC_CTL_MAX_VENDOR_CFG_SIZE];
};

int mrc_ctl_modify_ev_profile(struct mrc_context *mrc_ctx, uint64_t ev_profile_id,
			      struct mrc_ctl_ev_profile_attr *attr, int attr_mask);
int mrc_ctl_query_ev_profile(struct mrc_context *mrc_ctx, uint64_t ev_profile_id,
			     struct mrc_ctl_ev_profile_attr *attr, int attr_mask);

/* ---- congestion control ---- */

enum mrc_ctl_cc_profile_attr_mask {
	MRC_CTL_CC_PROFILE_STATE = 1 << 0,
	MRC_CTL_CC_PROFILE_CUR_STATE = 1 << 1,
	MRC_CTL_CC_PROFILE_ALGORITHM = 1 << 2,
	MRC_CTL_CC_PROFILE_CONFIG = 1 << 3,
	MRC_CTL_CC_PROFILE_VENDOR_CFG = MRC_CTL_BIT31,
};

struct mrc_ctl_cc_profile_attr {
	enum mrc_ctl_profile_state profile_state;
	enum mrc_ctl_profile_state cur_profile_state;
	const char *algorithm;		/* "uet-1.0-nscc"; NULL: none */
	const void *cc_config;		/* struct mrc_ctl_cc_nscc_cfg; query: memory of the
					 * caller */
	uint8_t vendor_cfg[MRC_CTL_MAX_VENDOR_CFG_SIZE];
};

/* Network signal based congestion control, by its names in UET 1.0. */
struct mrc_ctl_cc_nscc_cfg {
	uint8_t disable_qa;			/* 1: no quick adaptation */
	uint32_t adjust_bytes_threshold;	/* bytes */
	uint32_t adjust_period_threshold;	/* ns */
	uint32_t base_rtt;			/* ns */
	float eta;
	float fi;
	float fi_scale;
	float gamma;
	float max_md_jump;
	uint32_t max_cwnd;			/* bytes */
	uint8_t qa_gate;
	uint32_t qa_threshold;			/* ns */
	uint32_t target_delay;			/* ns */
};

int mrc_ctl_modify_cc_profile(struct mrc_context *mrc_ctx, uint64_t cc_profile_id,
			      struct mrc_ctl_cc_profile_attr *attr, int attr_mask);
int mrc_ctl_query_cc_profile(struct mrc_context *mrc_ctx, uint64_t cc_profile_id,
			     struct mrc_ctl_cc_profile_attr *attr, int attr_mask);

/* ---- events of EVs ---- */

struct mrc_ctl_ev_event {
	uint64_t profile_id;
	struct mrc_ctl_ev ev;
	uint32_t drop_count;		/* events lost before this one */
#if MRC_CTL_API_VER_USED >= MRC_CTL_API_VER(1, 0, 1)
	enum mrc_ctl_ev_state state;	/* its new state */
#endif
};

/*
 * NULL with errno. The queue holds events of EVs, and no completions. channel may be NULL;
 * otherwise mrc_req_notify_cq() and mrc_get_cq_event() work as with a queue of completions.
 */
struct mrc_cq *mrc_ctl_create_ev_event_cq(struct mrc_context *mrc_ctx, int cqe, void *cq_context,
					  struct mrc_comp_channel *channel, int comp_vector);
/*
 * The library cannot see the size of the entries in a program's array. The plain symbol uses the
 * version of the context. Where that would be wrong, another symbol states the version.
 */
#if MRC_CTL_API_VER_USED < MRC_CTL_API_VER(1, 0, 1)
#define MRC_CTL_EV_EVENT_CALL	__asm__("mrc_ctl_poll_ev_event_1_0_0")
#elif MRC_API_VER_USED < MRC_API_VER(1, 0, 1)
#define MRC_CTL_EV_EVENT_CALL	__asm__("mrc_ctl_poll_ev_event_1_0_1")
#else
#define MRC_CTL_EV_EVENT_CALL
#endif

/* The number of events, at most num_entries; or a negative error number, which errno has, too. */
int mrc_ctl_poll_ev_event(struct mrc_cq *ev_cq, int num_entries,
			  struct mrc_ctl_ev_event *ev_event) MRC_CTL_EV_EVENT_CALL;

#undef MRC_CTL_EV_EVENT_CALL

/* ---- endpoint operations ---- */

enum mrc_ctl_ep_op_type {
	MRC_CTL_EP_OP_EV_PROBE = 0,
	MRC_CTL_EP_OP_PORT_STATUS_UPDATE = 1,
};

struct mrc_ctl_ep_req {
	uint16_t req_id;		/* chosen by the caller; the response has it, too */
	union ibv_gid sgid;
	union ibv_gid dgid;
	enum mrc_ctl_ev_fmt_mode ev_fmt_mode;
	struct mrc_ctl_ev req_ev;	/* the EV that the request is sent on */
	union {
		struct {
			uint32_t port_status;	/* bit N: port N is up */
		} port_status_update;
	} op;
};

struct mrc_ctl_ep_rsp {
	uint16_t req_id;
	uint8_t port;			/* the port that it arrived by */
	unsigned int rtt;		/* ns */
	uint8_t adj_svc_time;		/* 1: rtt excludes the responder's time */
};

/*
 * @rsp has room for @num_req responses. 0, or -1. ETIMEDOUT: some did not arrive within
 * @rsp_timeout ns; those that did are returned, in the order of their arrival.
 */
int mrc_ctl_ep_batch_send_wait(struct mrc_context *mrc_ctx, uint8_t req_tc,
			       enum mrc_ctl_ep_op_type op_type, struct mrc_ctl_ep_req *req,
			       int num_req, uint32_t rsp_timeout, struct mrc_ctl_ep_rsp *rsp,
			       int *num_rsp);

#undef MRC_CTL_BIT31

#ifdef __cplusplus
}
#endif

#endif
