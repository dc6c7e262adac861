/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_evgen.h - EV profiles: formats, and EVs generated from fields (mode GEN).
 *
 * MRC 1.0 sections 1.12, 2.6; the expansion is that of mrc_ctl.h. For each field: start with
 * init_val; for each bit set in mask, from the most significant one, put the next most significant
 * bit of the EV's number in its place. Then concatenate the fields. A field that is narrower than
 * its format field is zero-filled on the left. The device enumerates the values of each field from
 * min to max; the first field varies slowest.
 *
 * Project extension: a generator is a template if it copies bits of addresses into its EVs. One
 * template serves all destinations whose paths follow from their addresses.
 */
#ifndef MRC_EVGEN_H
#define MRC_EVGEN_H

#include "base/mrc_types.h"

#define MRC_EV_BYTES		32	/* mrc_ctl_ev_t */
#define MRC_EV_FIELDS_MAX	16
#define MRC_EV_COPIES_MAX	8
#define MRC_EV_ADDR_BITS	128	/* of an address that is copied from */
#define MRC_EV_ADDR_BYTES	(MRC_EV_ADDR_BITS / 8)

enum mrc_ev_fmt {		/* enum mrc_ctl_ev_fmt_mode */
	MRC_EV_FMT_STEV = 1,	/* 32 bits over UDP source port and flow label */
	MRC_EV_FMT_SRV6 = 2,	/* outer destination 128, then SRH segment 128 */
	MRC_EV_FMT_UDP = 4,	/* UDP source port, 16 bits */
};

struct mrc_ev_field {		/* struct mrc_ctl_ev_field */
	u32 width, init_val, min_val, max_val, mask;
};

enum mrc_ev_from {
	MRC_EV_FROM_DST,	/* the destination's address */
	MRC_EV_FROM_SRC,	/* the local address */
};

struct mrc_ev_copy {		/* bit 0 is the first bit on the wire */
	u32 from;		/* enum mrc_ev_from */
	u32 bit, width;		/* first bit and number of bits of the address, at most 32 */
	u32 at;			/* first bit of the EV that they replace */
};

/* Addresses to copy from. IPv4 addresses are IPv4-mapped IPv6 addresses. */
struct mrc_ev_addrs {
	u8 dst[MRC_EV_ADDR_BYTES], src[MRC_EV_ADDR_BYTES];
};

struct mrc_ev_gen {
	u8 fmt;			/* enum mrc_ev_fmt */
	u8 n_fmt, n;		/* format fields; fields, not more */
	u8 n_copy;
	u8 fmt_width[MRC_EV_FIELDS_MAX];
	struct mrc_ev_field field[MRC_EV_FIELDS_MAX];
	struct mrc_ev_copy copy[MRC_EV_COPIES_MAX];
};

/* Checks @g. Return: MRC_EVGEN_OK or the violated rule; *idx: the field or copy concerned. */
enum mrc_evgen_err {
	MRC_EVGEN_OK,
	MRC_EVGEN_FORMAT,	/* unknown format */
	MRC_EVGEN_COUNT,	/* no field, or more than the format has */
	MRC_EVGEN_WIDTH,	/* wider than its format field, or 0, or > 32 */
	MRC_EVGEN_TOTAL,	/* the format is wider than an EV of this mode can be */
	MRC_EVGEN_INIT,		/* init_val does not fit the width */
	MRC_EVGEN_MASK,		/* mask has bits beyond the width */
	MRC_EVGEN_RANGE,	/* min > max, or max does not fit the mask's bits */
	MRC_EVGEN_COPIES,	/* too many copies */
	MRC_EVGEN_COPY_FROM,	/* from: unknown address */
	MRC_EVGEN_COPY_WIDTH,	/* width is 0 or more than 32 */
	MRC_EVGEN_COPY_BITS,	/* bits beyond the end of the address */
	MRC_EVGEN_COPY_AT,	/* bits beyond the end of an EV of this format */
};
enum mrc_evgen_err mrc_evgen_check(const struct mrc_ev_gen *g, u8 *idx);

/* Number of EVs that @g describes; saturates at 2^32 - 1. */
u32 mrc_evgen_count(const struct mrc_ev_gen *g);

/*
 * An EV has a name, which controllers use (mrc_ctl.h), and a value on the wire. The name consists of the mask bits of
 * all fields, in their order. Both are left-aligned and big-endian; the rest is zero.
 */

/* Bits of a name: at most MRC_EV_BYTES * 8 if @g is valid. */
u32 mrc_evgen_name_width(const struct mrc_ev_gen *g);

/* The name of EV number @i (0 ... count - 1). */
void mrc_evgen_name(const struct mrc_ev_gen *g, u32 i, u8 name[MRC_EV_BYTES]);

/* Conversion between name and value on the wire. */
void mrc_evgen_wire(const struct mrc_ev_gen *g, const u8 name[MRC_EV_BYTES], u8 ev[MRC_EV_BYTES]);
void mrc_evgen_name_of(const struct mrc_ev_gen *g, const u8 ev[MRC_EV_BYTES], u8 name[MRC_EV_BYTES]);

/* EV number @i as on the wire, before mrc_evgen_copy(). */
void mrc_evgen_expand(const struct mrc_ev_gen *g, u32 i, u8 ev[MRC_EV_BYTES]);

/**
 * mrc_evgen_deal - distribute @take EVs over @count values of a generator and @n_ports ports
 * @take: at most @count * @n_ports
 * @i: number of the EV, 0 ... @take - 1
 * @value: for mrc_evgen_expand()
 * @port: index of the port, from 0
 *
 * Up to @count EVs have different values at even distances; beyond that, values repeat. Ports take turns; one is skipped
 * whenever a pair would repeat. So each pair of value and port occurs at most once, and the numbers per port, and
 * beyond @count the numbers per value, differ by at most one.
 */
void mrc_evgen_deal(u32 count, u32 take, u32 n_ports, u32 i, u32 *value, u32 *port);

/* Apply the @n copies @copy, which must be valid, to @ev in order. */
void mrc_evgen_copy(const struct mrc_ev_copy *copy, u8 n, const struct mrc_ev_addrs *addrs,
		    u8 ev[MRC_EV_BYTES]);

/* Widest EV of a format in bits: 32, 256, 16. */
u32 mrc_ev_fmt_width(u8 fmt);

#endif
