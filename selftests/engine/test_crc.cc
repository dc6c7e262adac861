// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// test_crc.cc - are ICRCs computed for a peer.
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
#include "peer/mrc_crc.h"
}

#include <gtest/gtest.h>

namespace {

mrc_pkt packet(u8 opcode, bool rtx = false)
{
    mrc_pkt p = {};

    p.opcode = opcode;
    p.rtx = rtx;
    return p;
}

const mrc_pkt kData = packet(MRC_OPC_WRITE_ONLY), kAgain = packet(MRC_OPC_WRITE_ONLY, true),
              kProbe = packet(MRC_OPC_PROBE), kPorts = packet(MRC_OPC_EP_REQ),
              kSack = packet(MRC_OPC_SACK);

constexpr u64 kNow = 5'000'000'000;

// One end: its setting, and what it knows of the other.
struct End {
    bool on;
    mrc_crc peer{};

    bool sends(const mrc_pkt &p) const { return mrc_crc_wanted(&peer, on, &p); }

    // False: dropped. A right ICRC where there is one.
    bool hears(bool icrc)
    {
        if (on && !icrc)
            return false;
        mrc_crc_rx(&peer, icrc);
        return true;
    }
};

// @p from @a arrives at @b.
bool arrives(const End &a, End &b, const mrc_pkt &p)
{
    return b.hears(a.sends(p));
}

TEST(crc, who_has_them_on_sends_them_always)
{
    for (mrc_crc_peer heard : { MRC_CRC_UNKNOWN, MRC_CRC_SENDS_NONE, MRC_CRC_SENDS }) {
        End e{ true };

        e.peer.peer = heard;
        for (const mrc_pkt &p : { kData, kAgain, kProbe, kPorts, kSack })
            EXPECT_TRUE(e.sends(p));
    }
}

TEST(crc, who_was_never_heard_gets_one_where_an_answer_is_missing)
{
    const End e{ false };

    EXPECT_FALSE(e.sends(kData));
    EXPECT_FALSE(e.sends(kSack));
    EXPECT_TRUE(e.sends(kAgain));
    EXPECT_TRUE(e.sends(kProbe));
    EXPECT_TRUE(e.sends(kPorts));
}

TEST(crc, two_that_are_off_send_none)
{
    End a{ false }, b{ false };

    EXPECT_TRUE(arrives(a, b, kData));
    EXPECT_TRUE(arrives(b, a, kSack));
    for (const mrc_pkt &p : { kData, kAgain, kProbe, kPorts, kSack }) {
        EXPECT_FALSE(a.sends(p));
        EXPECT_FALSE(b.sends(p));
    }
}

TEST(crc, one_that_is_off_begins)
{
    End off{ false }, on{ true };

    EXPECT_FALSE(arrives(off, on, kData));
    EXPECT_TRUE(arrives(off, on, kProbe));
    EXPECT_TRUE(arrives(on, off, kSack));
    EXPECT_TRUE(arrives(off, on, kData));
}

TEST(crc, one_that_is_on_begins)
{
    End off{ false }, on{ true };

    EXPECT_TRUE(arrives(on, off, kData));
    EXPECT_TRUE(arrives(off, on, kSack));
}

TEST(crc, settings_change_while_they_talk)
{
    End a{ true }, b{ true };

    EXPECT_TRUE(arrives(a, b, kData));
    EXPECT_TRUE(arrives(b, a, kSack));
    b.on = false;
    mrc_crc_forget(&b.peer);
    EXPECT_TRUE(arrives(a, b, kData));
    EXPECT_TRUE(arrives(b, a, kSack));
    b.on = true;
    mrc_crc_forget(&b.peer);
    EXPECT_TRUE(arrives(a, b, kData));
    EXPECT_TRUE(arrives(b, a, kSack));
}

// The other one, if it has something to say, would not be heard: so it is told.
TEST(crc, who_turns_them_on_announces_it)
{
    End a{ false }, b{ false };

    EXPECT_TRUE(arrives(a, b, kData));
    EXPECT_TRUE(arrives(b, a, kSack));
    b.on = true;
    EXPECT_FALSE(arrives(a, b, kAgain)) << "it has heard that they are off";
    EXPECT_TRUE(arrives(b, a, kPorts));
    EXPECT_TRUE(arrives(a, b, kAgain));
}

// What was lost at first makes both think that the other one has them on, until all is forgotten.
TEST(crc, two_that_are_off_and_were_not_heard)
{
    End a{ false }, b{ false };

    EXPECT_TRUE(arrives(a, b, kAgain));
    EXPECT_TRUE(arrives(b, a, kSack));
    EXPECT_TRUE(a.sends(kData));
    mrc_crc_forget(&a.peer);
    EXPECT_TRUE(arrives(a, b, kData)) << "b need not forget";
    EXPECT_TRUE(arrives(b, a, kSack));
    EXPECT_FALSE(a.sends(kData));
    EXPECT_FALSE(b.sends(kSack));
}

// One of before the change comes last, by a longer path: the other one believes it, and is not heard. It is told again.
TEST(crc, who_turned_them_on_says_so_to_whom_it_cannot_hear)
{
    End a{ false }, b{ false };

    EXPECT_TRUE(arrives(a, b, kData));
    EXPECT_TRUE(arrives(b, a, kSack));
    b.on = true;
    EXPECT_TRUE(arrives(b, a, kPorts));
    EXPECT_TRUE(a.hears(false)) << "the late one";
    EXPECT_FALSE(arrives(a, b, kAgain));
    EXPECT_TRUE(mrc_crc_tell(&b.peer, &kAgain, false, kNow));
    EXPECT_TRUE(arrives(b, a, kPorts));
    EXPECT_TRUE(arrives(a, b, kAgain));
}

TEST(crc, who_is_told)
{
    mrc_crc peer = {};

    EXPECT_FALSE(mrc_crc_tell(&peer, &kData, false, kNow)) << "it will learn";
    EXPECT_FALSE(mrc_crc_tell(&peer, &kAgain, true, kNow)) << "it knows";
    EXPECT_TRUE(mrc_crc_tell(&peer, &kProbe, false, kNow));
}

// Whoever takes a peer's address does not make us talk to it.
TEST(crc, it_is_told_now_and_then)
{
    mrc_crc peer = {};

    EXPECT_TRUE(mrc_crc_tell(&peer, &kAgain, false, 1)) << "a host that has just begun";
    EXPECT_FALSE(mrc_crc_tell(&peer, &kAgain, false, MRC_CRC_TELL_NS));
    EXPECT_TRUE(mrc_crc_tell(&peer, &kAgain, false, 1 + MRC_CRC_TELL_NS));
    EXPECT_FALSE(mrc_crc_tell(&peer, &kProbe, false, 2 * MRC_CRC_TELL_NS));
}

TEST(crc, what_is_wrong)
{
    EXPECT_TRUE(mrc_crc_wrong(&kData, true)) << "a wrong one";
    EXPECT_FALSE(mrc_crc_wrong(&kData, false)) << "it will learn";
    EXPECT_FALSE(mrc_crc_wrong(&kSack, false));
    EXPECT_TRUE(mrc_crc_wrong(&kAgain, false)) << "it should have, by now";
    EXPECT_TRUE(mrc_crc_wrong(&kProbe, false));
}

} // namespace
