// SPDX-License-Identifier: GPL-2.0
// fuzz_prober.cc - self-probes beside a model: each probe counts once, whatever comes back, how late the timer runs and
// whichever tests are set; and what a stranger sends counts in no test.
#include "bytes.h"

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "work.h"

extern "C" {
#include "probe/mrc_prober.h"
#include "wire/mrc_selfmsg.h"
}

namespace {

constexpr u64 ms = 1'000'000;

struct world {
    mrc_prober p;
    u64 now = 1000 * ms, secrets = 1;
    std::vector<mrc_prober_op> sent;
    std::set<std::pair<u64, u32>> out; // secret, number: sent, and not taken yet

    world() { mrc_prober_init(&p, 1, 128); }
    ~world() { drop(&p.t); }
    static void drop(mrc_prober_table *t)
    {
        for (u32 i = 0; i < t->n; i++)
            free(t->test[i]);
        free(t->test);
        free(t->heap);
    }
    void set_tests(bytes &in)
    {
        mrc_prober_cfg cfg = {in.between(1, 20) * 100 * ms, in.between(1, 16) * ms, in.between(1, 10) * ms, in.below(4)};
        std::map<u32, mrc_selfprobe_cfg> all;
        mrc_prober_table t = {};

        for (u32 n = in.below(12); n; n--) {
            mrc_selfprobe_cfg c = {};
            c.id = in.one_in(8) ? in.extreme<u32>() : in.below(8);
            c.interval_us = in.one_in(8) ? in.between(1000, 1'000'000'000) : in.between(1000, 5000);
            c.plane = in.one_in(4) ? 0xff : static_cast<u8>(in.below(3));
            c.size = static_cast<u16>(in.below(2) ? 0 : in.extreme<u16>());
            all[c.id] = c;
        }
        t.test = static_cast<mrc_selfprobe **>(calloc(all.size() + 1, sizeof(*t.test)));
        t.heap = static_cast<mrc_selfprobe **>(calloc(all.size() + 1, sizeof(*t.heap)));
        for (auto &[id, c] : all) {
            t.test[t.n] = static_cast<mrc_selfprobe *>(malloc(sizeof(**t.test)));
            mrc_selfprobe_init(t.test[t.n++], &c, secrets++);
        }
        mrc_prober_replace(&p, &cfg, &t, now);
        drop(&t);
        mrc_prober_arm(&p, now);
    }
    void tick(bytes &in)
    {
        mrc_prober_op op;

        if (p.tick_ns != MRC_TIME_NEVER && in.below(4))
            now = std::max(now, p.tick_ns) + (in.one_in(4) ? in.below(20) * ms : 0);
        mrc_prober_tick(&p, now);
        for (u32 i = 0; i < 32 && mrc_prober_next(&p, now, &op); i++) {
            REQUIRE(op.size >= 128);
            if (in.one_in(16)) {
                mrc_prober_undo(&p, &op);
                continue;
            }
            sent.push_back(op);
            out.insert({op.secret, op.seq});
        }
        const u64 at = mrc_prober_arm(&p, now);
        REQUIRE(at >= now + MRC_PROBER_TICK_NS);
        REQUIRE(p.t.n || at == MRC_TIME_NEVER);
    }
    void come(bytes &in)
    {
        u8 packet[64];
        mrc_selfmsg m = {in.below(8), in.extreme<u32>(), in.below(4) ? in.below(16) : in.any<u64>()}, got = {};

        if (!sent.empty() && in.below(8)) {
            const auto &op = sent[sent.size() - 1 - in.below(std::min<u32>(static_cast<u32>(sent.size()), 64))];
            m = {op.cfg.id, in.one_in(8) ? op.seq + in.extreme<u32>() : op.seq, op.secret};
        }
        const u32 len = MRC_SELFMSG_MIN + in.below(sizeof(packet) - MRC_SELFMSG_MIN + 1);
        mrc_selfmsg_build(packet, len, &m);
        if (in.one_in(8))
            packet[in.below(MRC_SELFMSG_LEN)] ^= static_cast<u8>(1u << in.below(8));
        if (!mrc_selfmsg_parse(packet, in.one_in(8) ? in.below(len) : len, &got))
            return;
        const mrc_selfprobe_arrival c = {got.id, got.seq, got.secret, static_cast<u8>(in.one_in(4) ? 0xff : in.below(3)),
                                      in.one_in(8), in.one_in(8), in.one_in(8)};
        const auto verdict = mrc_prober_rx(&p, &c, now);
        if (verdict == MRC_SELFPROBE_TAKEN || verdict == MRC_SELFPROBE_LATE)
            REQUIRE(out.erase({got.secret, got.seq}) == 1); // it was sent, and is taken once
    }
    void check()
    {
        for (u32 i = 0; i < p.t.n; i++) {
            const mrc_selfprobe *t = p.t.test[i];
            const mrc_selfprobe_count &n = t->count;

            REQUIRE(n.sent == n.received + n.lost + n.corrupt + n.other_plane + n.voided + hweight64(t->waiting));
            REQUIRE(n.late <= n.lost + n.voided);
            REQUIRE(n.trimmed <= n.received && n.marked <= n.received && n.full_lost <= n.lost);
            REQUIRE(n.full_sent <= n.sent && n.run <= n.lost);
            REQUIRE(!i || t->cfg.id > p.t.test[i - 1]->cfg.id);
            REQUIRE(p.t.heap[t->place] == t);
            REQUIRE(!t->place || p.t.heap[(t->place - 1) / 2]->key_ns <= t->key_ns);
        }
    }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    bytes in(data, size);
    auto w = std::make_unique<world>();

    while (in.more()) {
        work_left = 200'000;
        switch (in.below(8)) {
        case 0:
            w->set_tests(in);
            break;
        case 1:
            mrc_prober_plane(&w->p, static_cast<u8>(in.below(3)), in.below(2) * 9000, in.extreme<u64>());
            break;
        case 2:
            w->now += in.below(100) * ms / 10;
            break;
        case 3:
        case 4:
            w->tick(in);
            break;
        default:
            w->come(in);
        }
        w->check();
    }
    return 0;
}
