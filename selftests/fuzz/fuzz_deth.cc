// SPDX-License-Identifier: GPL-2.0
// fuzz_deth.cc - the parser of datagrams, which anybody on the network may send: nothing is
// read past the end, what is refused is what the header says, and what was parsed, built and parsed
// again is the same datagram.
#include "bytes.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

extern "C" {
#include "wire/mrc_deth.h"
}

namespace {

// Parse from a heap block of exactly this size, so that ASan sees one byte too many.
int parse(const std::vector<u8> &b, mrc_dgram *d)
{
    u8 *exact = static_cast<u8 *>(std::malloc(b.size() + 1));
    int rc;

    std::copy(b.begin(), b.end(), exact + 1);
    std::memset(d, 0xa5, sizeof(*d));
    rc = mrc_deth_parse(exact + 1, static_cast<u32>(b.size()), d);
    std::free(exact);
    return rc;
}

// The header alone says what must come of it.
int expected(const std::vector<u8> &b)
{
    if (b.size() < MRC_BTH_LEN + MRC_DETH_LEN)
        return -EMSGSIZE;
    if ((b[0] & 0x7e) != MRC_DETH_SEND_ONLY || (b[1] & 0x0f))
        return -EOPNOTSUPP;

    const size_t imm = b[0] & 1 ? MRC_IMM_LEN : 0;
    const size_t hdr = MRC_BTH_LEN + MRC_DETH_LEN + imm;

    if (b.size() < hdr || b.size() - hdr > MRC_DETH_PAYLOAD_MAX)
        return -EMSGSIZE;
    return b.size() - hdr < static_cast<size_t>(b[1] >> 4 & 3) ? -EINVAL : 0;
}

void same(const mrc_dgram &a, const mrc_dgram &b)
{
    REQUIRE(a.se == b.se && a.has_imm == b.has_imm && a.marked == b.marked && a.copy == b.copy);
    REQUIRE(a.pkey == b.pkey && a.hdr_len == b.hdr_len && a.payload_len == b.payload_len);
    REQUIRE(a.dqpn == b.dqpn && a.sqpn == b.sqpn && a.psn == b.psn);
    REQUIRE(a.qkey == b.qkey && a.imm == b.imm);
}

void one(const std::vector<u8> &b)
{
    mrc_dgram d, again;
    u8 hdr[MRC_DETH_HDR_MAX];
    const int rc = parse(b, &d);

    REQUIRE(rc == expected(b));
    if (rc)
        return;
    REQUIRE(d.hdr_len + d.payload_len + d.pad == b.size());
    REQUIRE(d.hdr_len <= MRC_DETH_HDR_MAX && d.payload_len <= MRC_DETH_PAYLOAD_MAX && d.pad < 4);
    REQUIRE(!((d.dqpn | d.sqpn | d.psn) >> 24) && (d.has_imm || !d.imm));

    // Padded as builders do: to whole words, however the other had it.
    mrc_dgram out = d;
    REQUIRE(mrc_deth_build(hdr, &out) == d.hdr_len);
    std::vector<u8> bytes(hdr, hdr + d.hdr_len);
    bytes.insert(bytes.end(), b.begin() + d.hdr_len, b.begin() + d.hdr_len + d.payload_len);
    bytes.insert(bytes.end(), out.pad, 0);
    REQUIRE((d.payload_len + out.pad) % 4 == 0);
    REQUIRE(!parse(bytes, &again));
    same(d, again);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    std::vector<u8> b(data, data + size);

    one(b);
    // The same with its first byte right, and as long as a datagram may be, or one more.
    if (size > 2) {
        b[0] = static_cast<u8>((data[0] & (1 | MRC_DETH_COPY)) | MRC_DETH_SEND_ONLY);
        b[1] &= 0xf0;
        one(b);
        b.resize(MRC_BTH_LEN + MRC_DETH_LEN + MRC_DETH_PAYLOAD_MAX + data[2] % 8);
        one(b);
    }
    return 0;
}
