// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_mitm.c - an attacker on a cable: all frames pass through him, in both directions.
 *
 *	mrc_mitm [-s SEED] LEFT RIGHT
 *
 * What comes by one of the two netdevs leaves by the other. From SIGUSR1 to the next one he attacks MRC packets that
 * SRv6 carries: some he holds for a while; and he adds others, of five kinds:
 *
 *	replay	  one that passed before, once more
 *	reflect	  one, back to who sent it
 *	turn	  likewise, with source and destination exchanged and a right ICRC, as if the receiver had sent it
 *	flip	  one with a bit changed, ICRC as it was
 *	inject	  one that arrived long ago, with other payload and a right ICRC
 *
 * He who sees everything could also change what has not arrived yet, and MRC could not tell (security.md). He does not do
 * so here: all that he adds must be recognized. Prints what he did, "passed=N held=N replay=N ...", on SIGTERM and
 * when an attack ends.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <getopt.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip6.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <netpacket/packet.h>
#include "vcommon.h"
#include "mrc_crc.h"

#define PORT		4791
#define FRAME_MAX	9216
#define KEPT		256	/* of each direction, the latest */
#define OLD		64	/* of each direction, some of all that passed */
#define OLD_BEHIND	2048	/* PSNs: no window is that long, so the receiver has had it */
#define STREAMS		32	/* of each direction: QPs that are sent to */
#define HELD		32
#define HOLD_NS		200000000ull
#define DATA_LAST	0xcb	/* 0xc0 to this: SENDs and WRITEs */

enum act { REPLAY, REFLECT, TURN, FLIP, INJECT, N_ACTS };

static const char * const names[N_ACTS] = { "replay", "reflect", "turn", "flip", "inject" };

struct frame {
	uint64_t due;
	uint32_t len, psn;
	int from, stream;
	uint8_t at[FRAME_MAX];
};

/* Where things are in a frame, as offsets. */
struct places {
	uint32_t ip, udp, bth, icrc;
};

static int side[2];
static struct frame kept[2][KEPT], old[2][OLD], held[HELD], made;
static struct {
	uint32_t qpn, newest;
} streams[2][STREAMS];
static int n_streams[2];
static uint32_t n_kept[2], n_old[2];
static uint64_t state, passed, n_held, acts[N_ACTS];
static volatile sig_atomic_t attacking, told = 1, stop;

static uint64_t draw(uint64_t below)
{
	return vc_mix(++state) % below;
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return be32toh(v);
}

static bool find(const struct frame *f, struct places *p)
{
	uint32_t off = ETH_HLEN + sizeof(struct ip6_hdr);
	uint8_t next;

	if (f->len < off + 8 || f->at[12] != 0x86 || f->at[13] != 0xdd)
		return false;
	next = f->at[ETH_HLEN + 6];
	if (next == IPPROTO_ROUTING) {
		next = f->at[off];
		off += 8u + f->at[off + 1] * 8u;
	}
	if (next != IPPROTO_IPV6 || f->len < off + sizeof(struct ip6_hdr) + 8 + 12 + 4)
		return false;
	p->ip = off;
	p->udp = off + (uint32_t)sizeof(struct ip6_hdr);
	p->bth = p->udp + 8;
	p->icrc = f->len - 4;
	return f->at[p->ip + 6] == IPPROTO_UDP && (f->at[p->udp + 2] << 8 | f->at[p->udp + 3]) == PORT;
}

/* ---- ICRC: IBTA A17.3.3 */

static void sign(struct frame *f, const struct places *p)
{
	uint8_t head[8 + 40 + 8 + 12];
	uint32_t c;

	memset(head, 0xff, 8);
	memcpy(head + 8, f->at + p->ip, 40 + 8 + 12);
	head[8] |= 0x0f;
	memset(head + 9, 0xff, 3);
	head[8 + 7] = 0xff;
	memset(head + 8 + 40 + 6, 0xff, 2);
	head[8 + 48 + 4] = 0xff;
	c = crc(~0u, head, sizeof(head));
	c = htole32(~crc(c, f->at + p->bth + 12, p->icrc - p->bth - 12));
	memcpy(f->at + p->icrc, &c, 4);
}

/* ---- what he does */

static void out(int to, const struct frame *f)
{
	if (send(side[to], f->at, f->len, 0) < 0 && errno != ENOBUFS)
		vc_die("send %u bytes: %s", f->len, strerror(errno));
}

static void exchange(uint8_t *a, uint8_t *b, uint32_t len)
{
	uint8_t t;

	while (len--) {
		t = *a;
		*a++ = *b;
		*b++ = t;
	}
}

/* One that is surely known to its receiver; NULL: there is none. */
static const struct frame *an_old(int from)
{
	uint32_t n = n_old[from] < OLD ? n_old[from] : OLD, i;
	const struct frame *f;

	for (i = 0; i < n; i++) {
		f = &old[from][draw(n)];
		if (((streams[from][f->stream].newest - f->psn) & 0xffffff) - OLD_BEHIND < 1 << 23)
			return f;
	}
	return NULL;
}

