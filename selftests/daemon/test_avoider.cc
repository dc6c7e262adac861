// SPDX-License-Identifier: GPL-2.0
// Links that mrcd avoids, against a kernel that is a struct: which verdicts become which links, limits, renewal, release.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "avoider.h"
#include "fabrics.h"
#include "rules.h"

namespace mrcd {

namespace {

using mrcver::Part;
using mrcver::PartKind;

struct FakeAvoids : AvoidKernel {
    std::vector<AvoidLink> links;
    unsigned sets = 0, expiry = 0;
    int refuse = 0;

    mrcnl::error set(const std::string &dev, const std::vector<AvoidLink> &list, unsigned expiry_s) override
    {
        EXPECT_EQ(dev, "mrc0");
        sets++;
        if (refuse)
            return {refuse, "refused", true};
        links = list;
        expiry = expiry_s;
        return {};
    }
};

// A T0 has uSID 0x4000 | n or so, a T1 0x8000 | n: asked of the layout itself.
struct AvoidRig {
    Fabric fabric;
    mrcver::Layout layout{fabric};
    FakeAvoids kernel;
    std::vector<std::string> said;
    Avoider avoider;
    double now = 1000;

    explicit AvoidRig(bool act = true, unsigned t0s = 3, unsigned t1s = 4)
        : fabric(make_rule({.planes = 2, .t0s = t0s, .t1s = t1s, .hosts_per_t0 = 4})),
          avoider(layout, {"h1-1", "mrc0", act, 600}, kernel, [this](const auto &text) { said.push_back(text); })
    {
    }
    void tick(const std::vector<Part> &sick, double later = 0.2)
    {
        now += later;
        avoider.tick(now, sick);
    }
    unsigned usid(unsigned plane, unsigned t0, unsigned t1, unsigned nth) const
    {
        return mrcfab::get_bits(layout.carrier(plane, 1, {t0, t1}), 32 + 16 * nth, 16);
    }
};

constexpr Part up(unsigned plane, unsigned t0, unsigned t1) { return {PartKind::kUp, plane, t0, t1}; }

TEST(avoider, an_uplink)
{
    AvoidRig g;

    g.tick({});
    EXPECT_EQ(g.kernel.sets, 0u) << "what an earlier mrcd avoided expires by itself";
    g.tick({up(1, 1, 2)});
    ASSERT_EQ(g.kernel.links.size(), 1u);
    EXPECT_EQ(g.kernel.links[0], (AvoidLink{1, g.usid(1, 1, 2, 0), g.usid(1, 1, 2, 1)}));
    EXPECT_EQ(g.kernel.expiry, 600u);
    ASSERT_EQ(g.said.size(), 1u);
    EXPECT_NE(g.said[0].find("is avoided"), std::string::npos) << g.said[0];
    g.tick({});
    EXPECT_TRUE(g.kernel.links.empty());
    EXPECT_NE(g.said.back().find("is no longer avoided"), std::string::npos);
    g.tick({}, 1000);
    EXPECT_EQ(g.kernel.sets, 2u) << "an empty list needs no renewal";
}

TEST(avoider, directions)
{
    AvoidRig g;

    g.tick({{PartKind::kDown, 1, 2, 3}});
    ASSERT_EQ(g.kernel.links.size(), 1u);
    EXPECT_EQ(g.kernel.links[0], (AvoidLink{1, g.usid(1, 2, 3, 1), g.usid(1, 2, 3, 0)}));
    g.tick({{PartKind::kCable, 2, 1, 1}});
    EXPECT_EQ(g.kernel.links.size(), 2u);
}

TEST(avoider, renews_before_it_expires)
{
    AvoidRig g;

    for (int i = 0; i < 3000; i++)
        g.tick({up(1, 1, 2)});
    EXPECT_GE(g.kernel.sets, 3u);
    EXPECT_LE(g.kernel.sets, 4u);
    const unsigned before = g.kernel.sets;
    g.avoider.renew();
    g.tick({up(1, 1, 2)});
    EXPECT_EQ(g.kernel.sets, before + 1) << "another module has no list";
    EXPECT_EQ(g.said.size(), 1u);
}

TEST(avoider, advice_changes_nothing)
{
    AvoidRig g(false);

    g.tick({up(1, 1, 2)});
    EXPECT_EQ(g.kernel.sets, 0u);
    ASSERT_EQ(g.said.size(), 1u);
    EXPECT_NE(g.said[0].find("would be avoided: mrcctl avoid set dev mrc0 link 1 "), std::string::npos) << g.said[0];
}

// 12 cables a plane: 5 % are none, so one may be avoided.
TEST(avoider, a_second_link_of_a_small_plane_is_said_and_not_avoided)
{
    AvoidRig g;

    g.tick({up(1, 1, 2)});
    g.tick({up(1, 1, 2), up(1, 1, 3), up(2, 1, 3)});
    EXPECT_EQ(g.kernel.links.size(), 2u) << "one of each plane";
    EXPECT_NE(g.said[1].find("is not avoided: 2 cables"), std::string::npos) << g.said[1];
    g.tick({up(1, 1, 2), up(1, 1, 3), up(2, 1, 3)});
    EXPECT_EQ(g.said.size(), 3u) << "once";
    g.tick({up(1, 1, 3), up(2, 1, 3)});
    EXPECT_EQ(g.kernel.links.size(), 2u) << "there is room for it now";
}

TEST(avoider, what_was_avoided_stays_when_the_verdict_is_widened)
{
    AvoidRig g;

    g.tick({up(1, 2, 3)});
    const auto before = g.kernel.links;
    g.tick({{PartKind::kT0, 1, 2, 0}});
    EXPECT_EQ(g.kernel.links, before);
    EXPECT_NE(g.said.back().find("is not avoided"), std::string::npos) << g.said.back();
    g.tick({});
    EXPECT_TRUE(g.kernel.links.empty());
}

// 12 cables a plane. A dead T1 has three of them; without it, every host would lose packets until the T1 is repaired.
TEST(avoider, one_t1_of_a_small_plane)
{
    AvoidRig g;

    g.tick({up(1, 1, 2)});
    g.tick({{PartKind::kT1, 1, 2, 0}});
    EXPECT_TRUE(std::find(g.kernel.links.begin(), g.kernel.links.end(), (AvoidLink{1, g.usid(1, 1, 2, 1), 0})) != g.kernel.links.end());
    g.tick({{PartKind::kT1, 1, 2, 0}, {PartKind::kT1, 1, 3, 0}, up(1, 1, 4)});
    for (const AvoidLink &l : g.kernel.links)
        EXPECT_TRUE(l.from == g.usid(1, 1, 2, 1) || l.to == g.usid(1, 1, 2, 1)) << "no second one";
    EXPECT_NE(g.said.back().find("is not avoided: 4 cables"), std::string::npos) << g.said.back();
}

TEST(avoider, the_other_direction_covers_nothing)
{
    AvoidRig g;

    g.tick({up(1, 1, 2)});
    g.tick({{PartKind::kDown, 1, 1, 2}});
    ASSERT_EQ(g.kernel.links.size(), 1u);
    EXPECT_EQ(g.kernel.links[0].from, g.usid(1, 1, 2, 1));
}

TEST(avoider, a_whole_t1_of_a_large_plane)
{
    AvoidRig g(true, 4, 40);

    g.tick({{PartKind::kT1, 1, 7, 0}});
    ASSERT_EQ(g.kernel.links.size(), 1u);
    EXPECT_EQ(g.kernel.links[0], (AvoidLink{1, g.usid(1, 1, 7, 1), 0}));
    g.tick({{PartKind::kT1, 1, 7, 0}, {PartKind::kT1, 1, 8, 0}, {PartKind::kT1, 1, 9, 0}});
    EXPECT_EQ(g.kernel.links.size(), 2u) << "8 of 160 cables";
}

TEST(avoider, never_the_last_uplink_nor_a_plane)
{
    AvoidRig g(true, 1, 1);

    g.tick({up(1, 1, 1), {PartKind::kHostCable, 1, 1, 0}, {PartKind::kPlane, 2, 0, 0}, {PartKind::kNic, 0, 1, 0}});
    EXPECT_EQ(g.kernel.sets, 0u);
    ASSERT_EQ(g.said.size(), 1u);
    EXPECT_NE(g.said[0].find("no uplink of this host would be left"), std::string::npos) << g.said[0];
}

TEST(avoider, the_own_t0_is_a_plane)
{
    AvoidRig g;

    g.tick({{PartKind::kT0, 1, 1, 0}});
    EXPECT_EQ(g.kernel.sets, 0u);
}

TEST(avoider, refused_by_the_module)
{
    AvoidRig g;

    g.kernel.refuse = ENODEV;
    for (int i = 0; i < 50; i++)
        g.tick({up(1, 1, 2)});
    EXPECT_GE(g.kernel.sets, 2u);
    EXPECT_LE(g.kernel.sets, 3u) << "each five seconds";
    EXPECT_EQ(g.said.size(), 2u) << "once";
    g.kernel.refuse = 0;
    g.tick({up(1, 1, 2)}, 6);
    EXPECT_EQ(g.kernel.links.size(), 1u);
}

}   // namespace

}   // namespace mrcd
