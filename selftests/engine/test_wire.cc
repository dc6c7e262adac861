// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_wire.cc - the codec against the vectors, cut and altered, and noise.
#include "wire_vectors.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>

namespace {

class wire_vector : public testing::TestWithParam<vec> {};

TEST_P(wire_vector, parse_gives_the_struct)
{
    mrc_pkt p;

    ASSERT_EQ(parse(whole(GetParam()), 0, &p), 0);
    EXPECT_EQ(show(p), show(expected(GetParam())));
}

TEST_P(wire_vector, build_gives_the_bytes)
{
    bytes want = unhex(GetParam().hdr), got;
    u32 n = static_cast<u32>(want.size());

    ASSERT_EQ(build(expected(GetParam()), n, &got), static_cast<int>(n));
    EXPECT_EQ(hex(got), hex(want));
    EXPECT_EQ(build(expected(GetParam()), n - 1, &got), -EMSGSIZE);
    EXPECT_EQ(build(expected(GetParam()), 0, &got), -EMSGSIZE);
    EXPECT_LE(n, u32{MRC_HDR_MAX});
}

TEST_P(wire_vector, hdr_len)
{
    bytes want = unhex(GetParam().hdr);
    bool ts = expected(GetParam()).has_ts;

    EXPECT_EQ(mrc_wire_hdr_len(want[0], ts), want.size());
    EXPECT_EQ(mrc_wire_hdr_len(want[0], !ts),
              is_control(GetParam()) ? want.size() : ts ? want.size() - 4 : want.size() + 4);
}

TEST_P(wire_vector, truncated_at_every_length)
{
    bytes all = unhex(GetParam().hdr);
    mrc_pkt p;

    for (size_t n = 0; n < all.size(); n++)
        EXPECT_EQ(parse(cut(all, n), 0, &p), -EMSGSIZE) << n;
}

TEST_P(wire_vector, one_byte_too_long)
{
    bool fixed = !*GetParam().payload;
    mrc_pkt p;

    EXPECT_EQ(parse(join(whole(GetParam()), {0}), 0, &p), fixed ? -EMSGSIZE : 0);
}

TEST_P(wire_vector, payload_may_be_empty_but_not_less_than_pad)
{
    bytes all = unhex(GetParam().hdr);
    int pad = expected(GetParam()).pad;
    mrc_pkt p;

    EXPECT_EQ(parse(all, 0, &p), pad ? -EINVAL : 0);
    all[1] |= 0x10;
    EXPECT_EQ(parse(all, 0, &p), -EINVAL);
}

TEST_P(wire_vector, other_transport_versions)
{
    mrc_pkt p;

    for (u8 tver = 1; tver < 16; tver++) {
        bytes all = whole(GetParam());

        all[1] = static_cast<u8>(all[1] | tver);
        EXPECT_EQ(parse(all, 0, &p), -EOPNOTSUPP) << tver;
        EXPECT_EQ(parse(all, MRC_NACK_TRIMMED, &p), -EOPNOTSUPP) << tver;
    }
}

// Trimming may leave any length; what survived is filled in, the rest is zero.
TEST_P(wire_vector, trimmed_at_every_length)
{
    bytes all = whole(GetParam());
    mrc_pkt full = expected(GetParam());

    for (size_t n = 0; n <= all.size(); n++) {
        mrc_pkt p, want;
        int rc = parse(cut(all, n), MRC_NACK_TRIMMED_LASTHOP, &p);

        if (n < 12 || is_control(GetParam())) {
            EXPECT_EQ(rc, n < 12 ? -EMSGSIZE : -EINVAL) << n;
            continue;
        }
        memset(&want, 0, sizeof(want));
        want.opcode = full.opcode;
        want.se = full.se;
        want.pad = full.pad;
        want.ackreq = full.ackreq;
        want.rtx = full.rtx;
        bth(want);
        want.trimmed = MRC_NACK_TRIMMED_LASTHOP;
        want.hdr_len = 12;
        if (n >= 16) {
            want.rqmsn = full.rqmsn;
            want.msn = full.msn;
            want.hdr_len = 16;
        }
        if (n >= 20 && full.has_ts) {
            want.has_ts = true;
            want.tx_ts = full.tx_ts;
            want.tsr = full.tsr;
            want.hdr_len = 20;
        }
        EXPECT_EQ(rc, 0) << n;
        EXPECT_EQ(show(p), show(want)) << n;
    }
}

INSTANTIATE_TEST_SUITE_P(all, wire_vector, testing::ValuesIn(vectors),
                         [](const auto &i) { return std::string(i.param.name); });

// ---- opcodes

const bytes known = unhex("c0c1c2c3c4c5 c6c7c8c9cacb cc cdcecfd0 d1 d2d3d4 d6d7 d8d9 dcddde");

bool in(const char *set, unsigned op)
{
    bytes b = unhex(set);

    return std::find(b.begin(), b.end(), op) != b.end();
}

TEST(wire_opcode, every_known_one_has_a_vector)
{
    for (u8 op : known)
        EXPECT_TRUE(std::any_of(std::begin(vectors), std::end(vectors), [&](const vec &v) {
            return unhex(v.hdr)[0] == op;
        })) << unsigned{op};
}

TEST(wire_opcode, unknown_are_refused)
{
    for (unsigned op = 0; op < 256; op++) {
        bytes all(100), out;
        mrc_pkt p;

        if (std::find(known.begin(), known.end(), op) != known.end())
            continue;
        all[0] = static_cast<u8>(op);
        EXPECT_EQ(parse(all, 0, &p), -EOPNOTSUPP) << op;
        EXPECT_EQ(parse(all, MRC_NACK_TRIMMED, &p), -EOPNOTSUPP) << op;
        memset(&p, 0, sizeof(p));
        p.opcode = static_cast<u8>(op);
        EXPECT_EQ(build(p, 100, &out), -EOPNOTSUPP) << op;
        EXPECT_EQ(mrc_wire_hdr_len(p.opcode, false), 0u) << op;
        EXPECT_EQ(mrc_wire_hdr_len(p.opcode, true), 0u) << op;
    }
}

TEST(wire_opcode, facts)
{
    for (unsigned i = 0; i < 256; i++) {
        u8 op = static_cast<u8>(i);

        EXPECT_EQ(mrc_opc_is_data(op), in("c0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0 d2d3d4 d6d7", i));
        EXPECT_EQ(mrc_opc_is_first(op), in("c0c4c5 c6cacb cc cdd0 d2d3d4 d7", i)) << i;
        EXPECT_EQ(mrc_opc_is_last(op), in("c2c3c4c5 c8c9cacb cc cfd0 d2d3d4 d6d7", i)) << i;
        EXPECT_EQ(mrc_opc_has_imm(op), in("c3c5c9cb", i)) << i;
        EXPECT_EQ(mrc_opc_is_send(op), in("c0c1c2c3c4c5d6d7", i)) << i;
        EXPECT_EQ(mrc_opc_is_write(op), in("c6c7c8c9cacb", i)) << i;
        EXPECT_EQ(mrc_opc_is_read_resp(op), in("cdcecfd0", i)) << i;
        EXPECT_EQ(mrc_opc_consumes_recv(op), in("c0c1c2c3c4c5d6d7 c9cb", i)) << i;
    }
}

// ---- corners

TEST(wire_field, pad_is_not_payload)
{
    for (unsigned pad = 0; pad < 4; pad++) {
        for (unsigned n = 0; n < 9; n++) {
            bytes all = join(unhex(find("WRITE_ONLY").hdr), bytes(n));
            mrc_pkt p;

            all[1] = static_cast<u8>(pad << 4);
            ASSERT_EQ(parse(all, 0, &p), n < pad ? -EINVAL : 0);
            if (n < pad)
                continue;
            EXPECT_EQ(p.pad, pad);
            EXPECT_EQ(p.payload_len, n - pad);
        }
    }
}

TEST(wire_field, length_beyond_a_datagram)
{
    bytes hdr = unhex(find("WRITE_ONLY").hdr);
    mrc_pkt p;

    EXPECT_EQ(parse(join(hdr, bytes(0xffff - hdr.size())), 0, &p), 0);
    EXPECT_EQ(p.payload_len, 0xffff - hdr.size());
    EXPECT_EQ(parse(join(hdr, bytes(0x10000 - hdr.size())), 0, &p), -EMSGSIZE);
}

TEST(wire_field, reserved_bits_are_ignored)
{
    bytes all = whole(find("SEND_ONLY_ts"));
    mrc_pkt p;

    all[1] |= 0x40;  // M
    all[4] = 0xff;
    all[8] |= 0x4f;  // R and the low four
    all[18] |= 0x7f; // TSETH
    all[19] = 0xf0;  // ftype 0
    ASSERT_EQ(parse(all, 0, &p), 0);
    EXPECT_EQ(show(p), show(expected(find("SEND_ONLY_ts"))));
}

TEST(wire_field, ts_bit_means_nothing_in_control_packets)
{
    for (const vec &v : vectors) {
        bytes all = whole(v), out;
        mrc_pkt p;

        if (!is_control(v))
            continue;
        all[8] |= 0x10;
        ASSERT_EQ(parse(all, 0, &p), 0) << v.name;
        EXPECT_EQ(show(p), show(expected(v)));
        p.has_ts = true;
        ASSERT_GT(build(p, 100, &out), 0);
        EXPECT_EQ(hex(out), hex(whole(v)));
    }
}

TEST(wire_field, impossible_values)
{
    bytes s = whole(find("SACK")), req = whole(find("EP_REQ_ev_probe")),
          rsp = whole(find("EP_RSP_ev_probe"));
    mrc_pkt p;

    s[13] = 0x60; // m = 3
    EXPECT_EQ(parse(s, 0, &p), -EINVAL);
    for (unsigned op = 2; op < 4; op++) {
        req[13] = static_cast<u8>(op);
        EXPECT_EQ(parse(req, 0, &p), -EINVAL);
        rsp[13] = static_cast<u8>(op << 2);
        EXPECT_EQ(parse(rsp, 0, &p), -EINVAL);
    }
}

TEST(wire_field, op_of_a_response_is_in_either_place)
{
    bytes all = whole(find("EP_RSP_port_status"));
    mrc_pkt p;

    for (auto [byte1, op, high] : {std::tuple{0x00, 0, false}, {0x04, 1, false}, {0x10, 1, true}, {0x14, 1, false},
                                   {0x20, 0, false}, {0x30, 0, false}}) {
        all[13] = static_cast<u8>(byte1);
        ASSERT_EQ(parse(all, 0, &p), 0) << byte1;
        EXPECT_EQ(p.u.ep.op, op) << byte1;
        EXPECT_EQ(p.u.ep.op_high, high) << byte1;
    }
}

TEST(wire_field, too_wide_is_an_assertion)
{
    mrc_pkt p = expected(find("WRITE_ONLY"));
    bytes out;

    p.psn = 0x1000000;
    EXPECT_DEATH(build(p, 100, &out), "engine assertion");
}

// ---- any bytes

// Bits that mean something, from the tables; ftype is constant, TVer must be 0.
bytes meaning(const mrc_pkt &p)
{
    bytes m = unhex("ffb0ffff 00ffffff b0ffffff");

    switch (p.opcode) {
    case 0xd1:
        m = join(m, unhex("ffffffff"));
        break;
    case 0xd8:
        m = join(m, unhex("000300ff ffffffff 00000000 ffff8000"));
        break;
    case 0xd9:
        m = join(m, unhex(p.u.ep.op_high ? "00300000" : "000c0000"));
        m = join(m, unhex("00000000 00000000 00000000 00000000 00000000 00000000 "
                          "ffff0000 00000000"));
        break;
    case 0xdc:
        m = join(m, unhex("0062ffff ffffffff ffffffff 00ffffff ffffffff ffffffff ffffffff "
                          "ffff7fff ffffffff"));
        break;
    case 0xdd:
        m = join(m, unhex("0000ffff ffffffff ffffffff 00ffffff ff00ffff"));
        break;
    case 0xde:
        m = join(m, unhex("000000ff ffff0000 ffffffff ffff8000"));
        break;
    default:
        m = join(m, unhex("ffffffff"));
        m = join(m, p.has_ts ? unhex("ffff8000") : bytes());
        m.resize(p.hdr_len, 0xff);
        return m;
    }
    m[8] = 0xa0; // no TS in control packets
    return m;
}

TEST(wire_property, parse_then_build_keeps_every_bit_that_means_something)
{
    std::mt19937 rng(20240901);
    unsigned parsed = 0;

    for (unsigned i = 0; i < 200000; i++) {
        u8 op = known[rng() % known.size()];
        u32 hdr = mrc_wire_hdr_len(op, rng() & 1);
        bytes all(rng() % 3 ? hdr : rng() % 80), out, mask;
        mrc_pkt p, again;

        for (u8 &b : all)
            b = static_cast<u8>(rng());
        if (all.size() >= 2) {
            all[0] = rng() % 16 ? op : all[0];
            all[1] = static_cast<u8>(rng() % 16 ? all[1] & 0xc0 : all[1]);
        }
        if (parse(all, 0, &p))
            continue;
        parsed++;
        ASSERT_EQ(p.hdr_len + p.pad + p.payload_len, all.size());
        ASSERT_EQ(build(p, MRC_HDR_MAX, &out), p.hdr_len) << hex(all);
        mask = meaning(p);
        ASSERT_EQ(mask.size(), out.size());
        for (size_t j = 0; j < out.size(); j++)
            ASSERT_EQ(out[j] & mask[j], all[j] & mask[j]) << j << ": " << hex(all);
        ASSERT_EQ(parse(join(out, bytes(all.size() - out.size())), 0, &again), 0);
        ASSERT_EQ(memcmp(&p, &again, sizeof(p)), 0) << show(p) << "\n" << show(again);
    }
    EXPECT_GT(parsed, 50000u);
}

TEST(wire_property, trimmed_noise_is_never_over_read)
{
    std::mt19937 rng(7);
    mrc_pkt p;

    for (unsigned i = 0; i < 50000; i++) {
        bytes all(rng() % 64);

        for (u8 &b : all)
            b = static_cast<u8>(rng());
        parse(all, static_cast<u8>(rng() % 3), &p);
    }
}

// What follows lies in memory that must not be touched: the sanitizer says.
TEST(wire, no_more_is_read_than_it_says)
{
    std::mt19937 rng(4791);

    for (int n = 0; n < 20000; n++) {
        u32 len = MRC_BTH_LEN + rng() % 100;
        std::vector<u8> whole(len);
        for (u8 &b : whole)
            b = static_cast<u8>(rng());
        whole[1] &= 0xf0;
        u32 reads = std::min(len, mrc_wire_reads(whole.data()));
        std::unique_ptr<u8[]> head(new u8[reads]);
        std::copy_n(whole.begin(), reads, head.get());
        for (u8 trimmed : {0, 1}) {
            mrc_pkt all, part;
            int rc = mrc_wire_parse(whole.data(), len, trimmed, &all);

            EXPECT_EQ(mrc_wire_parse(head.get(), len, trimmed, &part), rc);
            if (!rc) {
                EXPECT_EQ(memcmp(&all, &part, sizeof(all)), 0);
            }
        }
    }
}

} // namespace
