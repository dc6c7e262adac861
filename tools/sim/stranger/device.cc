// SPDX-License-Identifier: GPL-2.0
// device.cc - see device.h.
#include "device.h"

#include "../foreign/wire.h"

#include <algorithm>
#include <sstream>

namespace sim::stranger {

using namespace foreign;

namespace {

constexpr u32 region_bytes = 64 << 10, source_bytes = 512 << 10, rkey = 0x77, units = 8, wimm = 32;
constexpr u64 region_va = 0x100000, hop_ns = 500;
constexpr u8 dscp_data = 8, dscp_probe = 10, dscp_rtx = 12, dscp_trimmed_lasthop = 18, dscp_control = 46;
constexpr u8 nak_invalid = 0x61, nak_access = 0x62, endpoint_request = 0xd8, endpoint_response = 0xd9;

u64 field(const std::string &line, const std::string &name, u64 otherwise = 0)
{
    size_t at = line.find(" " + name + "=");

    return at == std::string::npos ? otherwise : std::strtoull(line.c_str() + at + name.size() + 2, nullptr, 0);
}

u8 source(u64 i) { return static_cast<u8>(i * 31 + 7 + (i >> 8)); }

const std::vector<foreign_path> &paths(bool v6)
{
    static const auto make = [](bool label) {
        std::vector<foreign_path> v;

        for (u32 i = 0; i < 16; i++)
            v.push_back({(0xd000 + i) << 16 | (label ? i : 0), static_cast<u8>(0)});
        return v;
    };
    static const std::vector<foreign_path> six = make(true), four = make(false);

    return v6 ? six : four;
}

} // namespace

device::connection::connection(const foreign_habits &h, u32 qpn, u32 rq_psn, u32 sq_psn, u32 mtu)
    : rx(h, qpn, rq_psn, units * 128, wimm), tx(h, qpn, sq_psn, mtu, units * 128, wimm), kit_qpn(qpn),
      region(region_bytes, 0xee)
{
}

void device::push(const envelope &e, const bytes &body)
{
    out_.push_back({now_ns_ + hop_ns, seal(own_, peer_, way_, e, body)});
}

// @from: where in the source the payload begins.
void device::emit(foreign_packet p, u32 from)
{
    envelope e;
    u8 head[128];

    p.dest_qp = c_->kit_qpn;
    u32 n = encode(p, head), len = is_data(p.opcode) ? p.len : 0;
    bytes body(head, head + n);
    for (u32 i = 0; i < len; i++)
        body.push_back(source(from + i));
    body.resize(body.size() + (-len & 3));
    e.ev = p.ev;
    e.port = 4791;
    e.dscp = is_data(p.opcode) ? (p.rtx ? dscp_rtx : dscp_data) : p.opcode == PROBE ? dscp_probe : dscp_control;
    e.ecn = is_data(p.opcode) || p.opcode == PROBE ? 2 : 0;
    push(e, body);
}

// All that it has to say now.
void device::talk()
{
    foreign_packet p;
    u32 number, off, imm, len;

    if (!c_ || c_->failed)
        return;
    while (c_->rx.complete(&imm, &len))
        c_->received.push_back(imm);
    while (c_->rx.next(&p, paths(own_.v6), now_ns_))
        emit(p, 0);
    // A write that leaves 4,096 packets at one time is enough of a burst.
    for (u32 i = 0; i < 4096 && c_->tx.next(&p, paths(own_.v6), now_ns_, &number, &off); i++)
        emit(p, is_data(p.opcode) ? c_->from[number] + off : 0);
    while (c_->tx.complete(&number))
        c_->sent++;
    c_->refused = c_->tx.refused();
    c_->failed = c_->failed || c_->refused;
}

void device::refuse(const foreign_packet &f, u8 syndrome)
{
    foreign_packet p;

    p.opcode = ACK;
    p.psn = f.psn;
    p.syndrome = syndrome;
    p.ev = paths(own_.v6)[0].ev;
    emit(p, 0);
    c_->failed = true;
}

void device::take_data(const foreign_packet &f, const u8 *payload, u64 now_ns)
{
    // No sum of what the wire says: an address near the end of 64 bits would wrap.
    bool fits = f.rkey == rkey && f.len <= region_bytes && f.va >= region_va && f.va - region_va <= region_bytes - f.len;

    if (!f.trimmed && !fits)
        return refuse(f, nak_access);
    if (!f.trimmed && has_imm(f.opcode) && !c_->receives)
        return refuse(f, nak_invalid);
    if (!c_->rx.take(f, now_ns) || f.trimmed)
        return;
    c_->receives -= has_imm(f.opcode);
    std::copy_n(payload, f.len, c_->region.begin() + static_cast<long>(f.va - region_va));
}

// To QP 2: answered by the same id, op and timestamp.
void device::endpoint(const bytes &body, u32 ev)
{
    bytes answer(48, 0);
    envelope e;

    if (body.size() < 28)
        return;
    answer[0] = endpoint_response;
    answer[2] = answer[3] = 0xff;
    answer[7] = 2;
    std::copy_n(body.begin() + 10, 2, answer.begin() + 10);
    answer[13] = static_cast<u8>((body[13] & 3) << 2);
    std::copy_n(body.begin() + 24, 2, answer.begin() + 40);
    e.ev = ev;
    e.port = 4791;
    e.dscp = dscp_control;
    push(e, answer);
}

void device::take(const bytes &frame, u64 now_ns)
{
    foreign_packet f;
    envelope e;
    bytes body;
    u32 at;

    now_ns_ = now_ns;
    if (!open(frame, own_.v6, way_, &e, &body) || (e.port != 4791 && e.port != 4971) || e.src != peer_.ip || body.size() < 12)
        return;
    if (body[0] == endpoint_request)
        return endpoint(body, paths(own_.v6)[0].ev);
    body.resize(body.size() + 64); // a short packet is read as zeros
    f.ev = e.ev;
    f.ce = e.ecn == 3;
    f.udp_len = e.udp_len;
    if (e.trimmed)
        f.trimmed = e.dscp == dscp_trimmed_lasthop ? TRIMMED_LASTHOP : TRIMMED;
    if (!decode(body.data(), static_cast<u32>(body.size() - 64), &f, &at) || f.dest_qp != qpn_ || !c_ || c_->failed)
        return;
    if (is_data(f.opcode))
        take_data(f, body.data() + at, now_ns);
    else if (f.opcode == PROBE)
        c_->rx.take(f, now_ns);
    else
        c_->tx.take(f, now_ns);
    talk();
}

bool device::run(u64 until_ns, sent_frame *out)
{
    for (;;) {
        u64 due = c_ && !c_->failed ? std::min(c_->rx.deadline_ns(), c_->tx.deadline_ns()) : ~0ull;
        u64 leaves = out_.empty() ? ~0ull : out_.front().ns;

        if (leaves <= until_ns && leaves <= due) {
            *out = out_.front();
            out_.pop_front();
            return true;
        }
        if (due > until_ns)
            return false;
        now_ns_ = std::max(now_ns_, due);
        c_->rx.timer(now_ns_);
        c_->tx.timer(now_ns_);
        talk();
    }
}

std::string device::open_connection(const std::string &line)
{
    std::ostringstream s;

    out_.clear();
    c_ = std::make_unique<connection>(habits_, static_cast<u32>(field(line, "qpn")), static_cast<u32>(field(line, "rq_psn")),
                                      static_cast<u32>(field(line, "sq_psn")),
                                      static_cast<u32>(std::clamp<u64>(field(line, "mtu", 1024), 256, 4096)));
    s << "ok qpn=" << ++qpn_ << " va=" << region_va << " rkey=" << rkey << " size=" << region_bytes << " mpr=" << units
      << " wimm=" << wimm;
    return s.str();
}

std::string device::write(const std::string &line)
{
    u64 size = field(line, "size"), at = field(line, "at"), count = field(line, "count", 1);

    if (size > source_bytes || at > source_bytes - size || count > 1024)
        return "no such WRITE";
    while (count--) {
        c_->from.push_back(static_cast<u32>(at));
        c_->tx.post({field(line, "va"), static_cast<u32>(field(line, "rkey")), static_cast<u32>(size),
                     static_cast<u32>(field(line, "imm")), line.find(" imm=") != std::string::npos});
    }
    talk();
    return "ok";
}

std::string device::state()
{
    std::ostringstream s;

    s << "ok state=" << (c_->failed ? "error" : "rts") << " sent=" << c_->sent << " failed=" << (c_->refused ? "access" : "none")
      << " received=" << (c_->received.empty() ? "none" : "");
    for (size_t i = 0; i < c_->received.size(); i++)
        s << (i ? "," : "") << c_->received[i];
    return s.str();
}

std::string device::ask(const std::string &line)
{
    std::string word = line.substr(0, line.find(' '));

    if (word == "hello")
        return "ok trim=1";
    if (word == "open")
        return open_connection(line);
    if (!c_)
        return "no connection";
    if (word == "write")
        return write(line);
    if (word == "state")
        return state();
    if (word == "receive") {
        c_->receives += static_cast<u32>(field(line, "count", 1));
        return "ok";
    }
    u64 at = field(line, "at"), size = field(line, "size");
    if (word != "read" || size > region_bytes || at > region_bytes - size)
        return "no such word";
    std::string hex = "ok hex=";
    for (u64 i = at; i < at + size; i++) {
        hex += "0123456789abcdef"[c_->region[i] >> 4];
        hex += "0123456789abcdef"[c_->region[i] & 15];
    }
    return hex;
}

} // namespace sim::stranger
