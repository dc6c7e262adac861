// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * mrc_evgen.c - EVs that are generated from fields and from addresses (mrc_evgen.h).
 */
#include "wire/mrc_evgen.h"

u32 mrc_ev_fmt_width(u8 fmt)
{
	switch (fmt) {
	case MRC_EV_FMT_STEV:
		return 32;
	case MRC_EV_FMT_SRV6:
		return MRC_EV_BYTES * 8;
	case MRC_EV_FMT_UDP:
		return 16;
	}
	return 0;
}

/* The lowest @n bits, n <= 32. */
static u32 mrc_low_bits(u32 n)
{
	return (u32)((1ull << n) - 1);
}

static enum mrc_evgen_err mrc_ev_field_check(const struct mrc_ev_field *f, u8 fmt_width)
{
	if (!f->width || f->width > 32 || f->width > fmt_width)
		return MRC_EVGEN_WIDTH;
	if (f->init_val & ~mrc_low_bits(f->width))
		return MRC_EVGEN_INIT;
	if (f->mask & ~mrc_low_bits(f->width))
		return MRC_EVGEN_MASK;
	if (f->min_val > f->max_val || f->max_val & ~mrc_low_bits(hweight64((u64)f->mask)))
		return MRC_EVGEN_RANGE;
	return MRC_EVGEN_OK;
}

static enum mrc_evgen_err mrc_ev_copy_check(const struct mrc_ev_copy *c, u32 ev_width)
{
	if (c->from != MRC_EV_FROM_DST && c->from != MRC_EV_FROM_SRC)
		return MRC_EVGEN_COPY_FROM;
	if (!c->width || c->width > 32)
		return MRC_EVGEN_COPY_WIDTH;
	if (c->bit > MRC_EV_ADDR_BITS - c->width)
		return MRC_EVGEN_COPY_BITS;
	if (c->width > ev_width || c->at > ev_width - c->width)
		return MRC_EVGEN_COPY_AT;
	return MRC_EVGEN_OK;
}

/* Checks the format and all counts. */
static enum mrc_evgen_err mrc_evgen_check_head(const struct mrc_ev_gen *g)
{
	u32 total = 0;
	u8 i;

	if (!mrc_ev_fmt_width(g->fmt))
		return MRC_EVGEN_FORMAT;
	if (!g->n || g->n > g->n_fmt || g->n_fmt > MRC_EV_FIELDS_MAX)
		return MRC_EVGEN_COUNT;
	if (g->n_copy > MRC_EV_COPIES_MAX)
		return MRC_EVGEN_COPIES;
	for (i = 0; i < g->n_fmt; i++)
		total += g->fmt_width[i];
	return total > mrc_ev_fmt_width(g->fmt) ? MRC_EVGEN_TOTAL : MRC_EVGEN_OK;
}

enum mrc_evgen_err mrc_evgen_check(const struct mrc_ev_gen *g, u8 *idx)
{
	enum mrc_evgen_err err = mrc_evgen_check_head(g);
	u8 i;

	*idx = 0;
	for (i = 0; !err && i < g->n; i++) {
		err = mrc_ev_field_check(&g->field[i], g->fmt_width[i]);
		if (err)
			*idx = i;
	}
	for (i = 0; !err && i < g->n_copy; i++) {
		err = mrc_ev_copy_check(&g->copy[i], mrc_ev_fmt_width(g->fmt));
		if (err)
			*idx = i;
	}
	return err;
}

/* Number of values of a field minus one, so that 2^32 values fit. */
static u32 mrc_ev_field_span(const struct mrc_ev_field *f)
{
	return f->max_val - f->min_val;
}

u32 mrc_evgen_count(const struct mrc_ev_gen *g)
{
	u64 n = 1;
	u8 i;

	for (i = 0; i < g->n; i++) {
		n *= (u64)mrc_ev_field_span(&g->field[i]) + 1;
		if (n > ~0u)
			return ~0u;
	}
	return (u32)n;
}

static bool mrc_ev_bit(const u8 *bits, u32 at)
{
	return bits[at / 8] >> (7 - at % 8) & 1;
}

/* Put the lowest @width bits of @v at bit @at of @ev, bit 0 being the first on the wire. */
static void mrc_ev_put(u8 *ev, u32 at, u32 width, u32 v)
{
	for (; width; width--, at++)
		if (v >> (width - 1) & 1)
			ev[at / 8] |= (u8)(0x80u >> at % 8);
}

