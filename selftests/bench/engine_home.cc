// SPDX-License-Identifier: GPL-2.0
// engine_home.cc - packets of one QP arrive on several CPUs: where is the work done? Two threads play the CPUs of
// two hosts with the engine, the module's locks and 4 KiB of payload a packet, summed and copied.
//
//   arrival   where the packet arrives, under the QP's lock; the sum before it is taken (what the module does)
//   home      summed where it arrives, then handed to the QP's CPU, which has the lock to itself
//   all home  handed over at once
//
// A sender's turns are on its CPU in all three, a receiver's where a packet arrived, unless it is handed over
// (data/mrc_bh.c). The EV says where a packet arrives, as a NIC's hash does, so each QP's packets come by both.
// The CPUs ask for work all the time. With --interrupt NS, what is handed over while nothing else is costs the one that
// hands and the one that takes so long each: a CPU that sleeps or is in a program has to be interrupted, which
// costs a microsecond or two; one that is in softirq has not, so the truth lies between 0 and that.
//
// The three take turns of a few milliseconds, each thread bound to a processor; a turn in which one of them had
// not its processor for itself is done again: on a busy machine run it as below. Locks waited for are QPs'. Payload is
// --kib of all QPs at each end: what fits into caches is found there, if the same CPU had it last.
//
//	[chrt -f 2] engine_home [--ms N] [--rounds N] [--kib N] [--interrupt NS]
#include "engine_pair.h"
#include "spin.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <span>
#include <thread>

namespace {

using namespace bench;

constexpr u32 cpus = 2, message = 16, posted = 4; // packets of a WRITE, WRITEs at a time

struct options {
    u32 ms = 20, rounds = 40, kib = 1024, interrupt = 0;
} opt;

enum class way { arrival, home, all_home };
constexpr const char *way_names[] = {"arrival", "home", "all home"};

u64 clock_ns()
{
    return static_cast<u64>(std::chrono::steady_clock::now().time_since_epoch().count());
}

u64 thread_ns()
{
    timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<u64>(t.tv_sec) * 1000000000 + static_cast<u64>(t.tv_nsec);
}

// To the @i'th of the processors that we may use; below who stops us.
void bind(u32 i)
{
    const sched_param low = {.sched_priority = 1};
    cpu_set_t may, one;
    int at = -1;

    sched_getaffinity(0, sizeof(may), &may);
    for (u32 k = 0; k <= i; k++)
        do
            need(++at < CPU_SETSIZE, "two processors are wanted");
        while (!CPU_ISSET(at, &may));
    CPU_ZERO(&one);
    CPU_SET(at, &one);
    sched_setaffinity(0, sizeof(one), &one);
    if (sched_getscheduler(0) == SCHED_FIFO)
        sched_setscheduler(0, SCHED_FIFO, &low);
}

// As long as carry-less multiplication takes for an ICRC, about.
u64 summed(const u8 *p)
{
    u64 sum[4] = {}, v[4];

    for (u32 i = 0; i < mtu; i += sizeof(v)) {
        std::memcpy(v, p + i, sizeof(v));
        for (u32 k = 0; k < 4; k++)
            sum[k] = (sum[k] ^ v[k]) * 0x9e3779b97f4a7c15u;
    }
    return sum[0] ^ sum[1] ^ sum[2] ^ sum[3];
}

// From one CPU to another.
template <class T, u32 size> class ring {
public:
    bool put(const T &t)
    {
        u32 at = tail_.load(std::memory_order_relaxed);

        if (at - head_.load(std::memory_order_acquire) == size)
            return false;
        slot_[at % size] = t;
        tail_.store(at + 1, std::memory_order_release);
        return true;
    }
    bool take(T &t)
    {
        u32 at = head_.load(std::memory_order_relaxed);

        if (at == tail_.load(std::memory_order_acquire))
            return false;
        t = slot_[at % size];
        head_.store(at + 1, std::memory_order_release);
        return true;
    }
    bool empty() const
    {
        return tail_.load(std::memory_order_relaxed) == head_.load(std::memory_order_relaxed);
    }

private:
    alignas(64) std::atomic<u32> head_ = 0;
    alignas(64) std::atomic<u32> tail_ = 0;
    std::vector<T> slot_ = std::vector<T>(size);
};

struct qp {
    end e;
    spin lock;
    spin *host = nullptr;    // peer->path_lock
    qp *peer = nullptr;
    u32 home = 0;
    bool sends = false;
    std::atomic<bool> queued = false;
    std::span<u8> memory;    // whole packets
};

struct packet {
    mrc_pkt hdr;
    qp *to;
    u32 len;
    u64 sum;
    bool interrupts;
};

void spend(u32 ns)
{
    for (u64 end = clock_ns() + ns; ns && clock_ns() < end;)
        ;
}

// What lies between the CPUs: the network, packets handed over, QPs that have news.
struct between {
    ring<packet, 8192> net, handed;
    ring<qp *, 1024> kicks;
};
using mesh = std::array<std::array<between, cpus>, cpus>; // from, to

struct counts {
    u64 packets = 0, waited = 0, taken = 0, lost = 0, wrong = 0;
    double own = 1;          // part of the time for which a thread had its processor
};

class cpu {
public:
    cpu(u32 me, way w, mesh &m, std::vector<std::unique_ptr<qp>> &all) : me_(me), way_(w), m_(m), all_(all) {}
    void run(const std::atomic<bool> &stop)
    {
        bind(me_);
        u64 wall = clock_ns(), had = thread_ns();
        while (!stop) {
            arrivals();
            turns();
            timers();
        }
        n.own = static_cast<double>(thread_ns() - had) / static_cast<double>(clock_ns() - wall);
    }
    counts n;

private:
    // The payload of PSN @psn, at either end.
    static u8 *payload(qp &q, u32 psn) { return q.memory.data() + psn % (q.memory.size() / mtu) * mtu; }

