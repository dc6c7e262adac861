/* SPDX-License-Identifier: GPL-2.0 */
/* mrc_err_text.h - extack messages with values in them. */
#ifndef MRC_ERR_TEXT_H
#define MRC_ERR_TEXT_H

#include <linux/kernel.h>
#include <linux/netlink.h>
#include "mrc_have.h"

/* Sets the message of @extack (or of nothing: NULL), with values in it. */
#ifdef MRC_HAVE_ERR_MSG_FMT
#define MRC_ERR_MSG(extack, fmt, ...) NL_SET_ERR_MSG_FMT(extack, fmt, ##__VA_ARGS__)
#else
#define MRC_ERR_TEXT_LEN	96

char *mrc_err_text(void);

#define MRC_ERR_MSG(extack, fmt, ...) do {				\
	struct netlink_ext_ack *__ack = (extack);			\
									\
	if (__ack) {							\
		char *__msg = mrc_err_text();				\
									\
		snprintf(__msg, MRC_ERR_TEXT_LEN, fmt, ##__VA_ARGS__);	\
		__ack->_msg = __msg;					\
	}								\
} while (0)
#endif

#endif
