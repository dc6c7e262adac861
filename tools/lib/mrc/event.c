// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * event.c - asynchronous events.
 *
 * libibverbs delivers all events of a device context through one file. Events of objects that mrc.h
 * did not create have no representation there, so they are acknowledged and skipped.
 */
#include "object.h"

enum about { ABOUT_PORT, ABOUT_QP, ABOUT_CQ };

static enum about event_about(enum ibv_event_type type)
{
	switch (type) {
	case IBV_EVENT_CQ_ERR:
		return ABOUT_CQ;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return ABOUT_QP;
	default:
		return ABOUT_PORT;
	}
}

/* Fills in the object of the event. False: mrc.h did not create it. */
static bool event_name(struct mrc_context *ctx, const struct ibv_async_event *from,
		       struct mrc_async_event *to)
{
	struct mrc_qp *qp = NULL;
	struct mrc_cq *cq = NULL;

	if (from->event_type == IBV_EVENT_SRQ_ERR || from->event_type == IBV_EVENT_SRQ_LIMIT_REACHED ||
	    from->event_type == IBV_EVENT_WQ_FATAL)
		return false;
	to->event_type = from->event_type;
	pthread_mutex_lock(&ctx->lock);
	switch (event_about(from->event_type)) {
	case ABOUT_QP:
		qp = mrc_qp_of(ctx, from->element.qp);
		to->element.qp = qp;
		break;
	case ABOUT_CQ:
		cq = mrc_cq_of(ctx, from->element.cq);
		to->element.cq = cq;
		break;
	case ABOUT_PORT:
		to->element.port_num = from->element.port_num;
		break;
	}
	pthread_mutex_unlock(&ctx->lock);
	return event_about(from->event_type) == ABOUT_PORT || qp || cq;
}

int mrc_get_async_event(struct mrc_context *ctx, struct mrc_async_event *event)
{
	struct ibv_async_event v;

	if (!MRC_IS(ctx, CONTEXT) || !event)
		return mrc_minus(EINVAL);
	for (;;) {
		if (ctx->verbs.get_async_event(ctx->v, &v))
			return -1;
		if (event_name(ctx, &v, event))
			return 0;
		ctx->verbs.ack_async_event(&v);
	}
}

void mrc_ack_async_event(struct mrc_async_event *event)
{
	struct ibv_async_event v = { .event_type = event ? event->event_type : 0 };

	if (!event)
		return;
	switch (event_about(event->event_type)) {
	case ABOUT_QP:
		if (!MRC_IS(event->element.qp, QP))
			return;
		v.element.qp = event->element.qp->v;
		break;
	case ABOUT_CQ:
		if (!MRC_IS_WCQ(event->element.cq))
			return;
		v.element.cq = event->element.cq->v;
		break;
	case ABOUT_PORT:
		v.element.port_num = event->element.port_num;
		break;
	}
	ibv_ack_async_event(&v);
}
