// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_err_text.c - buffers for the texts of MRC_ERR_MSG(), on kernels whose extack takes only
 * constant strings.
 *
 * Netlink copies the text into its reply after the command has returned and released all locks;
 * there is no callback when it is done. So there are many buffers, used in turn: a text remains
 * valid until MRC_ERR_TEXTS further commands have failed, of any task.
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
