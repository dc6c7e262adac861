/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ev_text.h - print EVs. mrc_ctl.h gives only the bytes of an EV, so the format is guessed from them. */
#ifndef EV_TEXT_H
#define EV_TEXT_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <mrc_ctl.h>

#define EV_TEXT_MAX	INET6_ADDRSTRLEN

/* Is it a destination and a segment? Otherwise it is a port and a flow label. */
static inline bool ev_is_srv6(const struct mrc_ctl_ev *ev)
{
	static const uint8_t zero[sizeof(ev->val) - 4];

	return memcmp(ev->val + 4, zero, sizeof(zero));
}

static inline const char *ev_text(const struct mrc_ctl_ev *ev, char text[EV_TEXT_MAX])
{
	if (ev_is_srv6(ev))
		inet_ntop(AF_INET6, ev->val, text, EV_TEXT_MAX);
	else
		snprintf(text, EV_TEXT_MAX, "0x%02x%02x%02x%02x", ev->val[0], ev->val[1], ev->val[2], ev->val[3]);
	return text;
}

#endif