    void kick(qp &q)
    {
        u32 at = way_ == way::arrival && !q.sends ? me_ : q.home;

        if (!q.queued.exchange(true) && !m_[me_][at].kicks.put(&q))
            q.queued = false;
    }
    // No QP's time goes back.
    void lock(qp &q)
    {
        n.taken++;
        n.waited += q.lock.take();
        now_ = clock_ns();
    }
    template <class F> auto shared(qp &q, bool shares, F call)
    {
        if (!shares)
            return call();
        q.host->take();
        auto got = call();
        q.host->drop();
        return got;
    }
    void check(const packet &p)
    {
        if (p.len)
            n.wrong += summed(payload(*p.to->peer, p.hdr.psn)) != p.sum;
    }
    void deliver(const packet &p)
    {
        qp &q = *p.to;
        mrc_rxop op;

        lock(q);
        bool shares = mrc_conn_rx_shares(&q.e.c, &p.hdr);
        if (shared(q, shares, [&] { return mrc_conn_rx_begin(&q.e.c, &p.hdr, now_, &op); }) == MRC_V_PLACE) {
            std::memcpy(payload(q, p.hdr.psn), payload(*q.peer, p.hdr.psn), mtu);
            shared(q, shares, [&] { return mrc_conn_rx_commit(&q.e.c, &op, now_), true; });
            n.packets++;
        }
        q.lock.drop();
        kick(q);
    }
    void hand_over(packet p)
    {
        auto &to = m_[me_][p.to->home].handed;

        p.interrupts = to.empty();
        if (p.interrupts)
            spend(opt.interrupt);
        if (!to.put(p))
            n.lost++;
    }
    void arrives(const packet &p)
    {
        bool away = way_ != way::arrival && p.to->home != me_;

        if (!away || way_ == way::home)
            check(p);
        if (away)
            hand_over(p);
        else
            deliver(p);
    }
    void arrivals()
    {
        packet p;

        for (u32 from = 0; from < cpus; from++) {
            for (u32 k = 0; k < 64 && m_[from][me_].net.take(p); k++)
                arrives(p);
            for (u32 k = 0; k < 64 && m_[from][me_].handed.take(p); k++) {
                if (p.interrupts)
                    spend(opt.interrupt);
                if (way_ == way::all_home)
                    check(p);
                deliver(p);
            }
        }
    }
    void todo(qp &q)
    {
        mrc_todo ev;

        while (shared(q, mrc_conn_next_fails(&q.e.c), [&] { return mrc_conn_next(&q.e.c, &ev); }))
            ;
    }
    void post(qp &q)
    {
        mrc_wr wr = {};

        wr.op = MRC_OP_WRITE;
        wr.len = message * mtu;
        while (q.sends && q.e.c.msgs.sq_tail - q.e.c.msgs.sq_head < posted)
            need(!mrc_conn_post(&q.e.c, &wr, now_), "post");
    }
    void turn(qp &q)
    {
        mrc_txop op[32];
        u32 k = 0;

        lock(q);
        shared(q, true, [&] { return mrc_conn_timer(&q.e.c, now_), true; });
        todo(q);
        post(q);
        while (k < 32 && shared(q, true, [&] { return mrc_conn_tx_next(&q.e.c, now_, &op[k]); }))
            build(op[k++]);
        todo(q);
        q.lock.drop();
        if (k == 32)
            kick(q);
        for (u32 i = 0; i < k; i++)
            send(q, op[i]);
    }
    // The memory of a packet's headers, as the module makes it under the QP's lock.
    void build(const mrc_txop &op)
    {
        auto *head = static_cast<u8 *>(std::malloc(512));

        std::memset(head, 0, 192);
        std::memcpy(head + 192, &op.hdr, sizeof(op.hdr));
        asm volatile("" : : "r"(head) : "memory");
        std::free(head);
    }
    void send(qp &q, mrc_txop &op)
    {
        packet p = {op.hdr, q.peer, op.len, op.len ? summed(payload(q, op.hdr.psn)) : 0, false};

        p.hdr.udp_len = static_cast<u16>(op.len + 48);
        p.hdr.payload_len = static_cast<u16>(op.len);
        if (!m_[me_][p.hdr.ev * 2654435761u >> 31].net.put(p))
            n.lost++;
    }
    void turns()
    {
        qp *q;

        for (u32 from = 0; from < cpus; from++)
            for (u32 k = 0; k < 64 && m_[from][me_].kicks.take(q); k++) {
                q->queued = false;
                turn(*q);
            }
    }
    void timers()
    {
        if (clock_ns() < due_)
            return;
        due_ = clock_ns() + 1000000;
        for (auto &q : all_)
            if (q->home == me_)
                kick(*q);
    }

