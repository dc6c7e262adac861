// SPDX-License-Identifier: GPL-2.0
/*
 * mrc_verify.c - move data over one RC queue pair and check every byte.
 *
 *	mrc_verify [options]			server: one client, then it ends
 *	mrc_verify [options] SERVER		client; the server follows its options
 *
 * Messages are numbered from 0. Every byte of message m is a function of (seed,
 * m, offset), so a byte that is lost, stale, misplaced or from another message
 * is found. Message m is a WRITE, WRITE_IMM, SEND, READ or ATOMIC, in mode "mix"
 * by a hash of m that both ends compute.
 *
 * Window: at most -q messages are unverified. Slot m % q belongs to message m at
 * both ends until it is verified. After every q/2 messages the client sends a
 * notice (a WRITE_IMM of no bytes with the number of messages so far); nothing
 * before it may be missing when it completes at the server. The server checks the
 * WRITEs up to there and answers with a credit of the same kind. WRITE_IMM and
 * SEND are checked when they complete, and must complete in order. READ and
 * ATOMIC results are checked by the client when they complete; their landing
 * places are spoiled beforehand. Guards behind all slots must stay untouched.
 *
 * It ends with one line of key=value and status 0 only if nothing was wrong.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "verify.h"

struct result {
	uint64_t messages;
	uint64_t errors;
};

static struct vc_opts opts = { .gid_index = -1, .port = "18515" };
static uint64_t iterations = 1000;
static unsigned int seconds;
static unsigned int stall_s = 60;
static uint64_t rate;		/* messages a second, 0: as many as pass */
static bool use_events, use_inline, progress;
static volatile sig_atomic_t stop;

static struct vc_dev dev;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static int tcp;

static uint64_t max_gap_ns, last_wc_ns, began_ns;

/* Client: posted, completed here, credited by the server, told to the server. */
static uint64_t posted, completed, credited, noticed;
/* Server: next message that completes a receive; first not yet verified. */
static uint64_t rx_next, verified;
static bool last_seen;
static uint64_t total;
static unsigned int sends_out;	/* server: credits not yet completed */

void broken(const char *what)
{
	printf("mrc_verify: %s op=%s messages=%llu bytes=%llu errors=%llu FAIL: %s\n",
	       opts.server ? "client" : "server", op_names[plan.op],
	       (unsigned long long)(opts.server ? completed : verified),
	       (unsigned long long)bytes, (unsigned long long)errors + 1, what);
	exit(VC_EXIT_BAD);
}

/* -------------------------------------------------------------- completions */

static void count_gap(void)
{
	const uint64_t now = vc_now_ns();

	if (last_wc_ns && now - last_wc_ns > max_gap_ns)
		max_gap_ns = now - last_wc_ns;
	last_wc_ns = now;
}

/* Client: a message of ours completed. */
static void message_done(uint32_t low)
{
	const uint64_t m = completed;
	const enum op op = op_of(m);

	if (low != (uint32_t)m)
		oops("completion of message %u came, %u was next", low, (uint32_t)m);
	if (op == OP_READ) {
		/* Shorter READs of a longer source: a prefix of its pattern. */
		verify(read_slot(m), size_of(m), read_number(read_source(m)), "READ");
	} else if (op == OP_ATOMIC) {
		bytes += 8;
		if (*word(m) != word_old[m % plan.q])
			oops("ATOMIC message %llu returned %016llx, want %016llx",
			     (unsigned long long)m, (unsigned long long)*word(m),
			     (unsigned long long)word_old[m % plan.q]);
	} else {
		bytes += size_of(m);
	}
	completed++;
}

static void credit_came(uint32_t imm)
{
	credited += (imm - (uint32_t)credited) & IMM_MASK;
	if (credited > noticed) {
		oops("credit for %llu messages, %llu were announced",
		     (unsigned long long)credited, (unsigned long long)noticed);
		credited = noticed;
	}
}

