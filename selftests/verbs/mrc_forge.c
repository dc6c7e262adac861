// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_forge.c - packets that nobody should send, at random: to QP 0, 1, 2 and those of programs.
 *
 *	mrc_forge -t SECS -s SEED -d ADDRESS -f ADDRESS [-q QPN] [-x QPN]...
 *
 * Over IPv6, to UDP port 4791 of -d, as if from -f, from a raw socket: management datagrams of connection managers
 * whole, damaged, cut short and too long; datagrams to anybody; packets of MRC and any others.
 * ICRC and checksum are right mostly, so that what is behind them is reached. -q: where QPNs
 * of the victim begin; -x: a QPN that only strangers write to. Prints how many it sent.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <getopt.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "vcommon.h"
#include "mrc_crc.h"

#define PORT		4791
#define BTH		12
#define DETH		8
#define MAD		256
#define BODY_MAX	4400
#define BURST		32
#define PAUSE_US	2000
#define MAX_SPARED	16

static struct in6_addr to, from;
static uint64_t state, sent;
static uint32_t base_qpn = 16, spared[MAX_SPARED];
static int n_spared;

static uint64_t draw(uint64_t below)
{
	return vc_mix(++state) % below;
}

static bool once_in(uint64_t n)
{
	return !draw(n);
}

static void put32(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, 4);
}

/* IBTA A17.3.3: what routers may change is read as ones. */
static uint32_t icrc(const struct ip6_hdr *ip, const struct udphdr *udp, const uint8_t *body, size_t len)
{
	static const uint8_t ones[8] = { [0 ... 7] = 0xff };
	struct ip6_hdr i = *ip;
	struct udphdr u = *udp;
	uint8_t head[BTH];
	uint32_t c;

	i.ip6_flow |= htobe32(0x0fffffff);
	i.ip6_hlim = 0xff;
	u.check = 0xffff;
	memcpy(head, body, BTH);
	head[4] = 0xff;
	c = crc(~0u, ones, 8);
	c = crc(c, (const uint8_t *)&i, sizeof(i));
	c = crc(c, (const uint8_t *)&u, sizeof(u));
	c = crc(c, head, BTH);
	return ~crc(c, body + BTH, len - BTH);
}

static uint16_t checksum(const struct ip6_hdr *ip, const uint8_t *udp, size_t len)
{
	const uint8_t *a = (const uint8_t *)&ip->ip6_src;
	uint32_t sum = (uint32_t)len + IPPROTO_UDP;
	size_t i;

	for (i = 0; i < 32; i += 2)
		sum += (uint32_t)a[i] << 8 | a[i + 1];
	for (i = 0; i < len; i += 2)
		sum += (uint32_t)udp[i] << 8 | (i + 1 < len ? udp[i + 1] : 0);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)(~sum ? ~sum : 0xffff);
}

/* ---- what is in a packet; each returns its length from BTH on */

static uint32_t a_qpn(void)
{
	switch (draw(8)) {
	case 0: return 0;
	case 1: return 1;
	case 2: return 2;
	case 3: return (uint32_t)draw(1 << 24);
	case 4: return n_spared ? spared[draw((uint64_t)n_spared)] : 3;
	default: return (base_qpn + (uint32_t)draw(2048) - 64) & 0xffffff;
	}
}

static void put_bth(uint8_t *b, uint8_t opcode, uint32_t qpn)
{
	b[0] = opcode;
	b[1] = once_in(12) ? (uint8_t)draw(256) : (uint8_t)(draw(2) << 7 | 0x40);
	b[2] = b[3] = 0xff;
	if (once_in(30))
		b[2] = (uint8_t)draw(256);
	put32(b + 4, qpn);
	put32(b + 8, (uint32_t)draw(1ull << (once_in(2) ? 24 : 32)));
}

static void put_deth(uint8_t *b, uint32_t qkey, uint32_t qpn)
{
	put32(b, qkey);
	put32(b + 4, qpn);
	if (once_in(3))
		b[4] = 0x4d;	/* "speaks MRC" */
}

/* A MAD of the class of connection managers, any of its messages. */
static void put_mad(uint8_t *m)
{
	size_t i, n = draw(12);

	for (i = 0; i < MAD; i++)
		m[i] = once_in(3) ? (uint8_t)draw(256) : 0;
	m[0] = 1;
	m[1] = once_in(6) ? (uint8_t)draw(256) : 7;
	m[2] = 2;
	m[3] = once_in(6) ? (uint8_t)draw(256) : 3;
	m[4] = m[5] = 0;
	m[16] = 0;
	m[17] = (uint8_t)(0x10 + draw(16));
	memset(m + 18, 0, 6);
	if (once_in(2)) {	/* a request's path: this host and that */
		memcpy(m + 24 + 56, &from, 16);
		memcpy(m + 24 + 72, &to, 16);
	}
	while (n--)
		m[24 + draw(MAD - 24)] = (uint8_t)draw(256);
}

