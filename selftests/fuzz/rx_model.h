// SPDX-License-Identifier: GPL-2.0
// rx_model.h - what a receive stream owes its caller, written down a second time
// with sets and maps. Every answer of the engine is held against it.
#pragma once

#include "endpoint.h"

#include <map>
#include <set>

class rx_model {
public:
    rx_model(const mrc_rx_cfg &cfg, u32 window) : cfg_(cfg), window_(window)
    {
        edge_ = psn_count(mrc_psn_add(cfg.psn, -1));
    }

    u64 cack() const { return edge_.at(); }
    u32 next_psn() const { return mrc_psn_add(edge_.psn(), 1); }
    u32 next_rq() const { return next_rq_; }
    u64 highest() const { return held_.empty() ? edge_.at() : held_.rbegin()->first; }
    size_t held() const { return held_.size(); }

    // A request of ours: what its responses may carry.
    void asked(u32 cookie, mrc_op op, u32 len)
    {
        u32 pieces = op != MRC_OP_READ || !len ? 1 : (len - 1) / cfg_.mtu + 1;

        asked_[cookie] = {op, len, pieces, {}};
    }

    // The engine wants this packet placed.
    void place(const mrc_pkt &p, const mrc_rxop &op)
    {
        u64 psn = edge_.near(p.psn);

        REQUIRE(!p.trimmed && mrc_opc_is_data(p.opcode));
        REQUIRE(psn > edge_.at() && psn <= edge_.at() + window_);
        REQUIRE(!held_.count(psn));
        REQUIRE(op.len == p.payload_len && op.len <= cfg_.mtu && op.psn == p.psn);
        REQUIRE(!nak_sent_ || psn < nak_);
        switch (op.place) {
        case MRC_PLACE_WRITE:
            REQUIRE(mrc_opc_is_write(p.opcode) && op.va == p.va && op.rkey == p.rkey);
            REQUIRE(op.len == cfg_.mtu || (mrc_opc_is_last(p.opcode) && op.len < cfg_.mtu &&
                                           op.len == p.dmalen % cfg_.mtu));
            break;
        case MRC_PLACE_RECV:
            REQUIRE(mrc_opc_is_send(p.opcode) && op.needs_rq && op.msg_len == p.dmalen);
            REQUIRE(op.off <= op.msg_len && op.len <= op.msg_len - op.off);
            REQUIRE(!pieces_.count({op.rq_idx, op.off}));
            REQUIRE(op.off % cfg_.mtu == 0 && (op.len == cfg_.mtu || mrc_opc_is_last(p.opcode)));
            break;
        case MRC_PLACE_RESP:
            place_response(op, p);
            break;
        case MRC_PLACE_NONE:
            REQUIRE(!op.len && cfg_.rd_atomic);
            break;
        }
        if (op.needs_rq)
            REQUIRE(op.rq_idx - next_rq_ < cfg_.wimm);
        if (op.tail >= 0)
            REQUIRE(!tails_.count(static_cast<u8>(op.tail)) && op.len);
    }

    void commit(const mrc_pkt &p, const mrc_rxop &op)
    {
        u64 psn = edge_.near(p.psn);

        held_[psn] = {mrc_opc_is_last(p.opcode), op.hold};
        REQUIRE(!op.hold || (cfg_.strict && op.tail < 0 && psn > edge_.at() + 1));
        if (op.needs_rq && mrc_opc_is_last(p.opcode))
            REQUIRE(recv_.emplace(op.rq_idx, recv{psn, op.msg_len, p.imm, p.se}).second);
        if (op.place == MRC_PLACE_RECV)
            pieces_.insert({op.rq_idx, op.off});
        if (op.tail >= 0)
            tails_[static_cast<u8>(op.tail)] = {psn, op.va + op.len, op.rkey, op.len};
        if (op.place == MRC_PLACE_NONE)
            REQUIRE(exec_.emplace(psn, request{op.slot, p.va, p.dmalen}).second);
        if (op.place == MRC_PLACE_RESP)
            REQUIRE(asked_[op.cookie].got.insert(op.off).second);
        advance();
    }

    // Strict placement: the one whose turn it is, and no other.
    void hold(u32 slot, u32 mask)
    {
        REQUIRE(is_next() && held_.begin()->second.waits);
        REQUIRE(slot == (next_psn() & mask));
    }
    void placed()
    {
        held_.begin()->second.waits = false;
        advance();
    }

    void tail(const mrc_tail &t)
    {
        auto i = tails_.find(t.slot);

        REQUIRE(i != tails_.end() && i->second.psn <= edge_.at());
        REQUIRE(t.len == std::min<u32>(i->second.len, MRC_TAIL_LEN));
        REQUIRE(t.rkey == i->second.rkey && t.va + t.len == i->second.end);
        tails_.erase(i);
    }

    void exec(const mrc_exec &x)
    {
        REQUIRE(!exec_.empty() && !running_.count(x.slot));
        auto [psn, r] = *exec_.begin(); // the oldest, once, behind all that precedes it

        REQUIRE(psn <= edge_.at() && r.slot == x.slot && r.va == x.va && r.len == x.len);
        REQUIRE(!nak_sent_ || psn < nak_);
        running_[x.slot] = {psn, x.op == MRC_OP_READ ? x.len : 0, false};
    }
    void exec_over(u16 slot, bool done)
    {
        REQUIRE(exec_.begin()->second.slot == slot);
        exec_.erase(exec_.begin());
        running_[slot].answered = done;
    }
    void exec_free(u16 slot) { REQUIRE(running_.erase(slot)); }