static void attack(void)
{
	enum act act = (enum act)draw(N_ACTS);
	int from = (int)draw(2), to = !from;
	uint32_t n = n_kept[from] < KEPT ? n_kept[from] : KEPT;
	const struct frame *f = act == INJECT ? an_old(from) : n ? &kept[from][draw(n)] : NULL;
	struct places p;

	if (!f || !find(f, &p))
		return;
	memcpy(&made, f, sizeof(made));
	if (act == REFLECT || act == TURN) {
		to = from;
		exchange(made.at, made.at + 6, 6);
	}
	if (act == TURN) {
		exchange(made.at + p.ip + 8, made.at + p.ip + 24, 16);
		sign(&made, &p);
	} else if (act == FLIP) {
		made.at[p.bth + draw(made.len - p.bth)] ^= (uint8_t)(1 << draw(8));
	} else if (act == INJECT) {
		made.at[p.icrc - 8 - draw(8)] ^= 0x55;	/* pad, if there is any, has three bytes at most */
		sign(&made, &p);
	}
	out(to, &made);
	acts[act]++;
}

/* True: it goes later. */
static bool hold(const struct frame *f)
{
	int i;

	for (i = 0; i < HELD; i++)
		if (!held[i].len) {
			memcpy(&held[i], f, sizeof(*f));
			held[i].due = vc_now_ns() + draw(HOLD_NS);
			n_held++;
			return true;
		}
	return false;
}

static void release(void)
{
	int i;

	for (i = 0; i < HELD; i++)
		if (held[i].len && (!attacking || vc_now_ns() >= held[i].due)) {
			out(!held[i].from, &held[i]);
			held[i].len = 0;
		}
}

/* Each QP has PSNs of its own. False: there are too many. */
static bool place(struct frame *f, uint32_t qpn, uint32_t psn)
{
	int i, n = n_streams[f->from];

	for (i = 0; i < n && streams[f->from][i].qpn != qpn; i++)
		;
	if (i == STREAMS)
		return false;
	if (i == n) {
		n_streams[f->from]++;
		streams[f->from][i].qpn = qpn;
		streams[f->from][i].newest = psn;
	}
	if (((psn - streams[f->from][i].newest) & 0xffffff) < 1 << 23)
		streams[f->from][i].newest = psn;
	f->stream = i;
	f->psn = psn;
	return true;
}

static void keep(struct frame *f)
{
	struct places p;
	uint8_t opcode;

	if (!find(f, &p))
		return;
	memcpy(&kept[f->from][n_kept[f->from]++ % KEPT], f, sizeof(*f));
	opcode = f->at[p.bth];
	if (opcode < 0xc0 || opcode > DATA_LAST || p.icrc - p.bth < 200)
		return;
	if (!place(f, get32(f->at + p.bth + 4) & 0xffffff, get32(f->at + p.bth + 8) & 0xffffff))
		return;
	if (n_old[f->from] < OLD || !draw(32))
		memcpy(&old[f->from][n_old[f->from]++ % OLD], f, sizeof(*f));
}

static void frame(int from)
{
	static struct frame f;
	struct sockaddr_ll sll;
	socklen_t len = sizeof(sll);
	ssize_t n = recvfrom(side[from], f.at, sizeof(f.at), MSG_DONTWAIT | MSG_TRUNC, (void *)&sll, &len);
	struct places p;

	if (n <= 0 || sll.sll_pkttype == PACKET_OUTGOING)
		return;
	if (n > FRAME_MAX)
		vc_die("a frame of %zd bytes: no bursts here, please", n);
	f.len = (uint32_t)n;
	f.from = from;
	keep(&f);
	passed++;
	if (attacking && find(&f, &p) && !draw(8) && hold(&f))
		return;
	out(!from, &f);
	if (attacking && !draw(3))
		attack();
}

/* ---- */

static void on_signal(int number)
{
	if (number == SIGUSR1) {
		attacking = !attacking;
		told = attacking;
	} else {
		stop = 1;
	}
}

static void say(void)
{
	int i;

	printf("passed=%llu held=%llu", (unsigned long long)passed, (unsigned long long)n_held);
	for (i = 0; i < N_ACTS; i++)
		printf(" %s=%llu", names[i], (unsigned long long)acts[i]);
	putchar('\n');
	fflush(stdout);
}

static int open_side(const char *name)
{
	struct sockaddr_ll sll = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(name),
	};
	struct packet_mreq all = { .mr_ifindex = sll.sll_ifindex, .mr_type = PACKET_MR_PROMISC };
	int fd = socket(AF_PACKET, SOCK_RAW, 0), room = 16 << 20;

	if (fd < 0 || bind(fd, (void *)&sll, sizeof(sll)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &all, sizeof(all)))
		vc_die("%s: %s", name, strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	return fd;
}

int main(int argc, char **argv)
{
	struct pollfd fds[2];
	int o, i;

	while ((o = getopt(argc, argv, "s:")) != -1) {
		if (o != 's')
			return VC_EXIT_USAGE;
		state = strtoull(optarg, NULL, 0);
	}
	if (argc - optind != 2)
		return VC_EXIT_USAGE;
	for (i = 0; i < 2; i++) {
		side[i] = open_side(argv[optind + i]);
		fds[i] = (struct pollfd){ side[i], POLLIN, 0 };
	}
	signal(SIGUSR1, on_signal);
	signal(SIGTERM, on_signal);
	puts("ready");
	fflush(stdout);
	while (!stop) {
		poll(fds, 2, 5);
		for (i = 0; i < 2; i++)
			frame(i);
		release();
		if (!told) {
			told = 1;
			say();
		}
	}
	say();
	return VC_EXIT_OK;
}
