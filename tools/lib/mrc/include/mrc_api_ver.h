/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_api_ver.h - versions of the application interface, mrc.h.
 *
 * A program may define MRC_API_VER_USED (and MRC_VENDOR_API_VER_USED) before it includes mrc.h, as
 * the version that it was written for. Newer declarations are then left out. The version is passed
 * on in struct mrc_context_attr; without a definition it is the current one.
 */
#ifndef MRC_API_VER_H
#define MRC_API_VER_H

#define MRC_API_VER_MAJOR_OFFSET	24
#define MRC_API_VER_MINOR_OFFSET	16
#define MRC_API_VER_SUBMINOR_OFFSET	0

/* Versions compare as numbers. */
#define MRC_API_VER(major, minor, subminor)		\
	(((major) << MRC_API_VER_MAJOR_OFFSET) |	\
	 ((minor) << MRC_API_VER_MINOR_OFFSET) |	\
	 ((subminor) << MRC_API_VER_SUBMINOR_OFFSET))

/* The newest version at the program's compilation: all bits of an int. */
#define MRC_API_VER_LATEST		(-1)
#define MRC_VENDOR_API_VER_LATEST	(-1)

#define MRC_API_CURRENT_VERSION			(MRC_API_VER(1, 0, 1))
#define MRC_API_LAST_SUPPORTED_VERSION		(MRC_API_VER(0, 0, 0))
#define MRC_VENDOR_API_CURRENT_VERSION		(MRC_API_VER(1, 0, 0))
#define MRC_VENDOR_API_LAST_SUPPORTED_VERSION	(MRC_API_VER(0, 0, 0))

#ifndef MRC_API_VER_USED
#define MRC_API_VER_USED	MRC_API_CURRENT_VERSION
#elif MRC_API_VER_USED == MRC_API_VER_LATEST || MRC_API_VER_USED == 0xFFFFFFFFu
#undef MRC_API_VER_USED
#define MRC_API_VER_USED	MRC_API_CURRENT_VERSION
#endif

#ifndef MRC_VENDOR_API_VER_USED
#define MRC_VENDOR_API_VER_USED	MRC_VENDOR_API_CURRENT_VERSION
#elif MRC_VENDOR_API_VER_USED == MRC_VENDOR_API_VER_LATEST || MRC_VENDOR_API_VER_USED == 0xFFFFFFFFu
#undef MRC_VENDOR_API_VER_USED
#define MRC_VENDOR_API_VER_USED	MRC_VENDOR_API_CURRENT_VERSION
#endif

#if MRC_API_VER_USED > MRC_API_CURRENT_VERSION
#error "MRC_API_VER_USED is newer than this mrc.h: at most MRC_API_CURRENT_VERSION, or MRC_API_VER_LATEST"
#elif MRC_API_VER_USED < MRC_API_LAST_SUPPORTED_VERSION
#error "MRC_API_VER_USED is too old for this mrc.h: at least MRC_API_LAST_SUPPORTED_VERSION"
#elif MRC_API_VER_USED == MRC_API_LAST_SUPPORTED_VERSION
#warning "MRC_API_VER_USED is the oldest that this mrc.h supports, and will not be for long"
#endif

#if MRC_VENDOR_API_VER_USED > MRC_VENDOR_API_CURRENT_VERSION
#error "MRC_VENDOR_API_VER_USED is newer than this mrc.h"
#elif MRC_VENDOR_API_VER_USED < MRC_VENDOR_API_LAST_SUPPORTED_VERSION
#error "MRC_VENDOR_API_VER_USED is too old for this mrc.h"
#elif MRC_VENDOR_API_VER_USED == MRC_VENDOR_API_LAST_SUPPORTED_VERSION
#warning "MRC_VENDOR_API_VER_USED is the oldest that this mrc.h supports, and will not be for long"
#endif

#endif
