// SPDX-License-Identifier: GPL-2.0
// fuzz_wire.cc - the wire parser: nothing is read past the end, and what was
// parsed, built and parsed again is the same packet, whole and trimmed.
#include "bytes.h"

#include <algorithm>
#include <cstring>
#include <vector>

extern "C" {
#include "wire/mrc_wire.h"
}

namespace {

// Parse from a heap block of exactly this size, so that ASan sees one byte too many.
int parse(const std::vector<u8> &b, u8 trimmed, mrc_pkt *p)
{
    u8 *exact = static_cast<u8 *>(std::malloc(b.size() + 1));
    int rc;

    // malloc(0) may be NULL; the packet starts one in, and ends at the end.
    std::copy(b.begin(), b.end(), exact + 1);
    std::memset(p, 0xa5, sizeof(*p));
    rc = mrc_wire_parse(exact + 1, static_cast<u32>(b.size()), trimmed, p);
    std::free(exact);
    return rc;
}

// Field by field by way of the bytes: padding of the structs is nobody's business.
void same(const mrc_pkt &a, const mrc_pkt &b)
{
    u8 x[MRC_HDR_MAX] = {}, y[MRC_HDR_MAX] = {};
    int n = mrc_wire_build(x, sizeof(x), &a);

    REQUIRE(n > 0 && n == mrc_wire_build(y, sizeof(y), &b));
    REQUIRE(!std::memcmp(x, y, static_cast<size_t>(n)));
    REQUIRE(a.hdr_len == b.hdr_len && a.payload_len == b.payload_len && a.pad == b.pad);
}

void whole(const std::vector<u8> &b)
{
    mrc_pkt p, q;
    u8 hdr[MRC_HDR_MAX];

    if (parse(b, 0, &p))
        return;
    REQUIRE(p.hdr_len + p.payload_len + p.pad == b.size());
    REQUIRE(p.hdr_len == mrc_wire_hdr_len(p.opcode, p.has_ts));
    REQUIRE(!(p.psn >> 24) && !(p.dqpn >> 24) && p.trimmed == 0);
    REQUIRE(mrc_wire_build(hdr, sizeof(hdr), &p) == p.hdr_len);
    REQUIRE(mrc_wire_build(hdr, p.hdr_len, &p) == p.hdr_len);
    REQUIRE(mrc_wire_build(hdr, p.hdr_len - 1u, &p) == -EMSGSIZE);

    std::vector<u8> again(hdr, hdr + p.hdr_len);
    again.insert(again.end(), b.begin() + p.hdr_len, b.end());
    REQUIRE(!parse(again, 0, &q));
    same(p, q);
}

// A trimmed packet is a data packet cut anywhere behind BTH.
void trimmed(const std::vector<u8> &b, u8 how)
{
    mrc_pkt p, q;

    if (parse(b, how, &p))
        return;
    REQUIRE(mrc_opc_is_data(p.opcode) && p.trimmed == how);
    REQUIRE(p.hdr_len <= b.size() && p.payload_len == 0);
    REQUIRE(!p.va && !p.rkey && !p.dmalen && !p.imm && !p.swap_add);
    // What follows does not matter.
    std::vector<u8> longer = b;
    longer.resize(p.hdr_len);
    REQUIRE(!parse(longer, how, &q));
    REQUIRE(p.psn == q.psn && p.rqmsn == q.rqmsn && p.msn == q.msn);
    REQUIRE(p.has_ts == q.has_ts && p.tx_ts == q.tx_ts && p.tsr == q.tsr);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    // First byte: which way; the packet follows as it is, so that captures are seeds.
    if (!size)
        return 0;
    std::vector<u8> b(data + 1, data + size);

    switch (data[0] & 3) {
    case 0:
        trimmed(b, MRC_NACK_TRIMMED);
        break;
    case 1:
        trimmed(b, MRC_NACK_TRIMMED_LASTHOP);
        break;
    default:
        whole(b);
        break;
    }
    return 0;
}
