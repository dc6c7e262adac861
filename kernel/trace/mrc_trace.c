// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_trace.c - see mrc_trace.h.
 */
#include <linux/build_bug.h>
#include "engine/conn/mrc_conn.h"
#include "trace/mrc_trace_names.h"

static_assert(MRC_OPC_SEND_FIRST == 0xc0 && MRC_OPC_WRITE_ONLY_IMM == 0xcb &&
	      MRC_OPC_READ_REQ == 0xcc && MRC_OPC_ACK == 0xd1 && MRC_OPC_FETCH_ADD == 0xd4 &&
	      MRC_OPC_SEND_LAST_INV == 0xd6 && MRC_OPC_EP_RSP == 0xd9 && MRC_OPC_SACK == 0xdc &&
	      MRC_OPC_PROBE == 0xde);
static_assert(MRC_CAUSE_RACK == 0 && MRC_CAUSE_NACK == 1 && MRC_CAUSE_TRIM == 2 &&
	      MRC_CAUSE_RTO == 3 && MRC_CAUSE_PLANE == 4 && MRC_CAUSE_RNR == 5 &&
	      MRC_CAUSE_SLEEK == 6);
static_assert(MRC_EV_GOOD == 0 && MRC_EV_SKIP == 1 && MRC_EV_ASSUMED_BAD == 2 &&
	      MRC_EV_DENIED == 3);
static_assert(MRC_V_DROP == 0 && MRC_V_DONE == 1 && MRC_V_PLACE == 2);

#define CREATE_TRACE_POINTS
#include "trace/mrc_trace.h"
