// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// wire_vectors.h - packets as bytes, written out from the tables.
//
// Every vector is the whole packet in hex, grouped in 32-bit words of the
// tables of MRC 1.0 section 1 (BTH first), with the struct it must mean.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

extern "C" {
#include "wire/mrc_wire.h"
}

namespace {

using bytes = std::vector<u8>;

bytes unhex(const char *s)
{
    bytes out;
    unsigned nibbles = 0, v = 0;

    for (; *s; s++) {
        if (*s == ' ')
            continue;
        v = v << 4 | static_cast<unsigned>(std::isdigit(*s) ? *s - '0' : *s - 'a' + 10);
        if (++nibbles % 2 == 0)
            out.push_back(static_cast<u8>(v));
    }
    return out;
}

std::string hex(const void *p, size_t n)
{
    std::string out;
    char tmp[4];

    for (size_t i = 0; i < n; i++) {
        snprintf(tmp, sizeof(tmp), "%02x%s", static_cast<const u8 *>(p)[i], i % 4 == 3 ? " " : "");
        out += tmp;
    }
    return out;
}

std::string hex(const bytes &b)
{
    return hex(b.data(), b.size());
}

// Every field, so that a difference prints as a readable one.
std::string show(const mrc_pkt &p)
{
    char s[512];

    snprintf(s, sizeof(s),
             "opcode %02x pad %u se %d a %d rtx %d ts %d pkey %04x dqpn %06x psn %06x "
             "rqmsn %04x msn %04x tx_ts %04x tsr %u va %llx rkey %08x dmalen %u imm %08x "
             "swap_add %llx compare %llx hdr %u payload %u ev %x plane %u ce %d trim %u udp %u u ",
             p.opcode, p.pad, p.se, p.ackreq, p.rtx, p.has_ts, p.pkey, p.dqpn, p.psn, p.rqmsn,
             p.msn, p.tx_ts, p.tsr, static_cast<unsigned long long>(p.va), p.rkey, p.dmalen, p.imm,
             static_cast<unsigned long long>(p.swap_add),
             static_cast<unsigned long long>(p.compare), p.hdr_len, p.payload_len, p.ev, p.plane,
             p.ecn_ce, p.trimmed, p.udp_len);
    return s + hex(&p.u, sizeof(p.u));
}

// The buffer is exactly as long as claimed: ASan sees one byte too many.
int parse(const bytes &b, u8 trimmed, mrc_pkt *p)
{
    std::unique_ptr<u8[]> exact(new u8[b.size()]);

    std::copy(b.begin(), b.end(), exact.get());
    memset(p, 0x5a, sizeof(*p));
    return mrc_wire_parse(exact.get(), static_cast<u32>(b.size()), trimmed, p);
}

int build(const mrc_pkt &p, u32 cap, bytes *out)
{
    std::unique_ptr<u8[]> exact(new u8[cap]);
    int n;

    memset(exact.get(), 0x5a, cap);
    n = mrc_wire_build(exact.get(), cap, &p);
    out->assign(exact.get(), exact.get() + (n < 0 ? 0 : n));
    return n;
}

bytes cut(const bytes &b, size_t n)
{
    return bytes(b.begin(), b.begin() + static_cast<long>(n));
}

bytes join(bytes a, const bytes &b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// ---- what the vectors mean

void bth(mrc_pkt &p)
{
    p.pkey = 0xffff;
    p.dqpn = 0x012345;
    p.psn = 0xabcdef;
}

void plain(mrc_pkt &p)
{
    bth(p);
    p.rqmsn = 0x1122;
    p.msn = 0x3344;
    p.va = 0x8899aabbccddeeff;
    p.rkey = 0x01020304;
    p.dmalen = 0x00051000;
}

void with_imm(mrc_pkt &p)
{
    plain(p);
    p.imm = 0xcafef00d;
}

void atomic_ack(mrc_pkt &p)
{
    plain(p);
    p.swap_add = 0x1020304050607080;
}

void atomic(mrc_pkt &p)
{
    plain(p);
    p.swap_add = 0x1020304050607080;
    p.compare = 0x90a0b0c0d0e0f001;
}

template <void (*base)(mrc_pkt &)> void stamped(mrc_pkt &p)
{
    base(p);
    p.has_ts = true;
    p.tx_ts = 0xbeef;
    p.tsr = 1;
}

constexpr auto plain_ts = stamped<plain>;
constexpr auto with_imm_ts = stamped<with_imm>;
constexpr auto atomic_ack_ts = stamped<atomic_ack>;
constexpr auto atomic_ts = stamped<atomic>;

// Flags of BTH byte 1 and 8, and tsr 0.
void flags_set(mrc_pkt &p)
{
    plain(p);
    p.se = p.ackreq = p.rtx = p.has_ts = true;
    p.pad = 3;
    p.tx_ts = 0x0102;
}

void ack(mrc_pkt &p)
{
    bth(p);
    p.u.aeth.syndrome = MRC_AETH_CREDIT_NONE;
    p.u.aeth.msn = 0x010203;
}

void nak(mrc_pkt &p)
{
    bth(p);
    p.u.aeth.syndrome = MRC_AETH_NAK | MRC_NAK_REM_ACCESS;
    p.u.aeth.msn = 0xfffefd;
}

void endpoint(mrc_pkt &p, u8 op)
{
    p.pkey = 0xffff;
    p.dqpn = MRC_QPN_ENDPOINT;
    p.psn = 0x001234;
    p.u.ep.op = op;
}

void erth_status(mrc_pkt &p)
{
    endpoint(p, MRC_EP_PORT_STATUS);
    p.u.ep.vendor_info = 0x77;
    p.u.ep.port_status_mask = 0x800000fe;
    p.u.ep.tx_ts = 0x4321;
}

void erth_probe(mrc_pkt &p)
{
    endpoint(p, MRC_EP_EV_PROBE);
    p.u.ep.tx_ts = 0x4321;
    p.u.ep.tsr = 1;
}

void eeth_status(mrc_pkt &p)
{
    endpoint(p, MRC_EP_PORT_STATUS);
    p.u.ep.tx_ts = 0x4321;
}

void eeth_probe(mrc_pkt &p)
{
    endpoint(p, MRC_EP_EV_PROBE);
    p.u.ep.tx_ts = 0x8765;
}

void eeth_probe_return(mrc_pkt &p)
{
    eeth_probe(p);
    p.u.ep.vendor_info = MRC_EP_RETURN;
}

void eeth_probe_high(mrc_pkt &p)
{
    eeth_probe(p);
    p.u.ep.op_high = true;
}

void sack(mrc_pkt &p)
{
    mrc_sack &s = p.u.sack;

    bth(p);
    s.m = MRC_M_SKIP_ONCE;
    s.ack_psn_offset = 0x0123;
    s.ev = 0xc0011234;
    s.spdcid = 0x1111;
    s.dpdcid = 0x2222;
    s.cack = 0xabcdef;
    s.mpr = 32;
    s.sack_offset = 0x0040;
    s.bitmap = 0x8000000000000001;
    s.tx_ts = 0x9abc;
    s.ooo_count = 0x7ffe;
    s.rcv_cwnd_pen = 0x55;
    s.rcvd_bytes = 0xfedcba;
}

void sack_probe_answer(mrc_pkt &p)
{
    sack(p);
    p.u.sack.m = MRC_M_NONE;
    p.u.sack.pr = true;
    p.u.sack.ack_psn_offset = 0;
    p.u.sack.probe_id = 0xfeed;
}

void sack_negative(mrc_pkt &p)
{
    sack(p);
    p.u.sack.m = MRC_M_ALWAYS_SKIP;
    p.u.sack.ack_psn_offset = -3;
    p.u.sack.sack_offset = -64;
    p.u.sack.cc_type = 0xf;
    p.u.sack.cc_fl = 0x1;
    p.u.sack.restore_cwnd = true;
    p.u.sack.rcv_cwnd_pen = 0x7f;
}

void nack(mrc_pkt &p)
{
    mrc_nack_hdr &n = p.u.nack;

    bth(p);
    n.reason = MRC_NACK_NO_RESOURCE;
    n.vendor_info = 0x0c;
    n.ev = 0xc0011234;
    n.spdcid = 0x1111;
    n.dpdcid = 0x2222;
    n.psn = 0xabcdef;
    n.cc_type = MRC_CC_TYPE_NACK;
    n.cc_fl = 0x5;
    n.tx_ts = 0x9abc;
}

void probe(mrc_pkt &p)
{
    mrc_probe_hdr &h = p.u.probe;

    bth(p);
    p.psn = 0;
    h.vendor_info = 0x42;
    h.probe_id = 0xfeed;
    h.spdcid = 0x1111;
    h.dpdcid = 0x2222;
    h.tx_ts = 0x9abc;
    h.tsr = 1;
}

// ---- the vectors

struct vec {
    const char *name;
    const char *hdr;
    const char *payload;
    void (*fill)(mrc_pkt &);
};

const vec vectors[] = {
    {"SEND_FIRST",
     "c000ffff 00012345 00abcdef 11223344 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain},
    {"SEND_FIRST_ts",
     "c000ffff 00012345 10abcdef 11223344 beef8001 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain_ts},
    {"SEND_MIDDLE",
     "c100ffff 00012345 00abcdef 11223344 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain},
    {"SEND_MIDDLE_ts",
     "c100ffff 00012345 10abcdef 11223344 beef8001 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain_ts},
    {"SEND_LAST",
     "c200ffff 00012345 00abcdef 11223344 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain},
    {"SEND_LAST_ts",
     "c200ffff 00012345 10abcdef 11223344 beef8001 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain_ts},
    {"SEND_LAST_IMM",
     "c300ffff 00012345 00abcdef 11223344 8899aabbccddeeff 01020304 00051000 cafef00d",
     "a0a1a2a3a4", with_imm},
    {"SEND_LAST_IMM_ts",
     "c300ffff 00012345 10abcdef 11223344 beef8001 8899aabbccddeeff 01020304 00051000 cafef00d",
     "a0a1a2a3a4", with_imm_ts},
    {"SEND_ONLY",
     "c400ffff 00012345 00abcdef 11223344 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain},
    {"SEND_ONLY_ts",
     "c400ffff 00012345 10abcdef 11223344 beef8001 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain_ts},
    {"SEND_ONLY_IMM",
     "c500ffff 00012345 00abcdef 11223344 8899aabbccddeeff 01020304 00051000 cafef00d",
     "a0a1a2a3a4", with_imm},
    {"SEND_ONLY_IMM_ts",
     "c500ffff 00012345 10abcdef 11223344 beef8001 8899aabbccddeeff 01020304 00051000 cafef00d",
     "a0a1a2a3a4", with_imm_ts},
    {"WRITE_FIRST",
     "c600ffff 00012345 00abcdef 11223344 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain},
    {"WRITE_FIRST_ts",
     "c600ffff 00012345 10abcdef 11223344 beef8001 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain_ts},
    {"WRITE_MIDDLE",
     "c700ffff 00012345 00abcdef 11223344 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain},
    {"WRITE_MIDDLE_ts",
     "c700ffff 00012345 10abcdef 11223344 beef8001 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain_ts},
    {"WRITE_LAST",
     "c800ffff 00012345 00abcdef 11223344 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain},
    {"WRITE_LAST_ts",
     "c800ffff 00012345 10abcdef 11223344 beef8001 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain_ts},
    {"WRITE_LAST_IMM",
     "c900ffff 00012345 00abcdef 11223344 8899aabbccddeeff 01020304 00051000 cafef00d",
     "a0a1a2a3a4", with_imm},
    {"WRITE_LAST_IMM_ts",
     "c900ffff 00012345 10abcdef 11223344 beef8001 8899aabbccddeeff 01020304 00051000 cafef00d",
     "a0a1a2a3a4", with_imm_ts},
    {"WRITE_ONLY",
     "ca00ffff 00012345 00abcdef 11223344 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain},
    {"WRITE_ONLY_ts",
     "ca00ffff 00012345 10abcdef 11223344 beef8001 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain_ts},
    {"WRITE_ONLY_IMM",
     "cb00ffff 00012345 00abcdef 11223344 8899aabbccddeeff 01020304 00051000 cafef00d",
     "a0a1a2a3a4", with_imm},
    {"WRITE_ONLY_IMM_ts",
     "cb00ffff 00012345 10abcdef 11223344 beef8001 8899aabbccddeeff 01020304 00051000 cafef00d",
     "a0a1a2a3a4", with_imm_ts},
    {"READ_REQ",
     "cc00ffff 00012345 00abcdef 11223344 8899aabbccddeeff 01020304 00051000",
     "", plain},
    {"READ_REQ_ts",
     "cc00ffff 00012345 10abcdef 11223344 beef8001 8899aabbccddeeff 01020304 00051000",
     "", plain_ts},
    {"READ_RESP_FIRST",
     "cd00ffff 00012345 00abcdef 11223344 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain},
    {"READ_RESP_FIRST_ts",
     "cd00ffff 00012345 10abcdef 11223344 beef8001 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain_ts},
    {"READ_RESP_MIDDLE",
     "ce00ffff 00012345 00abcdef 11223344 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain},
    {"READ_RESP_MIDDLE_ts",
     "ce00ffff 00012345 10abcdef 11223344 beef8001 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain_ts},
    {"READ_RESP_LAST",
     "cf00ffff 00012345 00abcdef 11223344 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain},
    {"READ_RESP_LAST_ts",
     "cf00ffff 00012345 10abcdef 11223344 beef8001 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain_ts},
    {"READ_RESP_ONLY",
     "d000ffff 00012345 00abcdef 11223344 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain},
    {"READ_RESP_ONLY_ts",
     "d000ffff 00012345 10abcdef 11223344 beef8001 8899aabbccddeeff 01020304 00051000",
     "a0a1a2a3a4", plain_ts},
    {"ATOMIC_ACK",
     "d200ffff 00012345 00abcdef 11223344 8899aabbccddeeff 01020304 00051000 "
     "1020304050607080",
     "", atomic_ack},
    {"ATOMIC_ACK_ts",
     "d200ffff 00012345 10abcdef 11223344 beef8001 8899aabbccddeeff 01020304 00051000 "
     "1020304050607080",
     "", atomic_ack_ts},
    {"CMP_SWAP",
     "d300ffff 00012345 00abcdef 11223344 8899aabbccddeeff 01020304 00051000 "
     "1020304050607080 90a0b0c0d0e0f001",
     "", atomic},
    {"CMP_SWAP_ts",
     "d300ffff 00012345 10abcdef 11223344 beef8001 8899aabbccddeeff 01020304 00051000 "
     "1020304050607080 90a0b0c0d0e0f001",
     "", atomic_ts},
    {"FETCH_ADD",
     "d400ffff 00012345 00abcdef 11223344 8899aabbccddeeff 01020304 00051000 "
     "1020304050607080 90a0b0c0d0e0f001",
     "", atomic},
    {"FETCH_ADD_ts",
     "d400ffff 00012345 10abcdef 11223344 beef8001 8899aabbccddeeff 01020304 00051000 "
     "1020304050607080 90a0b0c0d0e0f001",
     "", atomic_ts},
    {"SEND_LAST_INV",
     "d600ffff 00012345 00abcdef 11223344 8899aabbccddeeff 01020304 00051000 cafef00d",
     "a0a1a2a3a4", with_imm},
    {"SEND_LAST_INV_ts",
     "d600ffff 00012345 10abcdef 11223344 beef8001 8899aabbccddeeff 01020304 00051000 cafef00d",
     "a0a1a2a3a4", with_imm_ts},
    {"SEND_ONLY_INV",
     "d700ffff 00012345 00abcdef 11223344 8899aabbccddeeff 01020304 00051000 cafef00d",
     "a0a1a2a3a4", with_imm},
    {"SEND_ONLY_INV_ts",
     "d700ffff 00012345 10abcdef 11223344 beef8001 8899aabbccddeeff 01020304 00051000 cafef00d",
     "a0a1a2a3a4", with_imm_ts},
    // se, pad 3, A, RTX, TS; two bytes of payload and three of padding
    {"all_flags",
     "cab0ffff 00012345 b0abcdef 11223344 01020001 8899aabbccddeeff 01020304 00051000",
     "a0a1000000", flags_set},
    {"ACK", "d100ffff 00012345 00abcdef 1f010203", "", ack},
    {"ACK_nak", "d100ffff 00012345 00abcdef 62fffefd", "", nak},
    {"EP_REQ_port_status",
     "d800ffff 00000002 00001234 00000077 800000fe 00000000 43210001", "", erth_status},
    {"EP_REQ_ev_probe",
     "d800ffff 00000002 00001234 00010000 00000000 00000000 43218001", "", erth_probe},
    {"EP_RSP_port_status",
     "d900ffff 00000002 00001234 00000000 00000000 00000000 00000000 00000000 00000000 00000000 "
     "43210000 00000000", "", eeth_status},
    {"EP_RSP_ev_probe",
     "d900ffff 00000002 00001234 00040000 00000000 00000000 00000000 00000000 00000000 00000000 "
     "87650000 00000000", "", eeth_probe},
    {"EP_RSP_ev_probe_return", // project extension
     "d900ffff 00000002 00001234 00040052 00000000 00000000 00000000 00000000 00000000 00000000 "
     "87650000 00000000", "", eeth_probe_return},
    {"EP_RSP_ev_probe_high", // the other reading
     "d900ffff 00000002 00001234 00100000 00000000 00000000 00000000 00000000 00000000 00000000 "
     "87650000 00000000", "", eeth_probe_high},
    {"SACK",
     "dc00ffff 00012345 00abcdef 00200123 c0011234 11112222 00abcdef 00200040 80000000 00000001 "
     "9abc7ffe 55fedcba", "", sack},
    {"SACK_probe_answer",
     "dc00ffff 00012345 00abcdef 0002feed c0011234 11112222 00abcdef 00200040 80000000 00000001 "
     "9abc7ffe 55fedcba", "", sack_probe_answer},
    {"SACK_negative_offsets",
     "dc00ffff 00012345 00abcdef 0040fffd c0011234 11112222 00abcdef f120ffc0 80000000 00000001 "
     "9abc7ffe fffedcba", "", sack_negative},
    {"NACK",
     "dd00ffff 00012345 00abcdef 00000a0c c0011234 11112222 00abcdef 25009abc", "", nack},
    {"PROBE", "de00ffff 00012345 00000000 00000042 feed0000 11112222 9abc8001", "", probe},
};

mrc_pkt expected(const vec &v)
{
    mrc_pkt p;
    bytes payload = unhex(v.payload);

    memset(&p, 0, sizeof(p));
    p.opcode = unhex(v.hdr)[0];
    v.fill(p);
    p.hdr_len = static_cast<u16>(unhex(v.hdr).size());
    p.payload_len = static_cast<u16>(payload.size() - p.pad);
    return p;
}

bytes whole(const vec &v)
{
    return join(unhex(v.hdr), unhex(v.payload));
}

const vec &find(const std::string &name)
{
    for (const vec &v : vectors)
        if (name == v.name)
            return v;
    abort();
}

bool is_control(const vec &v)
{
    const char *known[] = {"d1", "d8", "d9", "dc", "dd", "de"};

    return std::any_of(std::begin(known), std::end(known),
                       [&](const char *s) { return !strncmp(v.hdr, s, 2); });
}

} // namespace
