// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_nscc_cfg.c - parameters of "uet-1.0-nscc": configured, or derived from rate, base round trip
 * and MTU relative to the reference network (mrc_nscc.c).
 *
 * Called when a controller is made and when its profile or rate changes. Delays are in ns, sizes in
 * bytes.
 */
#include "cc/mrc_nscc_state.h"

#define MRC_NSCC_REF_NS		12000u		/* reference RTT ... */
#define MRC_NSCC_REF_BDP	150000u		/* ... and its bytes in flight at 100 Gb/s */
#define MRC_NSCC_REF_MBPS	100000u
#define MRC_NSCC_RTT_MIN_NS	500u		/* no fabric is faster: a shorter echo is false */
#define MRC_NSCC_DELAY_MAX_NS	((1u << 28) - 1)	/* 268 ms: 16 times that fits 32 bits (pacing) */
#define MRC_NSCC_GAMMA_Q16	52429u		/* 0.8 */
#define MRC_NSCC_MD_Q16		32768u		/* 0.5 */
#define MRC_NSCC_QA_GATE	3

/* enum mrc_nscc_given bits of the parameters that are configured (not zero). */
static u16 mrc_nscc_given(const struct mrc_nscc_cfg *p)
{
	return (u16)((p->target_delay_ns ? MRC_NSCC_TARGET : 0) |
		     (p->qa_threshold_ns ? MRC_NSCC_QA_THRESHOLD : 0) |
		     (p->max_cwnd ? MRC_NSCC_MAX_CWND : 0) |
		     (p->adjust_bytes ? MRC_NSCC_ADJUST_BYTES : 0) |
		     (p->adjust_period_ns ? MRC_NSCC_ADJUST_PERIOD : 0) |
		     (p->eta_q8 ? MRC_NSCC_ETA : 0) |
		     (p->fi_q8 ? MRC_NSCC_FI : 0) |
		     (p->fi_scale_q16 ? MRC_NSCC_FI_SCALE : 0) |
		     (p->base_rtt_ns ? MRC_NSCC_BASE_RTT : 0));
}

static void mrc_nscc_put(const struct mrc_nscc_state *n, enum mrc_nscc_given what, u32 *to, u64 v)
{
	if (!(n->given & what))
		*to = mrc_nscc_sat(v);
}

/* Only after a change of rate, base RTT or MTU, because divisions are expensive. */
void mrc_nscc_derive(struct mrc_nscc_state *n)
{
	struct mrc_nscc_cfg *p = &n->p;
	u64 bdp = div_u64((u64)n->rate_mbps * (p->base_rtt_ns + n->hidden_ns), 8000);
	u64 mtu = n->cc.mtu;
	u64 a_q8, ab_q8;

	bdp = min_t(u64, bdp, MRC_CC_WND_MAX);
	mrc_nscc_put(n, MRC_NSCC_TARGET, &p->target_delay_ns,
		     n->trimming ? (u64)p->base_rtt_ns * 3 / 4 : p->base_rtt_ns);
	p->target_delay_ns = min_t(u32, p->target_delay_ns, MRC_NSCC_DELAY_MAX_NS);
	mrc_nscc_put(n, MRC_NSCC_QA_THRESHOLD, &p->qa_threshold_ns, (u64)p->target_delay_ns * 4);
	mrc_nscc_put(n, MRC_NSCC_MAX_CWND, &p->max_cwnd, bdp + bdp / 2);
	p->max_cwnd = clamp_t(u32, p->max_cwnd, n->cc.mtu, MRC_CC_WND_MAX);

	/* bdp <= 2^28, mtu <= 2^17, delays < 2^28: a_q8 < 2^19, ab_q8 < 2^34 */
	a_q8 = div_u64(bdp << 8, MRC_NSCC_REF_BDP);
	ab_q8 = div_u64(a_q8 * p->target_delay_ns, MRC_NSCC_REF_NS);
	n->alpha_q16 = mrc_nscc_sat(div_u64((4 * mtu * ab_q8) << 8, p->target_delay_ns));
	mrc_nscc_put(n, MRC_NSCC_FI, &p->fi_q8, 5 * mtu * a_q8);
	mrc_nscc_put(n, MRC_NSCC_ETA, &p->eta_q8, div_u64(15 * mtu * a_q8, 100));
	mrc_nscc_put(n, MRC_NSCC_FI_SCALE, &p->fi_scale_q16, a_q8 << 6);
	mrc_nscc_put(n, MRC_NSCC_ADJUST_BYTES, &p->adjust_bytes, 8 * mtu);
	mrc_nscc_put(n, MRC_NSCC_ADJUST_PERIOD, &p->adjust_period_ns, p->base_rtt_ns);
}

void mrc_nscc_take_cfg(struct mrc_nscc_state *n, const struct mrc_cc_cfg *cfg)
{
	struct mrc_nscc_cfg *p = &n->p;
	u32 measured_ns = p->base_rtt_ns;

	*p = cfg->nscc;
	n->given = mrc_nscc_given(p);
	p->qa_gate = min_t(u8, p->qa_gate ? p->qa_gate : MRC_NSCC_QA_GATE, 31);
	p->gamma_q16 = min_t(u32, p->gamma_q16 ? p->gamma_q16 : MRC_NSCC_GAMMA_Q16, 1u << 16);
	p->max_md_jump_q16 = min_t(u32, p->max_md_jump_q16 ? p->max_md_jump_q16 : MRC_NSCC_MD_Q16,
				   1u << 16);
	mrc_nscc_put(n, MRC_NSCC_BASE_RTT, &p->base_rtt_ns,
		     n->measured ? measured_ns : MRC_NSCC_REF_NS);
	p->base_rtt_ns = clamp_t(u32, p->base_rtt_ns, MRC_NSCC_RTT_MIN_NS, MRC_NSCC_DELAY_MAX_NS);
	n->rate_mbps = cfg->rate_mbps ? cfg->rate_mbps : MRC_NSCC_REF_MBPS;
	n->trimming = cfg->trimming;
	n->cc.mtu = min_t(u32, cfg->mtu ? cfg->mtu : n->cc.mtu, MRC_CC_MTU_MAX);
	mrc_nscc_derive(n);
}

u32 mrc_nscc_rtt(u64 ns)
{
	return (u32)clamp_t(u64, ns, MRC_NSCC_RTT_MIN_NS, MRC_NSCC_DELAY_MAX_NS);
}