    void complete(const mrc_cpl &x)
    {
        if (x.kind == MRC_CPL_SEND) {
            answered(x);
            return;
        }
        auto i = recv_.find(x.rq_idx);

        REQUIRE(x.rq_idx == next_rq_ && i != recv_.end() && i->second.last <= edge_.at());
        REQUIRE(x.len == i->second.len && x.imm == i->second.imm &&
                x.solicited == (i->second.solicited || cfg_.mrc_only));
        REQUIRE(!nak_sent_ || i->second.last < nak_);
        if (x.op != MRC_OP_WRITE_IMM)
            for (u64 off = 0; off == 0 || off < x.len; off += cfg_.mtu)
                REQUIRE(pieces_.count({x.rq_idx, static_cast<u32>(off)}));
        recv_.erase(i);
        next_rq_++;
    }

    // What the engine tells the peer.
    void says(const mrc_txop &t)
    {
        const mrc_pkt &h = t.hdr;

        if (h.opcode == MRC_OPC_SACK)
            says_sack(h.u.sack);
        else if (h.opcode == MRC_OPC_ACK)
            says_ack(h);
        if (t.src == MRC_SRC_RESP) {
            auto i = running_.find(static_cast<u16>(t.cookie));

            REQUIRE(i != running_.end() && i->second.answered);
            REQUIRE(t.off <= i->second.len && t.len <= i->second.len - t.off);
        }
    }

    bool nak_sent() const { return nak_sent_; }
    u64 nak() const { return nak_; }
    bool tails_left() const { return !tails_.empty(); }
    bool exec_left() const { return !exec_.empty(); }

private:
    struct packet {
        bool ends; // its message
        bool waits; // for its turn to be placed
    };
    struct recv {
        u64 last;
        u32 len, imm;
        bool solicited;
    };
    struct tail_end {
        u64 psn, end;
        u32 rkey, len;
    };
    struct request {
        u16 slot;
        u64 va;
        u32 len;
    };
    struct answer {
        u64 psn;
        u32 len;
        bool answered;
    };
    struct question {
        mrc_op op;
        u32 len, pieces;
        std::set<u32> got;
    };

    bool is_next() const { return !held_.empty() && held_.begin()->first == edge_.at() + 1; }
    void advance()
    {
        while (is_next() && !held_.begin()->second.waits) {
            messages_ += held_.begin()->second.ends;
            held_.erase(held_.begin());
            edge_.set(edge_.at() + 1);
        }
    }

    // Responses: only to what was asked, each byte once, none beside the buffer.
    void place_response(const mrc_rxop &op, const mrc_pkt &p)
    {
        auto i = asked_.find(op.cookie);

        REQUIRE(i != asked_.end());
        const question &q = i->second;
        REQUIRE(!q.got.count(op.off) && q.got.size() < q.pieces);
        if (q.op == MRC_OP_READ) {
            REQUIRE(mrc_opc_is_read_resp(p.opcode) && op.off % cfg_.mtu == 0);
            REQUIRE(op.off <= q.len && op.len == std::min<u32>(cfg_.mtu, q.len - op.off));
        } else {
            REQUIRE(p.opcode == MRC_OPC_ATOMIC_ACK && !op.len && !op.off);
        }
    }
    void answered(const mrc_cpl &x)
    {
        auto i = asked_.find(x.cookie);

        if (i == asked_.end())
            return;
        if (x.status == MRC_ST_OK)
            REQUIRE(i->second.got.size() == i->second.pieces);
        asked_.erase(i);
    }

    void says_sack(const mrc_sack &s)
    {
        u64 base = edge_.at() + static_cast<u64>(static_cast<s64>(s.sack_offset));

        REQUIRE(s.cack == edge_.psn() && s.ooo_count == held_.size());
        for (u32 i = 0; i < 64; i++)
            REQUIRE((s.bitmap >> i & 1) == (base + i > edge_.at() ? held_.count(base + i) : 0));
    }
    void says_ack(const mrc_pkt &h)
    {
        u64 psn = edge_.near(h.psn);

        REQUIRE(h.u.aeth.msn == (messages_ & MRC_PSN_MASK));
        if ((h.u.aeth.syndrome & 0xe0) == MRC_AETH_NAK) {
            // All before it is here, done and answered; itself it was refused.
            REQUIRE(psn <= edge_.at() + 1 || nak_sent_);
            REQUIRE(!nak_sent_ || psn == nak_);
            REQUIRE(exec_.empty() || exec_.begin()->first >= psn);
            nak_sent_ = true;
            nak_ = psn;
        } else {
            REQUIRE(h.u.aeth.syndrome == MRC_AETH_CREDIT_NONE && psn <= edge_.at());
            REQUIRE(exec_.empty() || exec_.begin()->first > psn);
        }
    }

    mrc_rx_cfg cfg_;
    u32 window_;
    psn_count edge_;
    std::map<u64, packet> held_; // committed, beyond the left edge
    std::map<u32, recv> recv_;
    std::set<std::pair<u32, u32>> pieces_; // of SENDs: receive and offset
    std::map<u8, tail_end> tails_;
    std::map<u64, request> exec_; // not executed yet, the running one included
    std::map<u16, answer> running_;
    std::map<u32, question> asked_;
    u32 next_rq_ = 0, messages_ = 0;
    bool nak_sent_ = false;
    u64 nak_ = 0;
};
