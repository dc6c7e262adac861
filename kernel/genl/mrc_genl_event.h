/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mrc_genl_event.h - turns events (core/mrc_event.h) into netlink messages for all listeners.
 */
#ifndef MRC_GENL_EVENT_H
#define MRC_GENL_EVENT_H

/* Process context. */
void mrc_genl_event_start(void);
void mrc_genl_event_stop(void);

#endif
