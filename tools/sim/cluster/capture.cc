// SPDX-License-Identifier: GPL-2.0
// capture.cc - see capture.h.
#include "capture.h"
#include "end.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <stdexcept>

namespace sim {

namespace {

using bytes = std::vector<u8>;

constexpr u32 qpn_base = 0x1000; // of end 0: numbers below are IBTA's and the endpoints'
constexpr size_t eth = 14, ip = 40;

void put(bytes &b, u64 v, unsigned int n)
{
    while (n--)
        b.push_back(static_cast<u8>(v >> 8 * n));
}

void put_le(bytes &b, u64 v, unsigned int n)
{
    for (unsigned int i = 0; i < n; i++)
        b.push_back(static_cast<u8>(v >> 8 * i));
}

u32 crc32(u32 crc, const u8 *p, size_t n)
{
    static const std::array<u32, 256> table = [] {
        std::array<u32, 256> t;

        for (u32 i = 0; i < 256; i++) {
            u32 c = i;

            for (int k = 0; k < 8; k++)
                c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
            t[i] = c;
        }
        return t;
    }();

    while (n--)
        crc = table[(crc ^ *p++) & 0xff] ^ crc >> 8;
    return crc;
}

// IBTA A17.3.3: what changes on the way counts as ones.
u32 icrc_of(const bytes &frame)
{
    bytes head(8, 0xff);

    head.insert(head.end(), frame.begin() + eth, frame.begin() + eth + ip + 8 + MRC_BTH_LEN);
    head[8] |= 0x0f;
    for (size_t i : {size_t{9}, size_t{10}, size_t{11}, size_t{15}, 8 + ip + 6, 8 + ip + 7, 8 + ip + 8 + 4})
        head[i] = 0xff;
    u32 crc = crc32(~0u, head.data(), head.size());
    size_t at = eth + ip + 8 + MRC_BTH_LEN;

    return ~crc32(crc, frame.data() + at, frame.size() - at);
}

u8 dscp_of(u8 tclass)
{
    switch (tclass) {
    case MRC_TC_DATA: return 8;
    case MRC_TC_RTX: return 12;
    case MRC_TC_CONTROL: return 46;
    default: return 10;
    }
}

void put_address(bytes &b, u32 host)
{
    put(b, 0xfd006d7200630000, 8);
    put(b, host + 1, 8);
}

void put_mac(bytes &b, u32 host, u8 plane)
{
    put(b, 0x0200u | plane, 2);
    put(b, host + 1, 4);
}

bytes frame_of(const mrc_txop &op, const mrc_pkt &hdr, u32 from, u32 to)
{
    u8 head[MRC_HDR_MAX];
    int n = mrc_wire_build(head, sizeof(head), &hdr);
    bool data = mrc_opc_is_data(hdr.opcode);
    size_t payload = data ? op.len + hdr.pad : 0;
    bytes b;

    if (n < 0)
        throw std::runtime_error("a packet of opcode " + std::to_string(hdr.opcode) + " cannot be encoded");
    size_t udp = 8 + static_cast<size_t>(n) + payload + MRC_ICRC_LEN;
    u32 ds = static_cast<u32>(dscp_of(op.tclass)) << 2 | (data || hdr.opcode == MRC_OPC_PROBE ? 2 : 0);

    put_mac(b, to, hdr.plane);
    put_mac(b, from, hdr.plane);
    put(b, 0x86dd, 2);
    put(b, 6u << 28 | ds << 20 | (hdr.ev & 0xffff), 4);
    put(b, udp, 2);
    put(b, 17 << 8 | 64, 2);
    put_address(b, from);
    put_address(b, to);
    put(b, hdr.ev >> 16, 2);
    put(b, 4791, 2);
    put(b, udp, 2);
    put(b, 0, 2);
    b.insert(b.end(), head, head + n);
    b.resize(b.size() + payload);
    put_le(b, icrc_of(b), 4);
    return b;
}

std::string comment_of(const end &e, const mrc_pkt &hdr)
{
    static const char *const states[] = {"GOOD", "SKIP", "ASSUMED_BAD", "DENIED"};
    std::string text;

    if (e.foreign)
        return "a foreign peer's";
    for (u16 i = 0; i < mrc_evset_n(e.evs); i++)
        if (e.evs->ev[i].value == hdr.ev && e.evs->ev[i].plane == hdr.plane) {
            text = std::string("EV ") + states[e.evs->ev[i].state] + ", ";
            break;
        }
    return text + "window " + std::to_string(mrc_cc_cwnd_bytes(e.cc)) + " B, in flight " +
           std::to_string(mrc_cc_inflight_bytes(e.cc)) + " B";
}

u32 qpn(u32 id) { return (qpn_base + id) & 0xffffff; }

// Numbers of QPs are those of ends: the cluster's packets have none.
mrc_pkt named(const mrc_txop &op, u32 id)
{
    mrc_pkt h = op.hdr;
    u16 own = static_cast<u16>(qpn(id)), peer = static_cast<u16>(qpn(id ^ 1));

    h.pkey = 0xffff;
    h.dqpn = h.opcode == MRC_OPC_EP_REQ || h.opcode == MRC_OPC_EP_RSP ? MRC_QPN_ENDPOINT : qpn(id ^ 1);
    if (h.opcode == MRC_OPC_SACK) {
        h.u.sack.spdcid = own;
        h.u.sack.dpdcid = peer;
    } else if (h.opcode == MRC_OPC_NACK) {
        h.u.nack.spdcid = own;
        h.u.nack.dpdcid = peer;
    } else if (h.opcode == MRC_OPC_PROBE) {
        h.u.probe.spdcid = own;
        h.u.probe.dpdcid = peer;
    } else if (mrc_opc_is_data(h.opcode)) {
        h.pad = static_cast<u8>(-op.len & 3);
    }
    return h;
}

void put_option(bytes &b, u16 code, const std::string &text)
{
    put_le(b, code, 2);
    put_le(b, text.size(), 2);
    b.insert(b.end(), text.begin(), text.end());
    b.resize((b.size() + 3) & ~size_t{3});
}

void put_block(std::ofstream &out, u32 kind, bytes body)
{
    bytes b;

    body.resize((body.size() + 3) & ~size_t{3});
    put_le(b, kind, 4);
    put_le(b, body.size() + 12, 4);
    b.insert(b.end(), body.begin(), body.end());
    put_le(b, body.size() + 12, 4);
    out.write(reinterpret_cast<const char *>(b.data()), static_cast<std::streamsize>(b.size()));
}

void put_interface(std::ofstream &out, u32 host, u8 plane)
{
    std::string name("h");
    bytes b;

    name += std::to_string(host + 1) + "-eth" + std::to_string(plane + 1);
    put_le(b, 1, 4); // Ethernet
    put_le(b, 0, 4);
    put_option(b, 2, name);
    put_option(b, 9, std::string(1, 9)); // nanoseconds
    put_le(b, 0, 4);
    put_block(out, 1, b);
}

} // namespace

void capture::note(u64 t, const end &e, u32 to_host, const mrc_txop &op)
{
    if (records_.size() >= most_)
        return;
    mrc_pkt hdr = named(op, e.id);
    records_.push_back({t, e.host, hdr.plane, frame_of(op, hdr, e.host, to_host), comment_of(e, hdr)});
}

void capture::write(const std::string &path)
{
    std::ofstream out(path, std::ios::binary);
    std::map<std::pair<u32, u8>, u32> interfaces;
    bytes b;

    std::stable_sort(records_.begin(), records_.end(), [](const record &x, const record &y) { return x.t < y.t; });
    put_le(b, 0x1a2b3c4d, 4);
    put_le(b, 1, 4); // version 1.0
    put_le(b, ~0ull, 8);
    put_block(out, 0x0a0d0d0a, b);
    for (const record &r : records_) {
        auto [at, fresh] = interfaces.try_emplace({r.host, r.plane}, static_cast<u32>(interfaces.size()));
        u64 ns = r.t / ps_per_ns;

        if (fresh)
            put_interface(out, r.host, r.plane);
        b.clear();
        put_le(b, at->second, 4);
        put_le(b, ns >> 32, 4);
        put_le(b, ns & 0xffffffff, 4);
        put_le(b, r.frame.size(), 4);
        put_le(b, r.frame.size(), 4);
        b.insert(b.end(), r.frame.begin(), r.frame.end());
        b.resize((b.size() + 3) & ~size_t{3});
        put_option(b, 1, r.comment);
        put_le(b, 0, 4);
        put_block(out, 6, b);
    }
    if (!out.flush())
        throw std::runtime_error(path + ": cannot be written");
}

} // namespace sim
