// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_deth.cc - datagrams: bytes as RoCEv2 has them, and nothing believed.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" {
#include "wire/mrc_deth.h"
}

#include <gtest/gtest.h>

namespace {

using Bytes = std::vector<u8>;

// What a connection manager sends: QP 1 to QP 1, 256 bytes, all written by hand.
const Bytes kMad = {
    0x64, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0x01, 0x00, 0x12, 0x34, 0x56,
    0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
};

int parse(const Bytes &b, mrc_dgram *d)
{
    const Bytes exact(b); // a block of its own: ASan sees what is read beyond

    return mrc_deth_parse(exact.data(), static_cast<u32>(exact.size()), d);
}

TEST(deth, a_management_packet_byte_for_byte)
{
    mrc_dgram d = {}, back;
    Bytes b(MRC_DETH_HDR_MAX);

    d.pkey = 0xffff;
    d.dqpn = MRC_QPN_GSI;
    d.sqpn = MRC_QPN_GSI;
    d.psn = 0x123456;
    d.qkey = 0x80010000;
    d.payload_len = 256;
    ASSERT_EQ(mrc_deth_build(b.data(), &d), kMad.size());
    b.resize(kMad.size());
    EXPECT_EQ(b, kMad);
    b.resize(b.size() + 256);
    ASSERT_EQ(parse(b, &back), 0);
    EXPECT_EQ(back.qkey, 0x80010000u);
    EXPECT_EQ(back.sqpn, 1u);
    EXPECT_EQ(back.dqpn, 1u);
    EXPECT_EQ(back.psn, 0x123456u);
    EXPECT_EQ(back.pkey, 0xffff);
    EXPECT_EQ(back.payload_len, 256);
    EXPECT_FALSE(back.marked);
    EXPECT_FALSE(back.has_imm);
    EXPECT_FALSE(back.se);
}

TEST(deth, the_mark_is_the_reserved_byte_and_no_part_of_the_number)
{
    mrc_dgram d = {}, back;
    Bytes b(MRC_DETH_HDR_MAX);

    d.marked = true;
    d.sqpn = 0xabcdef;
    b.resize(mrc_deth_build(b.data(), &d));
    EXPECT_EQ(b[16], MRC_DETH_MARK);
    ASSERT_EQ(parse(b, &back), 0);
    EXPECT_TRUE(back.marked);
    EXPECT_EQ(back.sqpn, 0xabcdefu);
    b[16] = 0x01; // somebody else's use of it
    ASSERT_EQ(parse(b, &back), 0);
    EXPECT_FALSE(back.marked);
    EXPECT_EQ(back.sqpn, 0xabcdefu);
}

TEST(deth, a_copy_differs_by_one_bit_and_is_alike_again)
{
    for (bool imm : {false, true}) {
        mrc_dgram d = {}, back;
        Bytes b(MRC_DETH_HDR_MAX), copy;

        d.marked = true;
        d.has_imm = imm;
        d.psn = 0xabcdef;
        d.dqpn = 0x123456;
        b.resize(mrc_deth_build(b.data(), &d));
        copy = b;
        mrc_deth_make_copy(copy.data());
        EXPECT_EQ(copy[0], imm ? 0xe5 : 0xe4);
        ASSERT_EQ(parse(copy, &back), 0);
        EXPECT_TRUE(back.copy && back.marked);
        EXPECT_EQ(back.has_imm, imm);
        EXPECT_EQ(back.psn, 0xabcdefu);
        Bytes built(MRC_DETH_HDR_MAX);
        built.resize(mrc_deth_build(built.data(), &back));
        EXPECT_EQ(built, copy);
        copy[4] = 0xc0; // a switch marked it
        mrc_deth_alike(copy.data());
        EXPECT_EQ(copy, b);
        ASSERT_EQ(parse(b, &back), 0);
        EXPECT_FALSE(back.copy);
        mrc_deth_alike(b.data());
        EXPECT_EQ(copy, b);
    }
}

TEST(deth, only_datagrams_have_copies)
{
    mrc_dgram d;
    Bytes b = kMad;

    for (int opcode = 0; opcode < 256; opcode++) {
        b[0] = static_cast<u8>(opcode);
        EXPECT_EQ(!parse(b, &d), opcode == 0x64 || opcode == 0xe4) << opcode;
    }
}

TEST(deth, every_length_comes_back_padded_to_words)
{
    for (u32 len = 0; len <= 64; len++) {
        mrc_dgram d = {}, back;
        Bytes b(MRC_DETH_HDR_MAX);

        d.payload_len = static_cast<u16>(len);
        d.has_imm = len % 2;
        d.imm = 0x11223344;
        d.se = len % 3 == 0;
        b.resize(mrc_deth_build(b.data(), &d));
        b.resize(b.size() + len + d.pad);
        EXPECT_EQ(b.size() % 4, 0u);
        ASSERT_EQ(parse(b, &back), 0) << len;
        EXPECT_EQ(back.payload_len, len);
        EXPECT_EQ(back.pad, d.pad);
        EXPECT_EQ(back.hdr_len, d.hdr_len);
        EXPECT_EQ(back.has_imm, d.has_imm);
        EXPECT_EQ(back.se, d.se);
        EXPECT_EQ(back.imm, d.has_imm ? 0x11223344u : 0u);
    }
}

TEST(deth, what_is_no_datagram_is_refused)
{
    mrc_dgram d;
    Bytes b = kMad;

    for (size_t n = 0; n < kMad.size(); n++)
        EXPECT_EQ(parse(Bytes(kMad.begin(), kMad.begin() + static_cast<long>(n)), &d), -EMSGSIZE);
    b[0] = 0x65; // with an immediate, which is not there
    EXPECT_EQ(parse(b, &d), -EMSGSIZE);
    b[0] = MRC_OPC_SEND_ONLY;
    EXPECT_EQ(parse(b, &d), -EOPNOTSUPP);
    b[0] = 0x04; // SEND ONLY of a reliable connection
    EXPECT_EQ(parse(b, &d), -EOPNOTSUPP);
    b = kMad;
    b[1] = 0x01; // another version
    EXPECT_EQ(parse(b, &d), -EOPNOTSUPP);
    b[1] = 0x30; // pad, and no payload
    EXPECT_EQ(parse(b, &d), -EINVAL);
    b[1] = 0;
    b.resize(kMad.size() + MRC_DETH_PAYLOAD_MAX);
    EXPECT_EQ(parse(b, &d), 0);
    b.push_back(0);
    EXPECT_EQ(parse(b, &d), -EMSGSIZE);
}

TEST(deth, a_high_bit_in_a_request_means_the_key_of_the_qp)
{
    EXPECT_EQ(mrc_deth_qkey(0x11111111, 0x22222222), 0x11111111u);
    EXPECT_EQ(mrc_deth_qkey(0x80010000, 0x22222222), 0x22222222u);
    EXPECT_EQ(mrc_deth_qkey(0x80010000, 0x80010000), 0x80010000u);
}

} // namespace
