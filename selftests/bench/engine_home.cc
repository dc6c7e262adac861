// SPDX-License-Identifier: GPL-2.0
// engine_home.cc - packets of one QP arrive on several CPUs: where is the work done? Two threads play the CPUs of
// two hosts with the engine, the module's locks and 4 KiB of payload a packet, summed and copied.
//
//   arrival   where the packet arrives, under the QP's lock; the sum before it is taken (what the module does)
//   home      summed where it arrives, then handed to the QP's CPU, which has the lock to itself
//   all home  handed over at once
//
// A QP's turns, which send, are on its CPU in all three (data/mrc_bh.c). The EV says where a packet arrives, as a
// NIC's hash does, so each QP's packets come by both.
//
//	engine_home [--ms N] [--rounds N]
#include "engine_pair.h"
#include "spin.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

namespace {

using namespace bench;

constexpr u32 cpus = 2, message = 16, posted = 2; // packets of a WRITE, WRITEs at a time
enum class way { arrival, home, all_home };
constexpr const char *way_names[] = {"arrival", "home", "all home"};

u64 clock_ns()
{
    return static_cast<u64>(std::chrono::steady_clock::now().time_since_epoch().count());
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
    std::vector<u8> memory = std::vector<u8>(message * mtu);
};

struct packet {
    mrc_pkt hdr;
    qp *to;
    u32 len;
    u64 sum;
};

// What lies between the CPUs: the network, packets handed over, QPs that have news.
struct between {
    ring<packet, 8192> net, handed;
    ring<qp *, 1024> kicks;
};
using mesh = std::array<std::array<between, cpus>, cpus>; // from, to

struct counts {
    u64 packets = 0, waited = 0, taken = 0, lost = 0, wrong = 0;
};

class cpu {
public:
    cpu(u32 me, way w, mesh &m, std::vector<std::unique_ptr<qp>> &all) : me_(me), way_(w), m_(m), all_(all) {}
    void run(const std::atomic<bool> &stop)
    {
        while (!stop) {
            arrivals();
            turns();
            timers();
        }
    }
    counts n;

private:
    // The payload of PSN @psn, at either end.
    static u8 *payload(qp &q, u32 psn) { return q.memory.data() + psn % message * mtu; }

    void kick(qp &q)
    {
        if (!q.queued.exchange(true) && !m_[me_][q.home].kicks.put(&q))
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
        bool shares = mrc_conn_rx_shares(&p.hdr);
        mrc_rxop op;

        lock(q);
        if (shared(q, shares, [&] { return mrc_conn_rx_begin(&q.e.c, &p.hdr, now_, &op); }) == MRC_V_PLACE) {
            std::memcpy(payload(q, p.hdr.psn), payload(*q.peer, p.hdr.psn), mtu);
            shared(q, shares, [&] { return mrc_conn_rx_commit(&q.e.c, &op, now_), true; });
            n.packets++;
        }
        q.lock.drop();
        kick(q);
    }
    void arrives(const packet &p)
    {
        bool away = way_ != way::arrival && p.to->home != me_;

        if (!away || way_ == way::home)
            check(p);
        if (!away)
            deliver(p);
        else if (!m_[me_][p.to->home].handed.put(p))
            n.lost++;
    }
    void arrivals()
    {
        packet p;

        for (u32 from = 0; from < cpus; from++) {
            for (u32 k = 0; k < 64 && m_[from][me_].net.take(p); k++)
                arrives(p);
            for (u32 k = 0; k < 64 && m_[from][me_].handed.take(p); k++) {
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
            k++;
        todo(q);
        q.lock.drop();
        if (k == 32)
            kick(q);
        for (u32 i = 0; i < k; i++)
            send(q, op[i]);
    }
    void send(qp &q, mrc_txop &op)
    {
        packet p = {op.hdr, q.peer, op.len, op.len ? summed(payload(q, op.hdr.psn)) : 0};

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

counts measure(u32 pairs, way w, u32 ms)
{
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
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    stop = true;
    for (auto &t : threads)
        t.join();
    for (auto &c : cores) {
        sum.packets += c->n.packets;
        sum.taken += c->n.taken;
        sum.waited += c->n.waited;
        sum.lost += c->n.lost;
        sum.wrong += c->n.wrong;
    }
    return sum;
}

double median(std::vector<double> v)
{
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

} // namespace

int main(int argc, char **argv)
{
    u32 ms = 300, rounds = 5;

    for (int i = 1; i + 1 < argc; i += 2)
        (std::strcmp(argv[i], "--ms") ? rounds : ms) = static_cast<u32>(std::atoi(argv[i + 1]));
    std::printf("QPs  way        packets a ms   times arrival (least - most)   locks waited for   lost  wrong\n");
    for (u32 qps : {1u, 4u, 16u, 64u}) {
        std::vector<double> rate[3], times[3];
        counts last[3];

        for (u32 r = 0; r < rounds; r++)
            for (way w : {way::arrival, way::home, way::all_home}) {
                auto i = static_cast<size_t>(w);

                last[i] = measure(qps, w, ms);
                rate[i].push_back(static_cast<double>(last[i].packets) / ms);
                times[i].push_back(rate[i].back() / rate[0].back());
            }
        for (size_t i = 0; i < 3; i++)
            std::printf("%3u  %-9s %12.0f %12.2f (%.2f - %.2f) %17.2f %% %8llu %5llu\n", qps, way_names[i],
                        median(rate[i]), median(times[i]), *std::min_element(times[i].begin(), times[i].end()),
                        *std::max_element(times[i].begin(), times[i].end()),
                        100 * static_cast<double>(last[i].waited) / static_cast<double>(last[i].taken),
                        static_cast<unsigned long long>(last[i].lost),
                        static_cast<unsigned long long>(last[i].wrong));
    }
    return 0;
}
