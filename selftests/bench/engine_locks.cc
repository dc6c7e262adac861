// SPDX-License-Identifier: GPL-2.0
// engine_locks.cc - what QPs of one host to another cost each other on two CPUs: engine, and around it
// the lock that its QPs share (peer->path_lock, Documentation/developer/locking.md), on one thread and on two.
//
// "every call": it is taken around each call that a packet makes, as the module did; "shared": where the
// engine says that the call touches what is shared, as it does. A QP is one thread's, so the QPs' own locks,
// which nobody else would want, are left out. 4 KiB are copied at each end.
//
//	engine_locks [--ms N]
#include "engine_pair.h"
#include "spin.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace {

using namespace bench;

struct counts {
    u64 packets = 0, taken = 0, waited = 0;
};

struct hosts {
    spin a, b;
};

// One CPU: its QPs take turns.
class cpu {
public:
    cpu(hosts &h, u32 qps, bool every, const shape &s, paths &a, paths &b)
        : h_(h), every_(every), turns_(s.turns)
    {
        for (u32 i = 0; i < qps; i++) {
            pairs_.push_back(std::make_unique<pair>());
            pairs_.back()->a.init(s, a, i + 1, now_);
            pairs_.back()->b.init(s, b, ~i, now_);
        }
    }
    void run(const std::atomic<bool> &stop)
    {
        while (!stop)
            for (auto &p : pairs_)
                turn(*p);
    }
    counts n;

private:
    // @call, under the host's lock if it is wanted.
    template <class F> auto in(spin &host, bool shares, F call)
    {
        if (!shares && !every_)
            return call();
        n.taken++;
        n.waited += host.take();
        auto got = call();
        host.drop();
        return got;
    }
    // Packets for @op, @max at most; as the module's turn, which takes the lock for each batch.
    u32 next(spin &host, end &e, mrc_txop *op, u32 max)
    {
        u32 n = 0;
        bool more = true;

        while (more && n < max)
            n += in(host, true, [&] {
                u32 want = every_ ? 1u : std::min(max - n, 8u);

                return mrc_conn_tx_batch(&e.c, now_, op + n, want, &more);
            });
        return n;
    }
    void todo(spin &host, end &e)
    {
        mrc_todo ev;

        while (in(host, mrc_conn_next_fails(&e.c), [&] { return mrc_conn_next(&e.c, &ev); }))
            ;
    }
    void timer(spin &host, end &e)
    {
        in(host, true, [&] { return mrc_conn_timer(&e.c, now_), true; });
    }
    void arrives(spin &host, end &e, const mrc_pkt &p)
    {
        bool shares = mrc_conn_rx_shares(&e.c, &p);
        mrc_rxop op;

        if (in(host, shares, [&] { return mrc_conn_rx_begin(&e.c, &p, now_, &op); }) != MRC_V_PLACE)
            return;
        std::memcpy(there_, here_, mtu);
        in(host, shares, [&] { return mrc_conn_rx_commit(&e.c, &op, now_), true; });
        n.packets++;
    }
    // A turn of one end; what it sends goes to the other at once.
    void speak(spin &own, end &e, spin &theirs, end &other)
    {
        mrc_txop op[32];
        u32 k, i;

        timer(own, e);
        todo(own, e);
        k = next(own, e, op, 32);
        for (i = 0; i < k; i++) {
            if (op[i].len)
                std::memcpy(here_, there_, mtu);
            op[i].hdr.udp_len = static_cast<u16>(op[i].len + 48);
        }
        todo(own, e);
        now_ += 3000;
        for (i = 0; i < k; i++)
            arrives(theirs, other, op[i].hdr);
    }
    void turn(pair &p)
    {
        mrc_wr wr = {};

        wr.op = MRC_OP_WRITE;
        wr.len = turns_ * burst * mtu;
        need(!mrc_conn_post(&p.a.c, &wr, now_), "post");
        while (p.a.c.msgs.sq_head != p.a.c.msgs.sq_tail) {
            speak(h_.a, p.a, h_.b, p.b);
            speak(h_.b, p.b, h_.a, p.a);
            now_ += 7000;
            todo(h_.a, p.a);
        }
    }

    hosts &h_;
    bool every_;
    u32 turns_;
    u64 now_ = 1000000000;
    u8 here_[mtu] = {}, there_[mtu] = {};
    std::vector<std::unique_ptr<pair>> pairs_;
};

constexpr shape flow = {128, 4, 8, 1, 4};

counts measure(u32 cpus, u32 qps, bool every, u32 ms)
{
    paths a(flow), b(flow);
    hosts h;
    std::atomic<bool> stop = false;
    std::vector<std::unique_ptr<cpu>> all;
    std::vector<std::thread> threads;
    counts sum;

    for (u32 i = 0; i < cpus; i++)
        all.push_back(std::make_unique<cpu>(h, std::max(1u, qps / cpus), every, flow, a, b));
    for (auto &c : all)
        threads.emplace_back([&] { c->run(stop); });
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    stop = true;
    for (auto &t : threads)
        t.join();
    for (auto &c : all) {
        sum.packets += c->n.packets;
        sum.taken += c->n.taken;
        sum.waited += c->n.waited;
    }
    return sum;
}

} // namespace

int main(int argc, char **argv)
{
    u32 ms = argc > 2 && !std::strcmp(argv[1], "--ms") ? static_cast<u32>(std::atoi(argv[2])) : 500;

    std::printf("QPs  host's lock   taken a packet   of these waited   two CPUs : one\n");
    for (u32 qps : {2u, 4u, 16u, 64u})
        for (bool every : {true, false}) {
            counts one = measure(1, qps, every, ms), two = measure(2, qps, every, ms);

            std::printf("%3u  %-11s %12.2f %15.2f %% %15.2f\n", qps, every ? "every call" : "shared",
                        static_cast<double>(two.taken) / static_cast<double>(two.packets),
                        100 * static_cast<double>(two.waited) / static_cast<double>(two.taken),
                        static_cast<double>(two.packets) / static_cast<double>(one.packets));
        }
    return 0;
}