static size_t cm_packet(uint8_t *b)
{
	put_bth(b, 0x64, 1);
	put_deth(b + BTH, 0x80010000, 1);
	put_mad(b + BTH + DETH);
	if (once_in(4))
		return BTH + DETH + draw(MAD + 200) / 4 * 4;
	return BTH + DETH + MAD;
}

static size_t ud_packet(uint8_t *b)
{
	const bool imm = once_in(2);

	put_bth(b, imm ? 0x65 : 0x64, a_qpn());
	put_deth(b + BTH, once_in(2) ? 0x11111111 : (uint32_t)draw(1ull << 32), a_qpn());
	return BTH + DETH + (imm ? 4 : 0) + draw(once_in(8) ? 4300 : 300);
}

static size_t mrc_packet(uint8_t *b)
{
	put_bth(b, (uint8_t)(0xc0 + draw(0x40)), a_qpn());
	return BTH + draw(once_in(4) ? 1500 : 100) / 4 * 4;
}

static size_t any_packet(uint8_t *b)
{
	put_bth(b, (uint8_t)draw(256), a_qpn());
	return BTH + draw(200);
}

static bool is_spared(const uint8_t *b)
{
	uint32_t qpn;
	int i;

	memcpy(&qpn, b + 4, 4);
	qpn = be32toh(qpn) & 0xffffff;
	for (i = 0; i < n_spared; i++)
		if (spared[i] == qpn)
			return true;
	return false;
}

static void send_one(int s)
{
	static size_t (* const makers[])(uint8_t *) = {
		cm_packet, cm_packet, ud_packet, mrc_packet, any_packet,
	};
	static uint8_t packet[sizeof(struct ip6_hdr) + sizeof(struct udphdr) + BODY_MAX + 64];
	struct ip6_hdr *ip = (struct ip6_hdr *)packet;
	struct udphdr *udp = (struct udphdr *)(ip + 1);
	uint8_t *body = (uint8_t *)(udp + 1);
	struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_addr = to };
	size_t i, len;
	bool stranger;
	uint32_t c;

	for (i = 0; i < 512; i++)
		body[i] = (uint8_t)draw(256);
	len = makers[draw(5)](body);
	stranger = once_in(16) || is_spared(body);
	*ip = (struct ip6_hdr){ .ip6_src = from, .ip6_dst = to };
	ip->ip6_flow = htobe32(6u << 28 | (uint32_t)draw(1 << 20));
	ip->ip6_plen = htobe16((uint16_t)(sizeof(*udp) + len + 4));
	ip->ip6_nxt = IPPROTO_UDP;
	ip->ip6_hlim = 64;
	if (stranger)
		ip->ip6_src.s6_addr[15] ^= 0x40;
	*udp = (struct udphdr){ .source = htobe16((uint16_t)(0xc000 | draw(0x4000))), .dest = htobe16(PORT) };
	udp->len = ip->ip6_plen;
	c = icrc(ip, udp, body, len) ^ (once_in(20) ? 1u << draw(32) : 0);
	c = htole32(c);
	memcpy(body + len, &c, 4);
	if (once_in(30))
		udp->len = htobe16((uint16_t)draw(1 << 16));
	udp->check = htobe16(checksum(ip, (const uint8_t *)udp, sizeof(*udp) + len + 4));
	if (sendto(s, packet, sizeof(*ip) + sizeof(*udp) + len + 4, 0, (const struct sockaddr *)&a, sizeof(a)) > 0)
		sent++;
}

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: mrc_forge -t SECS -s SEED -d ADDRESS -f ADDRESS [-q QPN] [-x QPN]...\n", stderr);
	exit(VC_EXIT_USAGE);
}

int main(int argc, char **argv)
{
	uint64_t end, seconds = 10;
	int i, o, s;

	while ((o = getopt(argc, argv, "t:s:d:f:q:x:")) != -1) {
		switch (o) {
		case 't': seconds = strtoull(optarg, NULL, 0); break;
		case 's': state = strtoull(optarg, NULL, 0); break;
		case 'd': if (inet_pton(AF_INET6, optarg, &to) != 1) usage(); break;
		case 'f': if (inet_pton(AF_INET6, optarg, &from) != 1) usage(); break;
		case 'q': base_qpn = (uint32_t)strtoul(optarg, NULL, 0); break;
		case 'x':
			if (n_spared == MAX_SPARED)
				usage();
			spared[n_spared++] = (uint32_t)strtoul(optarg, NULL, 0);
			break;
		default: usage();
		}
	}
	if (optind < argc)
		usage();
	printf("seed %llu\n", (unsigned long long)state);
	s = socket(AF_INET6, SOCK_RAW, IPPROTO_RAW);
	if (s < 0)
		vc_die("raw socket: needs root");
	for (end = vc_now_ns() + seconds * 1000000000ull; vc_now_ns() < end; usleep(PAUSE_US))
		for (i = 0; i < BURST; i++)
			send_one(s);
	printf("sent=%llu\n", (unsigned long long)sent);
	close(s);
	return sent ? VC_EXIT_OK : VC_EXIT_BAD;
}
