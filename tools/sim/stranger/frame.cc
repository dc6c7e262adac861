// SPDX-License-Identifier: GPL-2.0
// frame.cc - see frame.h.
#include "frame.h"

#include <algorithm>
#include <arpa/inet.h>

namespace sim::stranger {

namespace {

constexpr size_t eth = 14, ip6_len = 40, srh_len = 24, udp_hdr = 8, icrc_len = 4;
constexpr u8 in_ip4 = 4, in_udp = 17, in_ip6 = 41, in_routing = 43;

size_t ip_len(bool v6) { return v6 ? ip6_len : 20; }

void put(bytes &b, u64 v, unsigned int n)
{
    while (n--)
        b.push_back(static_cast<u8>(v >> 8 * n));
}

u32 get(const bytes &b, size_t at, unsigned int n)
{
    u32 v = 0;

    while (n--)
        v = v << 8 | b[at++];
    return v;
}

u32 crc32(const bytes &b)
{
    u32 crc = ~0u;

    for (u8 byte : b) {
        crc ^= byte;
        for (int i = 0; i < 8; i++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

// Of an IP packet without its ICRC; what changes on the way counts as ones.
u32 icrc(const bytes &ip, bool v6)
{
    bytes b(8, 0xff);
    size_t udp = 8 + ip_len(v6);

    b.insert(b.end(), ip.begin(), ip.end());
    if (v6) {
        b[8] |= 0x0f;
        b[9] = b[10] = b[11] = b[15] = 0xff;
    } else {
        b[9] = b[16] = b[18] = b[19] = 0xff;
    }
    b[udp + 6] = b[udp + 7] = b[udp + udp_hdr + 4] = 0xff;
    return crc32(b);
}

void put_address(bytes &b, const host &h)
{
    b.insert(b.end(), h.ip.begin() + (h.v6 ? 0 : 12), h.ip.end());
}

void put_ip(bytes &b, const host &from, const host &to, const envelope &e, size_t length)
{
    u32 ds = static_cast<u32>(e.dscp) << 2 | e.ecn, sum = 0;
    size_t at = b.size();

    if (from.v6) {
        put(b, 6u << 28 | ds << 20 | (e.ev & 0xffff), 4);
        put(b, length, 2);
        put(b, 17 << 8 | 64, 2);
    } else {
        put(b, 0x45 << 8 | ds, 2);
        put(b, 20 + length, 2);
        put(b, 0x4000, 4); // id 0, do not fragment
        put(b, 64 << 8 | 17, 2);
        put(b, 0, 2);
    }
    put_address(b, from);
    put_address(b, to);
    if (from.v6)
        return;
    for (size_t i = at; i < b.size(); i += 2)
        sum += get(b, i, 2);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = ~(sum + (sum >> 16));
    b[at + 10] = static_cast<u8>(sum >> 8);
    b[at + 11] = static_cast<u8>(sum);
}

void put_outer(bytes &b, const tunnel &t, const envelope &e, bool v6, size_t length)
{
    u8 proto = v6 ? in_ip6 : in_ip4;

    put(b, 6u << 28 | (static_cast<u32>(e.dscp) << 2 | e.ecn) << 20 | (v6 ? e.ev & 0xffff : 0), 4);
    put(b, length + (t.srh ? srh_len : 0), 2);
    put(b, static_cast<u64>(t.srh ? in_routing : proto) << 8 | 64, 2);
    b.insert(b.end(), t.locator.begin(), t.locator.end());
    b.insert(b.end(), t.destination.begin(), t.destination.end());
    if (!t.srh)
        return;
    put(b, static_cast<u64>(proto) << 24 | 2 << 16 | 4 << 8 | 1, 4); // two words, type 4, one segment left
    put(b, 0, 4);
    b.insert(b.end(), t.segment.begin(), t.segment.end());
}

// Where the inner header is; 0: none of this family, or not for the locator.
size_t inside(const bytes &frame, bool v6, const tunnel &t)
{
    size_t at = eth + ip6_len;

    if (frame.size() < at + srh_len || !std::equal(t.locator.begin(), t.locator.end(), frame.begin() + eth + 24))
        return 0;
    u8 proto = frame[eth + 6];
    if (proto == in_routing) {
        proto = frame[at];
        at += srh_len;
    }
    return proto == (v6 ? in_ip6 : in_ip4) ? at : 0;
}

} // namespace

bool parse_host(const std::string &text, host *h)
{
    h->v6 = text.find(':') != std::string::npos;
    h->ip = {};
    return inet_pton(h->v6 ? AF_INET6 : AF_INET, text.c_str(), h->ip.data() + (h->v6 ? 0 : 12)) == 1;
}

bool parse_tunnel(const std::string &locator, const std::string &way, tunnel *t)
{
    size_t comma = way.find(',');
    host at, to, segment;

    t->used = true;
    t->srh = comma != std::string::npos;
    if (!parse_host(locator, &at) || !parse_host(way.substr(0, comma), &to) || !at.v6 || !to.v6)
        return false;
    if (t->srh && (!parse_host(way.substr(comma + 1), &segment) || !segment.v6))
        return false;
    t->locator = at.ip;
    t->destination = to.ip;
    t->segment = segment.ip;
    return true;
}

bytes seal(const host &from, const host &to, const tunnel &t, const envelope &e, const bytes &body)
{
    size_t length = udp_hdr + body.size() + icrc_len;
    bytes ip, frame(12, 0);

    put_ip(ip, from, to, e, length);
    put(ip, e.ev >> 16, 2);
    put(ip, e.port, 2);
    put(ip, length, 2);
    put(ip, 0, 2);
    ip.insert(ip.end(), body.begin(), body.end());
    u32 crc = icrc(ip, from.v6);
    for (int i = 0; i < 4; i++)
        ip.push_back(static_cast<u8>(crc >> 8 * i));
    put(frame, from.v6 || t.used ? 0x86dd : 0x0800, 2);
    if (t.used)
        put_outer(frame, t, e, from.v6, ip.size());
    frame.insert(frame.end(), ip.begin(), ip.end());
    return frame;
}

bool open(const bytes &frame, bool v6, const tunnel &t, envelope *e, bytes *body)
{
    size_t at = t.used ? inside(frame, v6, t) : eth, udp = at + ip_len(v6);

    if (!at || frame.size() < udp + udp_hdr + icrc_len || get(frame, 12, 2) != (v6 || t.used ? 0x86ddu : 0x0800u) ||
        frame[at + (v6 ? 6 : 9)] != in_udp)
        return false;
    // Switches mark and trim the outermost header.
    u32 ds = v6 || t.used ? get(frame, eth, 2) >> 4 & 0xff : frame[eth + 1];
    e->dscp = static_cast<u8>(ds >> 2);
    e->ecn = ds & 3;
    e->ev = get(frame, udp, 2) << 16 | (v6 ? get(frame, at + 2, 2) : 0);
    e->port = static_cast<u16>(get(frame, udp + 2, 2));
    e->udp_len = get(frame, udp + 4, 2);
    e->src = {};
    std::copy_n(frame.begin() + static_cast<long>(at) + (v6 ? 8 : 12), v6 ? 16 : 4, e->src.begin() + (v6 ? 0 : 12));
    e->trimmed = e->udp_len > frame.size() - udp;
    body->assign(frame.begin() + static_cast<long>(udp + udp_hdr), frame.end() - (e->trimmed ? 0 : icrc_len));
    if (e->trimmed)
        return true;
    bytes ip(frame.begin() + static_cast<long>(at), frame.end() - icrc_len);
    u32 crc = 0;
    for (size_t i = 0; i < icrc_len; i++)
        crc |= static_cast<u32>(frame[frame.size() - icrc_len + i]) << 8 * i;
    return icrc(ip, v6) == crc;
}

} // namespace sim::stranger