/* Server: everything up to @count has been sent; WRITEs are checked now. */
static void notice_came(uint32_t imm)
{
	const uint64_t count = verified + ((imm - (uint32_t)verified) & IMM_MASK);
	uint64_t m;

	if (count - verified > plan.q) {
		oops("notice of %llu messages after %llu", (unsigned long long)count,
		     (unsigned long long)verified);
		broken("protocol");
	}
	if (rx_next > count)
		oops("message %llu has completed before the notice in front of it",
		     (unsigned long long)rx_next - 1);
	for (m = rx_next; m < count; m++)
		if (op_of(m) == OP_WRITE_IMM || op_of(m) == OP_SEND)
			oops("message %llu has not completed before the notice behind it",
			     (unsigned long long)m);
	rx_next = count;
	for (m = verified; m < count; m++)
		if (op_of(m) == OP_WRITE)
			verify(write_slot(m), size_of(m), m, "WRITE");
	verified = count;
	if (imm & IMM_LAST) {
		last_seen = true;
		total = count;
	}
	post_imm(IMM_NOTICE | (count & IMM_MASK));
	sends_out++;
}

/* Server: a WRITE_IMM or SEND, which must be the next of them. */
static void data_came(const struct ibv_wc *wc, uint32_t slot)
{
	const bool is_send = wc->opcode == IBV_WC_RECV;
	uint64_t m;

	for (m = rx_next; op_of(m) != OP_WRITE_IMM && op_of(m) != OP_SEND; m++)
		if (m - verified > plan.q)
			broken("a completion that no message explains");
	rx_next = m + 1;
	if ((op_of(m) == OP_SEND) != is_send) {
		oops("message %llu came as a %s", (unsigned long long)m,
		     is_send ? "SEND" : "WRITE_IMM");
		return;
	}
	if ((wc->wc_flags & IBV_WC_WITH_IMM) && (ntohl(wc->imm_data) ^ m) & IMM_MASK)
		oops("immediate data of message %llu is %08x", (unsigned long long)m,
		     ntohl(wc->imm_data));
	if (is_send && (m % 2 == 0) != !!(wc->wc_flags & IBV_WC_WITH_IMM))
		oops("message %llu: immediate data lost or invented", (unsigned long long)m);
	if (wc->byte_len != size_of(m))
		oops("message %llu has %u bytes, want %u", (unsigned long long)m, wc->byte_len,
		     size_of(m));
	verify(is_send ? recv_slot(slot) : write_slot(m), size_of(m), m,
	       is_send ? "SEND" : "WRITE_IMM");
}

static void handle(const struct ibv_wc *wc)
{
	const uint32_t low = (uint32_t)wc->wr_id;
	uint32_t imm;

	if (wc->status != IBV_WC_SUCCESS) {
		fprintf(stderr, "mrc_verify: completion of %s: %s\n",
			wc->wr_id >> 32 == WR_RECV ? "a receive" : "a send",
			ibv_wc_status_str(wc->status));
		broken("completion with error");
	}
	if (wc->qp_num != qp->qp_num)
		oops("completion of QP %u, ours is %u", wc->qp_num, qp->qp_num);
	switch (wc->wr_id >> 32) {
	case WR_MESSAGE:
		message_done(low);
		break;
	case WR_NOTICE:
		sends_out--;
		break;
	case WR_RECV:
		imm = wc->wc_flags & IBV_WC_WITH_IMM ? ntohl(wc->imm_data) : 0;
		if (wc->opcode != IBV_WC_RECV && wc->opcode != IBV_WC_RECV_RDMA_WITH_IMM)
			oops("receive completed with opcode %d", wc->opcode);
		if (!(imm & IMM_NOTICE))
			data_came(wc, low);
		post_receive(low);
		if (imm & IMM_NOTICE) {
			if (opts.server)
				credit_came(imm);
			else
				notice_came(imm);
		}
		break;
	default:
		oops("completion of a work request nobody posted: %llx",
		     (unsigned long long)wc->wr_id);
	}
}

static int poll_some(void)
{
	struct ibv_wc wc[32];
	int i, n;

	n = ibv_poll_cq(cq, 32, wc);
	if (n < 0)
		broken("ibv_poll_cq");
	if (n)
		count_gap();
	for (i = 0; i < n; i++)
		handle(&wc[i]);
	return n;
}

/* Seconds until the next message is due. Held up for a while, the client makes up for that as far as
 * the window allows.
 */
