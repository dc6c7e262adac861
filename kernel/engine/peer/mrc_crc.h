/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_crc.h - decides whether ICRCs are computed for a peer.
 *
 * A device with ICRCs on sends and checks all of them. A device with ICRCs off checks none and
 * sends zero, unless the peer sends ICRCs, because then the peer may check them too. So the two
 * work together, and the side with ICRCs on decides the cost.
 *
 * Two devices with ICRCs off send zero to each other. If all first packets of one were lost, it
 * insists with ICRCs, and the other answers in kind. Both continue so until they forget each other.
 * That costs only time.
 *
 * One object per peer, zeroed at first. Any context, no lock: concurrent calls do no harm.
 */
#ifndef MRC_CRC_H
#define MRC_CRC_H

#include "wire/mrc_wire.h"

enum mrc_crc_peer {
	MRC_CRC_UNKNOWN,
	MRC_CRC_SENDS_NONE,
	MRC_CRC_SENDS,
};

#define MRC_CRC_TELL_NS	1000000ull	/* minimum interval of mrc_crc_tell() */

struct mrc_crc {
	u8 peer;		/* enum mrc_crc_peer, from its latest packet */
	u64 reported_ns;	/* latest mrc_crc_tell() that returned true; 0: none */
};

/* A valid packet of the peer arrived; @icrc: its ICRC field is not zero. */
static inline void mrc_crc_rx(struct mrc_crc *c, bool icrc)
{
	u8 peer = icrc ? MRC_CRC_SENDS : MRC_CRC_SENDS_NONE;

	if (unlikely(READ_ONCE(c->peer) != peer))
		WRITE_ONCE(c->peer, peer);
}

/* The last connection to the peer ended, or the local setting changed: the peer's setting may change, too. */
static inline void mrc_crc_forget(struct mrc_crc *c)
{
	WRITE_ONCE(c->peer, MRC_CRC_UNKNOWN);
}

/* Does @pkt to the peer get an ICRC? @own: ICRCs are on for the device. */
bool mrc_crc_wanted(const struct mrc_crc *c, bool own, const struct mrc_pkt *pkt);

/*
 * ICRCs are on here, and that of @pkt is wrong, so it is dropped; @icrc: it is not zero. Is this an error? If it is zero
 * and @pkt does not insist (mrc_pkt_insists()), no: the peer probably has ICRCs off, and learns from our next packet
 * that it must send them.
 */
bool mrc_crc_wrong(const struct mrc_pkt *pkt, bool icrc);

/*
 * The same situation. True: the peer assumes that ICRCs are off here, so all of its packets are dropped. Send it a
 * packet (mrc_port_remind()), from which it learns the truth. At most once per MRC_CRC_TELL_NS.
 */
bool mrc_crc_tell(struct mrc_crc *c, const struct mrc_pkt *pkt, bool icrc, u64 now_ns);

#endif
