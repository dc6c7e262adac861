// SPDX-License-Identifier: GPL-2.0
// [probe] of a fabric file: what reaches a host, what is refused, and that a file made from it says the same.
#include <gtest/gtest.h>

#include "../../tools/lib/fabric/desired.h"
#include "../../tools/lib/fabric/lists_text.h"
#include "rules.h"

namespace mrcd {

namespace {

TEST(probing, absent)
{
    EXPECT_FALSE(rule_with("").probing);
    EXPECT_FALSE(desired_for(rule_with(""), "h1-1")->device->probing.rate);
    EXPECT_FALSE(rule_with("[probe]\n").probing->mode) << "what is not said is for mrcd to know";
}

TEST(probing, of_every_host)
{
    const Fabric f = rule_with("[probe]\nrate = \"fast\"\nmode = \"act\"\ntimeout_ms = 200\navoid_expiry_s = 30\n");
    const auto p = desired_for(f, "h2-1")->device->probing;
    EXPECT_EQ(p.rate, "fast");
    EXPECT_EQ(p.mode, "act");
    EXPECT_EQ(p.timeout_ms, 200u);
    EXPECT_EQ(p.avoid_expiry_s, 30u);
    EXPECT_FALSE(desired_for(f, "p1-t0-1")->device) << "switches do not probe";
}

TEST(probing, of_lists_made_of_a_rule)
{
    const Fabric f = parse_fabric(as_lists(rule_with("[probe]\nrate = \"slow\"\navoid_expiry_s = 5\n")), "lists.toml");
    ASSERT_TRUE(f.probing);
    EXPECT_EQ(f.probing->rate, "slow");
    EXPECT_EQ(f.probing->avoid_expiry_s, 5u);
    EXPECT_FALSE(f.probing->mode);
    EXPECT_FALSE(f.probing->timeout_ms);
}

TEST(probing, refused)
{
    EXPECT_NE(rule_refusal("[probe]\nrate = \"quick\"\n").find("probe.rate: \"quick\" is none of off, slow, normal, fast"), std::string::npos);
    EXPECT_NE(rule_refusal("[probe]\nmode = 3\n").find("probe.mode"), std::string::npos);
    EXPECT_NE(rule_refusal("[probe]\ntimeout_ms = 0\n").find("probe.timeout_ms"), std::string::npos);
    EXPECT_NE(rule_refusal("[probe]\navoid_expiry_s = 86401\n").find("probe.avoid_expiry_s"), std::string::npos);
    EXPECT_NE(rule_refusal("[probe]\nrates = \"slow\"\n").find("did you mean \"rate\"?"), std::string::npos);
}

}   // namespace

}   // namespace mrcd