static double not_due(void)
{
	return rate ? (double)posted / rate - (vc_now_ns() - began_ns) / 1e9 : 0;
}

static int patience_ms(void)
{
	const double left = not_due();

	return left > 0 && left < 0.2 ? (int)(left * 1000) + 1 : 200;
}

/* Armed before the last poll: true when the event came within 200 ms, or until the next message is due. */
static bool wait_event(void)
{
	struct pollfd pfd[2] = {
		{ .fd = channel->fd, .events = POLLIN },
		{ .fd = tcp, .events = POLLRDHUP },
	};
	struct ibv_cq *ev_cq;
	void *ev_ctx;

	if (poll(pfd, 2, patience_ms()) <= 0 || !(pfd[0].revents & POLLIN))
		return false;
	if (ibv_get_cq_event(channel, &ev_cq, &ev_ctx))
		broken("ibv_get_cq_event");
	ibv_ack_cq_events(ev_cq, 1);
	if (ibv_req_notify_cq(cq, 0))
		broken("ibv_req_notify_cq");
	return true;
}

/* A completion was found without one; it may be on its way. */
static void expect_event(void)
{
	struct pollfd pfd = { .fd = channel->fd, .events = POLLIN };

	if (poll(&pfd, 1, 1000) <= 0)
		oops("a completion came without its event");
}

