/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * mrc_ctl_api_ver.h - versions of the controller interface, mrc_ctl.h.
 *
 * A program may define MRC_CTL_API_VER_USED (and MRC_CTL_VENDOR_API_VER_USED) before it includes
 * mrc_ctl.h, as the version that it was written for. Newer declarations are then left out.
 */
#ifndef MRC_CTL_API_VER_H
#define MRC_CTL_API_VER_H

#define MRC_CTL_API_VER_MAJOR_OFFSET	24
#define MRC_CTL_API_VER_MINOR_OFFSET	16
#define MRC_CTL_API_VER_SUBMINOR_OFFSET	0

/* Versions compare as numbers. */
#define MRC_CTL_API_VER(major, minor, subminor)		\
	(((major) << MRC_CTL_API_VER_MAJOR_OFFSET) |	\
	 ((minor) << MRC_CTL_API_VER_MINOR_OFFSET) |	\
	 ((subminor) << MRC_CTL_API_VER_SUBMINOR_OFFSET))

/* The newest version at the program's compilation: all bits of an int. */
#define MRC_CTL_API_VER_LATEST		(-1)
#define MRC_CTL_VENDOR_API_VER_LATEST	(-1)

#define MRC_CTL_API_CURRENT_VERSION			(MRC_CTL_API_VER(1, 0, 1))
#define MRC_CTL_API_LAST_SUPPORTED_VERSION		(MRC_CTL_API_VER(0, 0, 0))
#define MRC_CTL_VENDOR_API_CURRENT_VERSION		(MRC_CTL_API_VER(1, 0, 0))
#define MRC_CTL_VENDOR_API_LAST_SUPPORTED_VERSION	(MRC_CTL_API_VER(0, 0, 0))

#ifndef MRC_CTL_API_VER_USED
#define MRC_CTL_API_VER_USED	MRC_CTL_API_CURRENT_VERSION
#elif MRC_CTL_API_VER_USED == MRC_CTL_API_VER_LATEST || MRC_CTL_API_VER_USED == 0xFFFFFFFFu
#undef MRC_CTL_API_VER_USED
#define MRC_CTL_API_VER_USED	MRC_CTL_API_CURRENT_VERSION
#endif

#ifndef MRC_CTL_VENDOR_API_VER_USED
#define MRC_CTL_VENDOR_API_VER_USED	MRC_CTL_VENDOR_API_CURRENT_VERSION
#elif MRC_CTL_VENDOR_API_VER_USED == MRC_CTL_VENDOR_API_VER_LATEST || MRC_CTL_VENDOR_API_VER_USED == 0xFFFFFFFFu
#undef MRC_CTL_VENDOR_API_VER_USED
#define MRC_CTL_VENDOR_API_VER_USED	MRC_CTL_VENDOR_API_CURRENT_VERSION
#endif

#if MRC_CTL_API_VER_USED > MRC_CTL_API_CURRENT_VERSION
#error "MRC_CTL_API_VER_USED is newer than this mrc_ctl.h: at most MRC_CTL_API_CURRENT_VERSION, or MRC_CTL_API_VER_LATEST"
#elif MRC_CTL_API_VER_USED < MRC_CTL_API_LAST_SUPPORTED_VERSION
#error "MRC_CTL_API_VER_USED is too old for this mrc_ctl.h: at least MRC_CTL_API_LAST_SUPPORTED_VERSION"
#elif MRC_CTL_API_VER_USED == MRC_CTL_API_LAST_SUPPORTED_VERSION
#warning "MRC_CTL_API_VER_USED is the oldest that this mrc_ctl.h supports, and will not be for long"
#endif

#if MRC_CTL_VENDOR_API_VER_USED > MRC_CTL_VENDOR_API_CURRENT_VERSION
#error "MRC_CTL_VENDOR_API_VER_USED is newer than this mrc_ctl.h"
#elif MRC_CTL_VENDOR_API_VER_USED < MRC_CTL_VENDOR_API_LAST_SUPPORTED_VERSION
#error "MRC_CTL_VENDOR_API_VER_USED is too old for this mrc_ctl.h"
#elif MRC_CTL_VENDOR_API_VER_USED == MRC_CTL_VENDOR_API_LAST_SUPPORTED_VERSION
#warning "MRC_CTL_VENDOR_API_VER_USED is the oldest that this mrc_ctl.h supports, and will not be for long"
#endif

#endif
