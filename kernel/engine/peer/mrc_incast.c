// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_incast.c - the receiver's penalties against incast, one decision per epoch.
 *
 * The last hop marks no ECN. Delay without a mark lets senders grow (Table 8-1), so only trims stop
 * them: with many senders the queue stays full, and packets are sent several times. The receiver
 * therefore acts:
 *
 *	begin	a trim at the last hop while several peers send: at once, not at the end of the epoch,
 *		because the first round trip decides
 *	shrink	an epoch with trims: windows shrink by 1/8 (each NACK has already removed its packet);
 *		senders below half of their share are only held
 *	hold	an epoch without trims: penalty 1, which removes almost nothing but forbids growth. The
 *		sum of windows stays between filling the link and overflowing its queue. Senders need
 *		not know how many they are
 *	let off	a few senders have no penalty for an epoch and grow: two below their share, to find
 *		room, and more if the link is not full
 *	end	one sender is left: it may restore its window. Or there were no trims for long and the
 *		link is far from full
 *
 * An epoch with trims shows how many bytes fill the link.
 *
 * If there are more senders than packets fit in flight, one packet each fills the queue. Then
 * nothing here helps, and senders must pace themselves below one packet per round trip (mrc_nscc.c
 * does).
 */
#include "conn/mrc_conn.h"
#include "peer/mrc_incast.h"

#define MRC_INCAST_EPOCH_NS	20000u
#define MRC_INCAST_EPOCH_MAX_NS	10000000u	/* a sender's bytes per epoch fit 32 bits */
#define MRC_INCAST_HOLD		1	/* smallest penalty: no growth */
#define MRC_INCAST_SHRINK	16	/* of 128 */
#define MRC_INCAST_HEAVY	32	/* penalty of senders far above their share */
#define MRC_INCAST_FIND		2	/* senders without penalty in each epoch, to find room */
#define MRC_INCAST_GROWTH	16384	/* approximate growth of a sender without penalty, bytes */
#define MRC_INCAST_QUIET_END	32	/* epochs */

void mrc_incast_init(struct mrc_incast *in, const struct mrc_incast_cfg *cfg)
{
	memset(in, 0, sizeof(*in));
	in->cfg = *cfg;
	if (!in->cfg.epoch_ns)
		in->cfg.epoch_ns = MRC_INCAST_EPOCH_NS;
	in->cfg.epoch_ns = min_t(u64, in->cfg.epoch_ns, MRC_INCAST_EPOCH_MAX_NS);
	in->epoch = 1;
}

/* Bytes of an epoch that fill the link: the maximum seen with trims, slowly decaying. */
static void mrc_incast_learn(struct mrc_incast *in, u64 bytes)
{
	u64 most = div_u64(in->cfg.rate_mbps * in->cfg.epoch_ns, 8000);

	if (!in->trims)
		return;
	if (bytes > in->full)
		in->full = bytes;
	else
		in->full -= (in->full - bytes) >> 4;
	/* Limit: batches of a busy host can seem faster than the link. */
	if (most)
		in->full = min_t(u64, in->full, most);
}

static void mrc_incast_next(struct mrc_incast *in, u64 now_ns)
{
	u64 took = now_ns - in->start_ns;
	bool idle = took > 4 * in->cfg.epoch_ns;
	/* Scale to an epoch of nominal length. */
	u64 bytes = idle ? 0 : div_u64(min_t(u64, in->bytes, 1ull << 40) * in->cfg.epoch_ns,
				       (u32)took);
	u64 room;

	mrc_incast_learn(in, bytes);
	in->quiet = in->trims ? 0 : in->quiet + 1;
	room = in->full > bytes ? in->full - bytes : 0;
	in->tokens = MRC_INCAST_FIND;
	if (room > in->full / 32)
		in->tokens += (u32)min_t(u64, room / MRC_INCAST_GROWTH + 1, 1u << 16);
	in->refill = room > in->full / 4;
	if (idle || in->senders < 2 || (in->quiet >= MRC_INCAST_QUIET_END && room > in->full / 4))
		in->pen = 0;
	else if (in->trims)
		in->pen = MRC_INCAST_SHRINK;
	else if (in->pen)
		in->pen = MRC_INCAST_HOLD;
	in->senders_last = in->senders;
	in->share = in->senders ? (u32)min_t(u64, div_u64(in->bytes, in->senders), ~0u) : 0;
	in->senders = 0;
	in->trims = 0;
	in->bytes = 0;
	in->start_ns = now_ns;
	in->epoch += in->epoch == ~0u ? 2u : 1u;
}

/* The penalty of one sender in this epoch. */
static u8 mrc_incast_pen(struct mrc_incast *in, const struct mrc_incast_flow *f)
{
	if (!in->pen)
		return 0;
	if (in->pen > MRC_INCAST_HOLD)
		return f->bytes_last < in->share / 2 ? MRC_INCAST_HOLD : in->pen;
	if (in->tokens && (f->bytes_last <= in->share || in->tokens > MRC_INCAST_FIND)) {
		in->tokens--;
		return 0;
	}
	return f->bytes_last / 4 > in->share ? MRC_INCAST_HEAVY : MRC_INCAST_HOLD;
}

static void mrc_incast_enter(struct mrc_incast *in, struct mrc_incast_flow *f)
{
	f->bytes_last = f->epoch && f->epoch + 1 == in->epoch ? f->bytes : 0;
	f->bytes = 0;
	f->epoch = in->epoch;
	f->pen = mrc_incast_pen(in, f);
	if (f->restoring)
		f->penalised = false;
	/* After most senders have ended, normal growth would take many round trips. */
	f->restoring = f->penalised && !f->pen && (in->refill || !in->pen);
	in->refill = in->refill && !f->restoring;
	in->senders++;
}

u8 mrc_incast_update(struct mrc_incast *in, struct mrc_incast_flow *f,
		     const struct mrc_incast_note *note, u64 now_ns, bool *restore)
{
	*restore = false;
	if (in->cfg.off)
		return 0;
	if (!in->start_ns)
		in->start_ns = now_ns;
	if (now_ns >= in->start_ns + in->cfg.epoch_ns)
		mrc_incast_next(in, now_ns);
	if (f->epoch != in->epoch)
		mrc_incast_enter(in, f);
	in->trims += note->trims;
	in->bytes += note->bytes;
	f->bytes += note->bytes;
	if (in->trims && !in->pen && max_t(u32, in->senders, in->senders_last) > 1)
		in->pen = MRC_INCAST_SHRINK;
	/* The first round trip decides: hold senders that entered the epoch before its first trim, too. */
	if (in->pen > MRC_INCAST_HOLD && !f->pen)
		f->pen = MRC_INCAST_HOLD;
	if (f->pen) {
		f->penalised = true;
		f->restoring = false;
	}
	*restore = f->restoring;
	return f->pen;
}
