// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_err_text.c - room for the texts of MRC_ERR_MSG(), on kernels whose extack takes
 * constant strings only.
 *
 * Netlink copies the text into its answer after the command has returned and let go of
 * every lock, and nobody says when. So there are many places, taken in turn: a text stays
 * as it is until MRC_ERR_TEXTS more commands have failed meanwhile, of any task.
 */
#include <linux/atomic.h>
#include "compat/mrc_err_text.h"

#ifndef MRC_HAVE_ERR_MSG_FMT

#define MRC_ERR_TEXTS	256	/* power of two */

char *mrc_err_text(void)
{
	static char text[MRC_ERR_TEXTS][MRC_ERR_TEXT_LEN];
	static atomic_t turn;

	return text[(u32)atomic_inc_return(&turn) % MRC_ERR_TEXTS];
}

#endif
