// SPDX-License-Identifier: GPL-2.0
/*
 * old_events.c - see old_events.h.
 */
#define MRC_CTL_API_VER_USED 0x01000000
#include <string.h>
#include <mrc_ctl.h>
#include "old_events.h"

int old_poll(struct mrc_cq *cq, uint8_t value[3], uint32_t dropped[3])
{
	struct mrc_ctl_ev_event event[6];
	const uint8_t *behind = (const uint8_t *)&event[3];
	size_t i;
	int n;

	memset(event, 0xa5, sizeof(event));
	n = mrc_ctl_poll_ev_event(cq, 3, event);
	for (i = 0; i < 3 * sizeof(event[0]); i++)
		if (behind[i] != 0xa5)
			return -2;
	for (i = 0; i < 3; i++) {
		value[i] = event[i].ev.val[1];
		dropped[i] = event[i].drop_count;
	}
	return n;
}
