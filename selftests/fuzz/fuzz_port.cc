// SPDX-License-Identifier: GPL-2.0
// fuzz_port.cc - port status between endpoints under floods and spoofed answers: an answer
// per request at most and a bounded number of them, an announcement ends after its last
// repeat, and only what a request said can be believed, so often and no more, and never that
// no port is left in common. What a controller asks is answered by what came for it, once,
// and so many wait and no more. In the end an honest peer is heard and hears the latest word.
#include "bytes.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

extern "C" {
#include "peer/mrc_port.h"
}

namespace {

constexpr u64 us = 1000, ms = 1000 * us;

mrc_pkt something(bytes &in, const mrc_port &p)
{
    const u8 opcodes[] = {MRC_OPC_EP_REQ, MRC_OPC_EP_RSP, MRC_OPC_EP_REQ, MRC_OPC_SACK};
    mrc_pkt k = {};

    k.opcode = in.pick(opcodes);
    k.dqpn = MRC_QPN_ENDPOINT;
    k.psn = in.below(2) ? (in.below(2) ? p.req_id : p.heard_id) + in.below(5) - 2
                        : in.any<u32>();
    k.psn &= MRC_PSN_MASK;
    k.u.ep.op = static_cast<u8>(in.below(2)); // the parser lets no other pass
    k.u.ep.port_status_mask = in.extreme<u32>();
    k.u.ep.tx_ts = in.any<u16>();
    return k;
}

class port_run {
public:
    explicit port_run(bytes &in) : in_(in)
    {
        mrc_port_init(&p_, in.below(16));
        mrc_ep_req_init(&ask_, in.any<u32>());
        mrc_port_set_reqs(&p_, &ask_);
    }

    void run()
    {
        while (in_.more())
            step();
        honest_end();
    }

private:
    void step()
    {
        switch (in_.below(8)) {
        case 0:
            mrc_port_set(&p_, in_.below(16), now_);
            break;
        case 1:
            now_ += in_.below(2) ? in_.below(100) * us : in_.below(200) * ms;
            break;
        case 2:
            pull();
            break;
        case 3:
            for (u32 n = in_.below(8) ? 1 : MRC_EP_REQ_MAX; n--;)
                ask();
            break;
        case 4:
            mrc_port_meet(&p_, in_.below(16), in_.below(2), now_ + in_.below(3) * ms);
            break;
        case 5:
            mrc_port_peer_alive(&p_, now_);
            REQUIRE(!mrc_port_greeting(&p_));
            mrc_port_stray(&p_, in_.any<u8>(), now_);
            break;
        case 6:
            if (!checks_.empty() && in_.below(2)) // the peer's port works: the word was forged
                deny();
            else if (!questions_.empty()) // the peer's honest answer, perhaps by a way that alters it
                hear(response());
            break;
        default:
            hear(something(in_, p_));
            break;
        }
        REQUIRE(mrc_port_deadline_ns(&p_) == std::min<u64>(p_.announcing ? p_.next_ns : MRC_TIME_NEVER,
                                                      mrc_down_check_deadline_ns(&p_.doubt)));
        REQUIRE(!(p_.doubt.open & p_.remote_up)); // what is checked is what was announced as down
    }

    struct question {
        mrc_ep_req q;
        u64 sent;
    };

    void ask()
    {
        mrc_ep_req q = {static_cast<u8>(in_.below(2)), in_.any<u32>(), ++cookie_};
        bool busy = q.op == MRC_EP_PORT_STATUS && p_.announcing;
        mrc_pkt k;

        if (mrc_port_request(&p_, &q, now_, &k)) {
            REQUIRE(busy || (mrc_ep_req_waiting(&ask_) == MRC_EP_REQ_MAX && young()));
            return;
        }
        REQUIRE(!busy && k.opcode == MRC_OPC_EP_REQ && k.dqpn == MRC_QPN_ENDPOINT && !(k.psn >> 16));
        REQUIRE(k.u.ep.op == q.op && k.u.ep.port_status_mask == (q.op ? 0 : q.ports_up));
        REQUIRE(mrc_ep_req_waiting(&ask_) <= MRC_EP_REQ_MAX);
        if (in_.below(16) == 0) {
            mrc_port_request_undo(&p_, &k);
            questions_.erase(k.psn);
            return;
        }
        questions_[k.psn] = {q, now_};
    }
    bool young() const
    {
        for (const auto &q : ask_.q)
            if (now_ >= q.sent_ns + MRC_EP_REQ_OLD_NS)
                return false;
        return true;
    }
    mrc_pkt response()
    {
        auto i = questions_.begin();
        mrc_pkt k = {};

        std::advance(i, in_.below(static_cast<u32>(questions_.size())));
        k.opcode = MRC_OPC_EP_RSP;
        k.psn = i->first;
        k.u.ep.op = in_.below(8) ? i->second.q.op : !i->second.q.op;
        return k;
    }

    // Asked, not answered before, of that kind; the latest with that id.
    void answered(const mrc_pkt &k, const mrc_ep_rsp &a)
    {
        auto i = questions_.find(k.psn & 0xffff);

        REQUIRE(k.opcode == MRC_OPC_EP_RSP && i != questions_.end());
        REQUIRE(i->second.q.op == k.u.ep.op && a.op == k.u.ep.op && a.cookie == i->second.q.cookie);
        REQUIRE(a.rtt_ns == now_ - i->second.sent);
        questions_.erase(i);
    }