/* The kernel said so: nothing would complete any more, nor need the peer be heard. */
static bool device_gone(void)
{
	struct pollfd pfd = { .fd = dev.ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	while (poll(&pfd, 1, 0) > 0 && pfd.revents & POLLIN) {
		if (ibv_get_async_event(dev.ctx, &event))
			return true;
		ibv_ack_async_event(&event);
		if (event.event_type == IBV_EVENT_DEVICE_FATAL)
			return true;
	}
	return false;
}

/* The caller looks at its own condition again afterwards. */
static void progress_or_wait(void)
{
	static uint64_t idle_since, last_look;
	uint64_t now;

	if (poll_some()) {
		idle_since = 0;
		return;
	}
	if (use_events) {
		const bool event = wait_event();

		if (poll_some()) {
			idle_since = 0;
			if (!event)
				expect_event();
			return;
		}
	} else {
		sched_yield();
	}
	now = vc_now_ns();
	if (!idle_since)
		idle_since = now;
	if (now - idle_since > stall_s * 1000000000ull)
		broken("nothing completed for too long");
	if (now - last_look > 100000000ull) {
		last_look = now;
		if (device_gone())
			broken("the device is gone");
		if (now - idle_since > 1000000000ull && vc_peer_gone(tcp))
			broken("the peer is gone");
	}
}

/* ------------------------------------------------------------------- roles */

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static bool enough(uint64_t start)
{
	if (stop)
		return true;
	if (seconds)
		return vc_now_ns() - start >= seconds * 1000000000ull;
	return posted >= iterations;
}

static void show_progress(uint64_t start)
{
	static uint64_t next, before;
	const uint64_t now = vc_now_ns();

	if (!progress || now < next)
		return;
	if (next)
		printf("t=%.1f messages=%llu rate=%llu/s max_gap_ms=%.3f errors=%llu\n",
		       (now - start) / 1e9, (unsigned long long)completed,
		       (unsigned long long)(completed - before), max_gap_ns / 1e6,
		       (unsigned long long)errors);
	fflush(stdout);
	before = completed;
	next = now + 1000000000ull;
}

static void notice(bool last)
{
	noticed = posted;
	post_imm(IMM_NOTICE | (last ? IMM_LAST : 0) | (posted & IMM_MASK));
	sends_out++;
}

static void client(void)
{
	const uint64_t start = vc_now_ns();
	struct result theirs;
	uint64_t i, end;
	bool ended = false;
	double s;

	began_ns = start;
	last_wc_ns = start;
	for (;;) {
		if (!ended && enough(start)) {
			notice(true);
			ended = true;
		}
		if (!ended && posted - credited < plan.q && posted - completed < plan.q &&
		    not_due() <= 0) {
			post_message(posted++);
			if (posted % batch == 0)
				notice(false);
			if (posted % 4)
				continue;
		} else if (ended && completed == posted && credited == posted && !sends_out) {
			break;
		} else {
			progress_or_wait();
			show_progress(start);
			continue;
		}
		poll_some();
		show_progress(start);
	}
	end = vc_now_ns();

	for (i = 0; i < plan.q; i++)
		word_old[i] = htobe64(word_now[i]);
	if (!vc_send(tcp, word_old, plan.q * 8ull) || !vc_recv(tcp, &theirs, sizeof(theirs)))
		broken("the peer is gone");
	errors += be64toh(theirs.errors);
	if (be64toh(theirs.messages) != posted)
		oops("the server counted %llu messages, we %llu",
		     (unsigned long long)be64toh(theirs.messages), (unsigned long long)posted);
	s = (end - start) / 1e9;
	printf("mrc_verify: client op=%s size=%u messages=%llu bytes=%llu errors=%llu "
	       "seconds=%.3f gbps=%.3f max_gap_ms=%.3f %s\n",
	       op_names[plan.op], plan.size, (unsigned long long)posted,
	       (unsigned long long)bytes, (unsigned long long)errors, s,
	       s > 0 ? bytes * 8 / s / 1e9 : 0, max_gap_ns / 1e6, errors ? "FAIL" : "PASS");
}

static void server(void)
{
	const uint64_t start = vc_now_ns();
	struct result mine;
	uint64_t i, end;

	while (!last_seen || sends_out)
		progress_or_wait();
	end = vc_now_ns();

	if (!vc_recv(tcp, word_old, plan.q * 8ull))
		broken("the peer is gone");
	for (i = 0; i < plan.q; i++)
		if (*word(i) != be64toh(word_old[i]))
			oops("atomic word %llu is %016llx, want %016llx", (unsigned long long)i,
			     (unsigned long long)*word(i),
			     (unsigned long long)be64toh(word_old[i]));
	mine.messages = htobe64(total);
	mine.errors = htobe64(errors);
	if (!vc_send(tcp, &mine, sizeof(mine)))
		broken("the peer is gone");
	printf("mrc_verify: server op=%s size=%u messages=%llu bytes=%llu errors=%llu "
	       "seconds=%.3f max_gap_ms=%.3f %s\n",
	       op_names[plan.op], plan.size, (unsigned long long)total,
	       (unsigned long long)bytes, (unsigned long long)errors, (end - start) / 1e9,
	       max_gap_ns / 1e6, errors ? "FAIL" : "PASS");
}

static void set_up(void)
{
	struct ibv_qp_cap cap = { .max_send_sge = 1, .max_recv_sge = 1 };
	uint32_t i;

	vc_open(&dev, &opts);
	tcp = vc_tcp(&opts);
	if (opts.server ? !vc_send(tcp, &plan, sizeof(plan)) : !vc_recv(tcp, &plan, sizeof(plan)))
		vc_die("the peer is gone");
	if (plan.magic != PLAN_MAGIC || plan.op > OP_MIX || !plan.q || plan.q > 4096 ||
	    plan.size > 1u << 30 || plan.timeout > 31)
		vc_die("the peer speaks otherwise");
	dev.timeout = plan.timeout;
	set_up_memory(opts.server);

	if (use_events) {
		channel = ibv_create_comp_channel(dev.ctx);
		if (!channel)
			vc_die("ibv_create_comp_channel: %s", strerror(errno));
	}
	cq = ibv_create_cq(dev.ctx, 4 * (int)plan.q + 32, NULL, channel, 0);
	if (!cq)
		vc_die("ibv_create_cq: %s", strerror(errno));
	if (use_events && ibv_req_notify_cq(cq, 0))
		vc_die("ibv_req_notify_cq");
	mr = ibv_reg_mr(dev.pd, mem, mem_size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	if (!mr)
		vc_die("ibv_reg_mr of %zu bytes: %s", mem_size, strerror(errno));
	cap.max_send_wr = 2 * plan.q + 8;
	cap.max_recv_wr = n_recv;
	max_inline = use_inline ? 128 : 0;
	cap.max_inline_data = max_inline;
	qp = vc_qp(&dev, cq, &cap, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
		   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	for (i = 0; i < n_recv; i++)
		post_receive(i);
	if (!vc_connect(&dev, qp, tcp, (uintptr_t)mem, mr->rkey, &peer))
		vc_die("the peer is gone");
}

static void tear_down(void)
{
	int err = ibv_destroy_qp(qp);

	err = err ? err : ibv_destroy_cq(cq);
	err = err ? err : ibv_dereg_mr(mr);
	if (!err && channel)
		err = ibv_destroy_comp_channel(channel);
	if (err)
		oops("cleaning up: %s", strerror(err));
	vc_close(&dev);
	munmap(mem, mem_size);
	free(word_now);
	free(word_old);
	close(tcp);
}

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: mrc_verify [options] [SERVER]\n"
	      "  -d DEV     RDMA device (the first)\n"
	      "  -g INDEX   GID index (the first global RoCE v2 IPv6 one)\n"
	      "  -4         choose an IPv4 GID\n"
	      "  -p PORT    TCP port (18515)\n"
	      "  -m MTU     path MTU in bytes (the port's)\n"
	      "  -e         completion events instead of polling\n"
	      "  -T SECS    give up when nothing completes for so long (60)\n"
	      "client only:\n"
	      "  -o OP      write, write_imm, send, read, atomic, mix (write_imm)\n"
	      "  -s SIZE    bytes of a message (65536)\n"
	      "  -r         random sizes from 0 to SIZE\n"
	      "  -n N       messages (1000)\n"
	      "  -t SECS    run so long instead\n"
	      "  -q N       messages outstanding (16)\n"
	      "  -R N       messages a second, at most\n"
	      "  -i         inline data where it fits\n"
	      "  -u N       eight times 4.096 us << N (17) without an answer end it\n"
	      "  -S SEED    of the pattern and the mix (the time)\n"
	      "  -P         a line of progress every second\n"
	      "  -X N       spoil one bit of message N, which must be found\n", stderr);
	exit(VC_EXIT_USAGE);
}

static uint64_t number(const char *s, uint64_t max)
{
	char *end;
	unsigned long long v;

	errno = 0;
	v = strtoull(s, &end, 0);
	if (errno || end == s || *end || *s == '-' || v > max)
		usage();
	return v;
}

static enum op op_named(const char *s)
{
	int i;

	for (i = 0; i <= OP_MIX; i++)
		if (!strcmp(s, op_names[i]))
			return i;
	usage();
}

int main(int argc, char **argv)
{
	int c;

	plan.seed = vc_mix(vc_now_ns());
	while ((c = getopt(argc, argv, "d:g:4p:m:eT:u:o:s:rn:t:q:R:iS:PX:")) != -1) {
		switch (c) {
		case 'd': opts.dev = optarg; break;
		case 'g': opts.gid_index = (int)number(optarg, 65535); break;
		case '4': opts.want_v4 = true; break;
		case 'p': opts.port = optarg; break;
		case 'm': opts.mtu = (int)number(optarg, 4096); break;
		case 'e': use_events = true; break;
		case 'T': stall_s = number(optarg, 86400); break;
		case 'u': plan.timeout = number(optarg, 31); break;
		case 'o': plan.op = op_named(optarg); break;
		case 's': plan.size = number(optarg, 1u << 30); break;
		case 'r': plan.random_size = 1; break;
		case 'n': iterations = number(optarg, UINT64_MAX); break;
		case 't': seconds = number(optarg, 1000000); break;
		case 'q': plan.q = number(optarg, 4096); break;
		case 'R': rate = number(optarg, 1000000000); break;
		case 'i': use_inline = true; break;
		case 'S': plan.seed = number(optarg, UINT64_MAX); break;
		case 'P': progress = true; break;
		case 'X': spoiled = number(optarg, UINT64_MAX - 1); break;
		default: usage();
		}
	}
	if (optind < argc)
		opts.server = argv[optind++];
	if (optind < argc || !plan.q)
		usage();
	signal(SIGINT, on_signal);

	set_up();
	if (opts.server)
		client();
	else
		server();
	tear_down();
	return errors ? VC_EXIT_BAD : VC_EXIT_OK;
}
