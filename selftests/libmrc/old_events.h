/* SPDX-License-Identifier: GPL-2.0 */
/* old_events.h - polled as a program of API 1.0.0 does, whose events end before the state. */
#ifndef OLD_EVENTS_H
#define OLD_EVENTS_H

#include <stdint.h>

struct mrc_cq;

/*
 * How many of at most 3 events came, or -1; first bytes of the EVs' values and their drop counts in
 * @value and @dropped. -2: the library wrote behind the array.
 */
int old_poll(struct mrc_cq *cq, uint8_t value[3], uint32_t dropped[3]);

/* Of 1.0.1, by a program that names 1.0.0 of mrc.h and nothing of mrc_ctl.h. */
int mixed_poll(struct mrc_cq *cq, uint8_t value[3]);

#endif
