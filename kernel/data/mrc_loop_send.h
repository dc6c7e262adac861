/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_loop_send.h - builds and sends a self-probe.
 */
#ifndef MRC_LOOP_SEND_H
#define MRC_LOOP_SEND_H

#include <linux/ipv6.h>
#include <linux/udp.h>
#include "engine/probe/mrc_prober.h"
#include "engine/wire/mrc_selfmsg.h"
#include "core/mrc_dev.h"

/* Bytes around a message (engine/wire/mrc_selfmsg.h): an outer and an inner IPv6 header, UDP, the ICRC. */
#define MRC_LOOP_AROUND	(2 * sizeof(struct ipv6hdr) + sizeof(struct udphdr) + MRC_ICRC_LEN)
#define MRC_LOOP_LEAST	(MRC_LOOP_AROUND + MRC_SELFMSG_MIN)

/* BH off, under RCU; the device is not dead. 0: the probe was handed to the plane, or to lo; else -errno. */
int mrc_loop_send(struct mrc_dev *dev, const struct mrc_prober_op *op);

#endif
