// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_qp_done.c - see mrc_qp_done.h.
 */
#include "engine/wire/mrc_wire.h"
#include "data/mrc_qp_done.h"

void mrc_qp_done_failed_send(struct mrc_qp *qp, u8 status)
{
	mrc_qp_count(qp, req_cqe_error);
	switch (status) {
	case IB_WC_WR_FLUSH_ERR:
		mrc_qp_count(qp, req_cqe_flush_error);
		break;
	case IB_WC_REM_ACCESS_ERR:
		mrc_qp_count(qp, req_remote_access_errors);
		break;
	case IB_WC_REM_INV_REQ_ERR:
		mrc_qp_count(qp, req_remote_invalid_request);
		break;
	case IB_WC_RETRY_EXC_ERR:
		mrc_qp_count(qp, req_transport_retries_exceeded);
		break;
	case IB_WC_RNR_RETRY_EXC_ERR:
		mrc_qp_count(qp, req_rnr_retries_exceeded);
		break;
	}
}

void mrc_qp_done_failed_recv(struct mrc_qp *qp, u8 status)
{
	mrc_qp_count(qp, resp_cqe_error);
	if (status == IB_WC_WR_FLUSH_ERR)
		mrc_qp_count(qp, resp_cqe_flush_error);
	else if (status == IB_WC_LOC_LEN_ERR)
		mrc_qp_count(qp, resp_local_length_error);
}

static void done_ahead(struct mrc_qp *qp, u32 ahead)
{
	if (ahead < 16)
		mrc_qp_count(qp, rx_ooo_4);
	else if (ahead < 64)
		mrc_qp_count(qp, rx_ooo_16);
	else if (ahead < 256)
		mrc_qp_count(qp, rx_ooo_64);
	else
		mrc_qp_count(qp, rx_ooo_256);
}

void mrc_qp_done_packet(struct mrc_qp *qp, u8 opcode, u32 ahead)
{
	if (ahead >= 4)
		done_ahead(qp, ahead);
	if (mrc_opc_is_write(opcode) && mrc_opc_is_last(opcode))
		mrc_qp_count(qp, rx_write_requests);
}
