// SPDX-License-Identifier: GPL-2.0
/*
 * shim_device.c - libibverbs.so.1 with one MRC device that does nothing, behind mrc_shim.so and libmrc: it
 * writes down what reaches it. For shim_client.c, by LD_LIBRARY_PATH. Its kernel: shim_kernel.c.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#define CMD_FD	4711

static struct ibv_device device = { .name = "mrc0", .ibdev_path = "/sys/class/infiniband/mrc0" };
static struct verbs_context context;
static struct ibv_qp *last_qp;	/* of which events are */
static void tell(const char *format, ...)
{
	char text[200];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	printf("%s\n", text);
	fflush(stdout);
}

/* ---- the device ---- */

static struct ibv_qp *make_qp(struct ibv_cq *send, struct ibv_cq *recv, void *qp_context, enum ibv_qp_type type)
{
	static uint32_t n;
	struct ibv_qp *qp = calloc(1, sizeof(*qp));

	qp->context = &context.context;
	qp->send_cq = send;
	qp->recv_cq = recv;
	qp->qp_context = qp_context;
	qp->qp_type = type;
	qp->handle = qp->qp_num = n + 1;
	last_qp = qp;
	n++;
	return qp;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *v, struct ibv_qp_init_attr_ex *ex)
{
	(void)v;
	tell("create_qp_ex past the shim, type %d", ex->qp_type);
	return make_qp(ex->send_cq, ex->recv_cq, ex->qp_context, ex->qp_type);
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	(void)cq;
	(void)wc;
	tell("poll_cq for %d", n);
	return 0;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)bad;
	tell("post_send %u opcode %d", qp->qp_num, wr->opcode);
	return 0;
}

struct ibv_device **ibv_get_device_list(int *n)
{
	struct ibv_device **list = calloc(2, sizeof(*list));

	list[0] = &device;
	if (n)
		*n = 1;
	return list;
}

const char *ibv_get_device_name(struct ibv_device *d)
{
	return d->name;
}

struct ibv_context *ibv_open_device(struct ibv_device *d)
{
	context.sz = sizeof(context);
	context.create_qp_ex = create_qp_ex;
	context.context.ops.poll_cq = poll_cq;
	context.context.ops.post_send = post_send;
	context.context.device = d;
	context.context.cmd_fd = CMD_FD;
	context.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	return &context.context;
}

int ibv_close_device(struct ibv_context *v)
{
	(void)v;
	tell("close");
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *v)
{
	static struct ibv_pd pd;

	pd.context = v;
	return &pd;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *v, int cqe, void *cq_context, struct ibv_comp_channel *channel,
			     int vector)
{
	struct ibv_cq *cq = calloc(1, sizeof(*cq));

	tell("create_cq %d vector %d channel %s", cqe, vector, channel ? "yes" : "no");
	cq->context = v;
	cq->channel = channel;
	cq->cq_context = cq_context;
	return cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	tell("destroy_cq");
	free(cq);
	return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	(void)pd;
	tell("create_qp type %d", a->qp_type);
	a->cap.max_inline_data = 256;
	return make_qp(a->send_cq, a->recv_cq, a->qp_context, a->qp_type);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask)
{
	tell("modify_qp %u mask 0x%x state %d", qp->qp_num, mask, a->qp_state);
	if (mask & IBV_QP_STATE)
		qp->state = a->qp_state;
	return 0;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask, struct ibv_qp_init_attr *init)
{
	(void)init;
	tell("query_qp %u mask 0x%x", qp->qp_num, mask);
	a->qp_state = qp->state;
	return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *v)
{
	struct ibv_comp_channel *ch = calloc(1, sizeof(*ch));

	tell("create_comp_channel");
	ch->context = v;
	ch->fd = eventfd(0, 0);
	return ch;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *ch)
{
	tell("destroy_comp_channel");
	close(ch->fd);
	free(ch);
	return 0;
}

/* Of nothing: nobody waits here. */
int ibv_get_cq_event(struct ibv_comp_channel *ch, struct ibv_cq **cq, void **cq_context)
{
	(void)ch;
	(void)cq;
	(void)cq_context;
	errno = EAGAIN;
	return -1;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int n)
{
	(void)cq;
	tell("ack_cq_events %u", n);
}

int ibv_get_async_event(struct ibv_context *v, struct ibv_async_event *event)
{
	(void)v;
	if (!last_qp)
		return -1;
	event->event_type = IBV_EVENT_QP_FATAL;
	event->element.qp = last_qp;
	return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
	tell("ack_async_event of %u", event->element.qp->qp_num);
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	tell("destroy_qp %u", qp->qp_num);
	free(qp);
	return 0;
}