    void hear(const mrc_pkt &k)
    {
        u32 before = p_.remote_up, unasked = mrc_port_unmatched(&p_), waiting = mrc_ep_req_waiting(&ask_);
        bool announcing = p_.announcing;
        // One more answer to what we said last: a repeat's.
        u32 denied = mrc_port_denied(&p_);
        bool more = !announcing && p_.tries && k.opcode == MRC_OPC_EP_RSP &&
                    k.u.ep.op == MRC_EP_PORT_STATUS && (k.psn & 0xffff) == p_.req_id;
        bool changed = mrc_port_rx(&p_, &k, now_);
        mrc_ep_rsp a;

        if (mrc_port_take_rsp(&p_, &a))
            answered(k, a);
        denied = mrc_port_denied(&p_) - denied;
        REQUIRE((k.opcode == MRC_OPC_EP_RSP && !more) ==
                denied + (mrc_port_unmatched(&p_) > unasked) + (mrc_ep_req_waiting(&ask_) < waiting) +
                    (announcing && !p_.announcing));
        REQUIRE(!mrc_port_take_rsp(&p_, &a));

        REQUIRE(changed == (before != p_.remote_up));
        if (denied) {
            REQUIRE(denied == 1 && changed && (p_.remote_up & before) == before);
            REQUIRE(k.opcode == MRC_OPC_EP_RSP && k.u.ep.op == MRC_EP_EV_PROBE);
            return;
        }
        if (changed)
            REQUIRE(k.opcode == MRC_OPC_EP_REQ && k.u.ep.op == MRC_EP_PORT_STATUS &&
                    p_.remote_up == k.u.ep.port_status_mask && p_.remote_up & p_.up);
        if (k.opcode == MRC_OPC_EP_REQ)
            asked_.insert(k.psn & 0xffff);
        if (changed && ++changes_ > MRC_PORT_CHANGES + 1 + (now_ - begin_) / MRC_PORT_CHANGE_NS)
            DIE("%llu changes believed", static_cast<unsigned long long>(changes_));
    }

    void deny()
    {
        mrc_pkt k = checks_[in_.below(static_cast<u32>(checks_.size()))];

        k.opcode = MRC_OPC_EP_RSP;
        k.plane = MRC_PLANE_NONE;
        hear(k);
    }

    // What may leave now: a few answers, each to a request, one announcement, and a probe of each plane that is
    // said to be down.
    u32 pull()
    {
        u32 announced = 0, answers = 0, probed = 0;
        mrc_pkt k;

        while (mrc_port_tx_next(&p_, now_, &k)) {
            REQUIRE(k.dqpn == MRC_QPN_ENDPOINT && !(k.psn >> 16));
            if (k.opcode == MRC_OPC_EP_RSP) {
                auto i = asked_.find(k.psn);

                REQUIRE(i != asked_.end() && ++answers <= MRC_PORT_ANSWERS + 1);
                asked_.erase(i);
            } else if (k.u.ep.op == MRC_EP_EV_PROBE) {
                REQUIRE(k.opcode == MRC_OPC_EP_REQ && k.plane < MRC_PLANES_MAX);
                u32 bit = 1u << k.plane;

                REQUIRE(!(probed & bit) && (p_.up & ~p_.remote_up & bit) && !k.u.ep.port_status_mask);
                probed |= bit;
                checks_.push_back(k);
                if (checks_.size() > 64)
                    checks_.erase(checks_.begin());
            } else {
                REQUIRE(k.opcode == MRC_OPC_EP_REQ && k.u.ep.op == MRC_EP_PORT_STATUS);
                REQUIRE(k.u.ep.port_status_mask == p_.up && !announced++);
                last_ = k;
            }
        }
        asked_.clear(); // those left out are as good as lost
        return announced;
    }

    void honest_end()
    {
        u32 said = 0;
        mrc_pkt k = {};

        mrc_port_set(&p_, p_.up ^ 1, now_);
        for (u32 i = 0; i < 2 * MRC_PORT_TRIES + 2 * MRC_DOWN_CHECK_TRIES && mrc_port_deadline_ns(&p_) != MRC_TIME_NEVER; i++) {
            now_ = std::max(now_, mrc_port_deadline_ns(&p_));
            said += pull();
        }
        REQUIRE(said == MRC_PORT_TRIES && !p_.announcing);
        mrc_port_set(&p_, p_.up ^ 1, now_);
        REQUIRE(pull() == 1);
        k.opcode = MRC_OPC_EP_RSP;
        k.psn = last_.psn;
        hear(k);
        REQUIRE(!p_.announcing);
        // And what the peer says now counts, when older words can no longer be on their way.
        now_ += 1000 * ms;
        mrc_port_set(&p_, p_.up | 1, now_);
        k.opcode = MRC_OPC_EP_REQ;
        k.psn = in_.any<u16>();
        k.u.ep.port_status_mask = ~p_.remote_up | 1; // by the port that it says this by
        hear(k);
        REQUIRE(p_.remote_up == k.u.ep.port_status_mask);
    }

    bytes &in_;
    const u64 begin_ = 1000 * ms;
    u64 now_ = begin_, changes_ = 0;
    mrc_port p_;
    mrc_ep_req_table ask_;
    u64 cookie_ = 0;
    mrc_pkt last_ = {};
    std::multiset<u32> asked_;
    std::vector<mrc_pkt> checks_; // probes that left lately
    std::map<u32, question> questions_; // by id; some made room since
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    bytes in(data, size);

    port_run(in).run();
    return 0;
}
