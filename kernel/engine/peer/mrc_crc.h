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

#define MRC_CRC_TELL_NS	1000000ull	/* a peer is told no sooner again */

struct mrc_crc {
	u8 peer;		/* enum mrc_crc_peer: its latest packet */
	u64 told_ns;		/* when it was last told that ours are on; 0: never */
};

/* A sound packet of the peer came; @icrc: with something else than zero in the ICRC's place. */
static inline void mrc_crc_rx(struct mrc_crc *c, bool icrc)
{
	u8 peer = icrc ? MRC_CRC_SENDS : MRC_CRC_SENDS_NONE;

	if (unlikely(READ_ONCE(c->peer) != peer))
		WRITE_ONCE(c->peer, peer);
}

/* Nobody talks to the peer any more, or our setting changed: it may be another one, too. */
static inline void mrc_crc_forget(struct mrc_crc *c)
{
	WRITE_ONCE(c->peer, MRC_CRC_UNKNOWN);
}

/* Does @pkt get one; @own: they are on for the device. */
bool mrc_crc_wanted(const struct mrc_crc *c, bool own, const struct mrc_pkt *pkt);

/*
 * Our ICRCs are on, and the one of @pkt is wrong; @icrc: it is not zero. False: the peer
 * may have them off and learn from our next packet that it must send them.
 */
bool mrc_crc_wrong(const struct mrc_pkt *pkt, bool icrc);

/*
 * Likewise. True: the peer believes that ours are off, and all that it sends is dropped. What it heard last was
 * sent before they were turned on and came late, or was not ours. It must hear from us (mrc_port_remind()), for we
 * may have nothing else to say. Once in MRC_CRC_TELL_NS.
 */
bool mrc_crc_tell(struct mrc_crc *c, const struct mrc_pkt *pkt, bool icrc, u64 now_ns);

#endif
