// SPDX-License-Identifier: GPL-2.0
/*
 * trace.c - every MRC packet that enters or leaves a plane (failover.h).
 *
 * A packet socket with a ring in each plane's namespace. It takes packets that come
 * in before anything can drop them, and those that go out after the queue, so both
 * ways of both cables are seen: what entered and never left was lost.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include "failover.h"
#include "vcommon.h"

#define PLANES_MAX	32
#define BLOCK		(1u << 20)
#define BLOCKS		16
#define FRAME		256u
#define FRAMES		(BLOCKS * (BLOCK / FRAME))

#define IP6_LEN		40
#define UDP_LEN		8
#define BTH_LEN		12
#define BTH_RTX		0x20	/* byte 8 */
#define BTH_TS		0x10
#define METH_LEN	4
#define TSETH_LEN	4
#define RETH_LEN	16
#define ICRC_LEN	4
#define WRITE_FIRST	0xc6
#define WRITE_ONLY_IMM	0xcb
#define UDP_PORT	4791

struct ring {
	uint8_t *mem;
	uint32_t next;
	unsigned int to_a, to_b;	/* netdevs */
	int fd;
};

static struct ring rings[PLANES_MAX];
static unsigned int n_rings;
static struct fo_record *records;
static uint64_t n_records, room;

/* ---- sockets ---- */

static void enter(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNET))
		vc_die("%s: %s", path, strerror(errno));
	close(fd);
}

static void open_ring(struct ring *r)
{
	const struct tpacket_req req = {
		.tp_block_size = BLOCK, .tp_block_nr = BLOCKS,
		.tp_frame_size = FRAME, .tp_frame_nr = FRAMES,
	};
	const int version = TPACKET_V2;

	r->to_a = if_nametoindex("h1");
	r->to_b = if_nametoindex("h2");
	if (!r->to_a || !r->to_b)
		vc_die("a plane without netdevs h1 and h2");
	r->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
	if (r->fd < 0 ||
	    setsockopt(r->fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version)) ||
	    setsockopt(r->fd, SOL_PACKET, PACKET_RX_RING, &req, sizeof(req)))
		vc_die("packet socket: %s", strerror(errno));
	r->mem = mmap(NULL, (size_t)BLOCK * BLOCKS, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (r->mem == MAP_FAILED)
		vc_die("packet ring: %s", strerror(errno));
}

void fo_trace_open(unsigned int planes)
{
	char path[64];
	unsigned int i;

	if (planes > PLANES_MAX)
		vc_die("too many planes");
	for (i = 0; i < planes; i++) {
		snprintf(path, sizeof(path), "/run/netns/p%u", i + 1);
		enter(path);
		open_ring(&rings[i]);
	}
	n_rings = planes;
	enter("/proc/1/ns/net");
}

/* ---- packets ---- */

static uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

/* The outer headers of @p, @len bytes of it at hand: where UDP is, or NULL. */
static const uint8_t *find_udp(const uint8_t *p, uint32_t len, struct fo_record *rec)
{
	const uint8_t *in = p + ETH_HLEN + IP6_LEN;

	if (len < ETH_HLEN + 2 * IP6_LEN + UDP_LEN + BTH_LEN || be16(p + 12) != ETH_P_IPV6 ||
	    p[ETH_HLEN + 6] != IPPROTO_IPV6 || in[6] != IPPROTO_UDP)
		return NULL;
	rec->sid = be16(p + ETH_HLEN + 24 + 4);
	rec->ev = (uint32_t)be16(in + IP6_LEN) << 16 | be16(in + 2);
	return in + IP6_LEN;
}

/* METH, TSETH (as BTH says) and RETH come before the payload of a WRITE. */
static uint16_t write_payload(const uint8_t *udp, const uint8_t *bth)
{
	const uint32_t head = UDP_LEN + BTH_LEN + METH_LEN + RETH_LEN + ICRC_LEN +
			      (bth[8] & BTH_TS ? TSETH_LEN : 0);
	uint32_t len = be16(udp + 4);

	return (uint16_t)(len > head ? len - head : 0);
}

static bool parse(const uint8_t *p, uint32_t len, struct fo_record *rec)
{
	const uint8_t *udp = find_udp(p, len, rec), *bth;

	if (!udp || be16(udp + 2) != UDP_PORT)
		return false;
	bth = udp + UDP_LEN;
	rec->opcode = bth[0];
	rec->rtx = bth[8] & BTH_RTX ? 1 : 0;
	rec->psn = (uint32_t)bth[9] << 16 | be16(bth + 10);
	rec->payload = bth[0] >= WRITE_FIRST && bth[0] <= WRITE_ONLY_IMM ?
		       write_payload(udp, bth) : 0;
	return true;
}

static bool point_of(const struct ring *r, const struct sockaddr_ll *from, uint8_t *point)
{
	bool out = from->sll_pkttype == PACKET_OUTGOING;

	if ((unsigned int)from->sll_ifindex == r->to_a)
		*point = out ? FO_TO_A : FO_FROM_A;
	else if ((unsigned int)from->sll_ifindex == r->to_b)
		*point = out ? FO_TO_B : FO_FROM_B;
	else
		return false;
	return true;
}

static void take(const struct ring *r, const struct tpacket2_hdr *h, uint8_t plane)
{
	const uint8_t *frame = (const uint8_t *)h;
	struct fo_record rec = {
		.ns = (uint64_t)h->tp_sec * 1000000000ull + h->tp_nsec,
		.plane = plane,
	};

	if (!point_of(r, (const void *)(frame + TPACKET_ALIGN(sizeof(*h))), &rec.point) ||
	    !parse(frame + h->tp_mac, h->tp_snaplen, &rec))
		return;
	if (n_records == room) {
		room = room ? 2 * room : 65536;
		records = realloc(records, room * sizeof(*records));
		if (!records)
			vc_die("no memory for the trace");
	}
	records[n_records++] = rec;
}

void fo_trace_drain(void)
{
	unsigned int i;

	for (i = 0; i < n_rings; i++) {
		struct ring *r = &rings[i];

		for (;;) {
			struct tpacket2_hdr *h = (void *)(r->mem + (size_t)r->next * FRAME);

			if (!(__atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
				break;
			take(r, h, (uint8_t)(i + 1));
			__atomic_store_n(&h->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
			r->next = (r->next + 1) % FRAMES;
		}
	}
}

bool fo_trace_write(const char *path)
{
	FILE *f = fopen(path, "w");
	bool whole = true;
	unsigned int i;

	if (!f || fwrite(records, sizeof(*records), n_records, f) != n_records || fclose(f))
		vc_die("%s: %s", path, strerror(errno));
	for (i = 0; i < n_rings; i++) {
		struct tpacket_stats st;
		socklen_t len = sizeof(st);

		if (getsockopt(rings[i].fd, SOL_PACKET, PACKET_STATISTICS, &st, &len) ||
		    st.tp_drops)
			whole = false;
	}
	free(records);
	return whole;
}
