/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vcommon.h - what the verbs test programs share: opening a device, choosing a
 * GID, one RC queue pair, and a TCP connection over which both ends agree.
 *
 * libibverbs only. Set-up failures print and exit with 3: there is nothing to
 * test then. Tests themselves report in their own way.
 */
#ifndef VCOMMON_H
#define VCOMMON_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	VC_EXIT_OK = 0,
	VC_EXIT_BAD = 1,	/* data or behaviour is wrong */
	VC_EXIT_USAGE = 2,
	VC_EXIT_SETUP = 3,
};

struct vc_opts {
	const char *dev;	/* NULL: the first */
	int gid_index;		/* -1: chosen */
	bool want_v4;
	const char *port;	/* TCP */
	const char *server;	/* NULL: we are it */
	int mtu;		/* bytes, 0: the port's */
};

struct vc_dev {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	union ibv_gid gid;
	int gid_index;
	enum ibv_mtu mtu;
	uint8_t timeout;	/* of QPs: 4.096 us << timeout, eight times */
	uint8_t rnr_retry;	/* of QPs: 7 (for ever), unless who opened it says otherwise */
};

/* What the ends tell each other about a QP; network order on the wire. */
struct vc_peer {
	uint32_t qpn;
	uint32_t psn;
	uint32_t rkey;
	uint32_t mtu;
	uint64_t addr;
	uint32_t rd_atomic;
	uint32_t reserved;
	uint8_t gid[16];
};

#define vc_die(...)							\
	do {								\
		fprintf(stderr, __VA_ARGS__);				\
		fputc('\n', stderr);					\
		exit(VC_EXIT_SETUP);					\
	} while (0)

void vc_open(struct vc_dev *d, const struct vc_opts *o);
void vc_close(struct vc_dev *d);

/* Server: waits for one client. Client: tries for 30 s. */
int vc_tcp(const struct vc_opts *o);
/* Whole buffers; false when the peer is gone. */
bool vc_send(int fd, const void *buf, size_t len);
bool vc_recv(int fd, void *buf, size_t len);
bool vc_peer_gone(int fd);

struct ibv_qp *vc_qp(struct vc_dev *d, struct ibv_cq *cq, const struct ibv_qp_cap *cap,
		     int access);
/* Likewise; @init besides: an SRQ, extended posting. */
struct ibv_qp *vc_qp_ex(struct vc_dev *d, struct ibv_cq *cq, struct ibv_qp_init_attr_ex init,
			const struct ibv_qp_cap *cap, int access);
/* Exchange over @fd and bring @qp to RTS. @mr_addr, @rkey are only passed on. */
bool vc_connect(struct vc_dev *d, struct ibv_qp *qp, int fd, uint64_t mr_addr, uint32_t rkey,
		struct vc_peer *peer);

uint64_t vc_now_ns(void);
uint64_t vc_mix(uint64_t x);

#endif