    u32 me_;
    way way_;
    u64 now_ = 0, due_ = 0;
    mesh &m_;
    std::vector<std::unique_ptr<qp>> &all_;
};

constexpr shape flow = {128, 4, 8, 1, 4};

counts measure(u32 pairs, way w)
{
    static std::vector<u8> memory(2 * std::max(opt.kib * 1024, 64 * mtu), 1);
    size_t each = std::max(opt.kib * 1024 / pairs / mtu, 1u) * mtu;
    paths pa(flow), pb(flow);
    spin ha, hb;
    auto m = std::make_unique<mesh>();
    std::vector<std::unique_ptr<qp>> all;
    std::vector<std::unique_ptr<cpu>> cores;
    std::vector<std::thread> threads;
    std::atomic<bool> stop = false;
    counts sum;

    for (u32 i = 0; i < 2 * pairs; i++) {
        auto q = std::make_unique<qp>();

        q->sends = i % 2 == 0;
        q->memory = std::span(memory).subspan(i * each, each);
        q->home = (i / 2 + i) % cpus;
        q->host = q->sends ? &ha : &hb;
        q->e.init(flow, q->sends ? pa : pb, i + 1, clock_ns());
        if (!q->sends) {
            q->peer = all.back().get();
            q->peer->peer = q.get();
        }
        all.push_back(std::move(q));
    }
    for (u32 i = 0; i < cpus; i++)
        cores.push_back(std::make_unique<cpu>(i, w, *m, all));
    for (auto &c : cores)
        threads.emplace_back([&] { c->run(stop); });
    std::this_thread::sleep_for(std::chrono::milliseconds(opt.ms));
    stop = true;
    for (auto &t : threads)
        t.join();
    for (auto &c : cores) {
        sum.packets += c->n.packets;
        sum.taken += c->n.taken;
        sum.waited += c->n.waited;
        sum.lost += c->n.lost;
        sum.wrong += c->n.wrong;
        sum.own = std::min(sum.own, c->n.own);
    }
    return sum;
}

// Until both threads had their processors.
counts measure_alone(u32 pairs, way w)
{
    for (u32 tries = 0; tries < 200; tries++) {
        counts n = measure(pairs, w);

        if (n.own > 0.97)
            return n;
    }
    need(false, "this machine has no two processors to spare");
    return {};
}

double at(std::vector<double> v, double part)
{
    std::sort(v.begin(), v.end());
    return v[static_cast<size_t>(part * static_cast<double>(v.size() - 1))];
}

struct row {
    std::vector<double> rate, times;
    counts sum;

    void add(const counts &n, const row &beside)
    {
        rate.push_back(static_cast<double>(n.packets) / opt.ms);
        times.push_back(rate.back() / beside.rate.back());
        sum.taken += n.taken;
        sum.waited += n.waited;
        sum.lost += n.lost;
        sum.wrong += n.wrong;
    }
    void print(u32 qps, way w) const
    {
        std::printf("%3u  %-9s %12.0f %12.2f (%.2f - %.2f) %17.2f %% %8llu %5llu\n", qps,
                    way_names[static_cast<size_t>(w)], at(rate, 0.5), at(times, 0.5), at(times, 0.25),
                    at(times, 0.75), 100 * static_cast<double>(sum.waited) / static_cast<double>(sum.taken),
                    static_cast<unsigned long long>(sum.lost), static_cast<unsigned long long>(sum.wrong));
    }
};

} // namespace

int main(int argc, char **argv)
{
    constexpr way ways[] = {way::arrival, way::home, way::all_home};
    const std::pair<const char *, u32 &> names[] = {
        {"--ms", opt.ms}, {"--rounds", opt.rounds}, {"--kib", opt.kib}, {"--interrupt", opt.interrupt}};

    for (int i = 1; i + 1 < argc; i += 2)
        for (auto &[name, value] : names)
            if (!std::strcmp(argv[i], name))
                value = static_cast<u32>(std::atoi(argv[i + 1]));
    std::printf("QPs  way        packets a ms   times arrival (quartiles)   locks waited for   lost  wrong\n");
    for (u32 qps : {1u, 4u, 16u, 64u}) {
        row rows[3];

        for (u32 r = 0; r < opt.rounds; r++)
            for (way w : ways)
                rows[static_cast<size_t>(w)].add(measure_alone(qps, w), rows[0]);
        for (way w : ways)
            rows[static_cast<size_t>(w)].print(qps, w);
    }
    return 0;
}