static u32 mrc_ev_field_bits(const struct mrc_ev_field *f)
{
	return hweight64((u64)f->mask);
}

u32 mrc_evgen_name_width(const struct mrc_ev_gen *g)
{
	u32 width = 0;
	u8 n;

	for (n = 0; n < g->n; n++)
		width += mrc_ev_field_bits(&g->field[n]);
	return width;
}

void mrc_evgen_name(const struct mrc_ev_gen *g, u32 i, u8 name[MRC_EV_BYTES])
{
	u32 at = mrc_evgen_name_width(g);
	u8 n;

	memset(name, 0, MRC_EV_BYTES);
	/* Start with the last field, which varies fastest. */
	for (n = g->n; n; n--) {
		const struct mrc_ev_field *f = &g->field[n - 1];
		u32 span = mrc_ev_field_span(f), v = i;

		if (i > span) {		/* then span + 1 does not overflow */
			v = i % (span + 1);
			i /= span + 1;
		} else {
			i = 0;
		}
		at -= mrc_ev_field_bits(f);
		mrc_ev_put(name, at, mrc_ev_field_bits(f), f->min_val + v);
	}
}

void mrc_evgen_wire(const struct mrc_ev_gen *g, const u8 name[MRC_EV_BYTES], u8 ev[MRC_EV_BYTES])
{
	u32 from = 0, end = 0, bit;
	u8 n;

	memset(ev, 0, MRC_EV_BYTES);
	for (n = 0; n < g->n; n++) {
		const struct mrc_ev_field *f = &g->field[n];
		u32 v = f->init_val & ~f->mask;

		for (bit = f->width; bit; bit--)
			if (f->mask >> (bit - 1) & 1)
				v |= (u32)mrc_ev_bit(name, from++) << (bit - 1);
		end += g->fmt_width[n];
		mrc_ev_put(ev, end - f->width, f->width, v);
	}
}

void mrc_evgen_name_of(const struct mrc_ev_gen *g, const u8 ev[MRC_EV_BYTES], u8 name[MRC_EV_BYTES])
{
	u32 to = 0, end = 0, bit;
	u8 n;

	memset(name, 0, MRC_EV_BYTES);
	for (n = 0; n < g->n; n++) {
		const struct mrc_ev_field *f = &g->field[n];

		end += g->fmt_width[n];
		for (bit = f->width; bit; bit--)
			if (f->mask >> (bit - 1) & 1)
				mrc_ev_put(name, to++, 1, mrc_ev_bit(ev, end - bit));
	}
}

void mrc_evgen_expand(const struct mrc_ev_gen *g, u32 i, u8 ev[MRC_EV_BYTES])
{
	u8 name[MRC_EV_BYTES];

	mrc_evgen_name(g, i, name);
	mrc_evgen_wire(g, name, ev);
}

/* After so many EVs in turn, pairs of value and port repeat: their least common multiple. */
static u64 mrc_evgen_period(u32 count, u32 n_ports)
{
	u32 a = count, b = n_ports, rest;

	while (b) {
		rest = a % b;
		a = b;
		b = rest;
	}
	return (u64)(count / a) * n_ports;
}

void mrc_evgen_deal(u32 count, u32 take, u32 n_ports, u32 i, u32 *value, u32 *port)
{
	u64 period = mrc_evgen_period(count, n_ports);
	u32 again = i < period ? 0 : i / (u32)period;

	*value = take < count ? (u32)div_u64((u64)i * count, take) : i % count;
	*port = (i % n_ports + again) % n_ports;
}

void mrc_evgen_copy(const struct mrc_ev_copy *copy, u8 n, const struct mrc_ev_addrs *addrs,
		    u8 ev[MRC_EV_BYTES])
{
	for (; n; n--, copy++) {
		const u8 *addr = copy->from == MRC_EV_FROM_SRC ? addrs->src : addrs->dst;
		u32 i;

		for (i = 0; i < copy->width; i++) {
			u32 at = copy->at + i;

			ev[at / 8] &= (u8)~(0x80u >> at % 8);
			if (mrc_ev_bit(addr, copy->bit + i))
				ev[at / 8] |= (u8)(0x80u >> at % 8);
		}
	}
}
