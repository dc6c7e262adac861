// { "since": "6.12", "what": "ib_device_ops.reg_user_mr_dmabuf takes struct uverbs_attr_bundle *", "used_by": "mem/mrc_mr_reg.c" }
/* SPDX-License-Identifier: GPL-2.0 */
#include <rdma/ib_verbs.h>

/* With or without struct ib_dmah * before it: reg_mr_dmah.c. */
typedef struct ib_mr *(*probe_six)(struct ib_pd *pd, u64 offset, u64 length, u64 iova, int fd, int access,
				   struct uverbs_attr_bundle *attrs);
typedef struct ib_mr *(*probe_seven)(struct ib_pd *pd, u64 offset, u64 length, u64 iova, int fd, int access,
				     struct ib_dmah *dmah, struct uverbs_attr_bundle *attrs);

#define PROBE_OP typeof(((const struct ib_device_ops *)0)->reg_user_mr_dmabuf)
static_assert(__builtin_types_compatible_p(PROBE_OP, probe_six) ||
	      __builtin_types_compatible_p(PROBE_OP, probe_seven));
