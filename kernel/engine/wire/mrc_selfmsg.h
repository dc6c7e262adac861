/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_selfmsg.h - the format of a self-probe, after the UDP header.
 *
 * A host sends it to itself. Other implementations never receive it, and would drop its opcode. BTH
 * to QP 2, then the id of the test, the number of the probe and the secret of the test, then varied
 * payload up to the ICRC:
 *
 *	 0  opcode, flags 0, P_Key 0xffff
 *	 4  QP 2
 *	 8  low 24 bits of the number
 *	12  id
 *	16  number
 *	20  secret
 *	28  payload, at least 8 bytes
 */
#ifndef MRC_SELFMSG_H
#define MRC_SELFMSG_H

#include "wire/mrc_wire.h"

#define MRC_OPC_SELF	0xdf	/* not used by MRC 1.0 */
#define MRC_SELFMSG_LEN	28	/* BTH to the secret */
#define MRC_SELFMSG_MIN	(MRC_SELFMSG_LEN + 8)

struct mrc_selfmsg {
	u32 id;
	u32 seq;
	u64 secret;
};

/* Writes all @len bytes from BTH to the ICRC; @len is at least MRC_SELFMSG_MIN. */
void mrc_selfmsg_build(void *bth, u32 len, const struct mrc_selfmsg *m);
/* @len: bytes available. False: another packet, or too short. */
bool mrc_selfmsg_parse(const void *bth, u32 len, struct mrc_selfmsg *m);

#endif
