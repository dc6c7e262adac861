/* SPDX-License-Identifier: GPL-2.0 */
/* vud.h - what tests of datagram queue pairs share. On vcommon.h. */
#ifndef VUD_H
#define VUD_H

#include "vcommon.h"

#define VUD_QKEY	0x11223344
#define VUD_GRH		40
#define VUD_SLOTS	16
#define VUD_WAIT_S	60	/* in an emulated machine, busy with others */

/* Of VUD_SLOTS requests each way; @flags: of its creation, with the extended interface if there are any. */
struct ibv_qp *vud_qp(struct vc_dev *d, struct ibv_cq *cq, struct ibv_srq *srq, uint32_t flags);
int vud_to_state(struct ibv_qp *qp, enum ibv_qp_state state);
int vud_to_rts(struct ibv_qp *qp);
/* The next completion; status -1 after @ms. */
struct ibv_wc vud_next(struct ibv_cq *cq, unsigned int ms);
/* A counter of the device, by sysfs; -1: it has none such. */
long long vud_counter(const struct vc_dev *d, const char *name);

#endif
