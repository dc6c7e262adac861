// SPDX-License-Identifier: GPL-2.0
/*
 * mixed_events.c - see old_events.h.
 */
#define MRC_API_VER_USED 0x01000000
#include <mrc_ctl.h>
#include "old_events.h"

int mixed_poll(struct mrc_cq *cq, uint8_t value[3])
{
	struct mrc_ctl_ev_event event[3] = { 0 };
	int i, n = mrc_ctl_poll_ev_event(cq, 3, event);

	for (i = 0; i < 3; i++)
		value[i] = event[i].ev.val[1];
	return n;
}
