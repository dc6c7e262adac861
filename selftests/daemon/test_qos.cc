// SPDX-License-Identifier: GPL-2.0
// [qos] of a fabric file: what it means without a word, what is refused, and the host's half, which mrcd sets once.
#include <gtest/gtest.h>

#include <linux/netlink.h>

#include "../../tools/lib/fabric/desired.h"
#include "../../tools/lib/fabric/lists_text.h"
#include "fake_kernel.h"
#include "mrc_genl.h"
#include "plan.h"
#include "rules.h"

namespace mrcd {

namespace {

TEST(qos, defaults)
{
    const Fabric f = rule_with("[qos]\n");
    ASSERT_TRUE(f.qos);
    EXPECT_EQ(f.qos->dscp, Dscps{});
    EXPECT_EQ(f.qos->trim_size, 0u);
    EXPECT_EQ(f.qos->ecn.min, 150000u);
    EXPECT_EQ(f.qos->ecn.max, 1500000u);
    EXPECT_EQ(desired_for(f, "h1-1")->device->qos, DeviceQos{}) << "what the module does by itself";
    EXPECT_FALSE(rule_with("").qos);
    EXPECT_FALSE(desired_for(rule_with(""), "h1-1")->device->qos) << "settings of mrcctl's user stay";
}

TEST(qos, names_and_numbers)
{
    const Fabric f = rule_with("[qos]\ntrim_size = 256\n[qos.dscp]\ndata = \"af22\"\ncontrol = \"cs7\"\nno_trim = 0\n"
                          "[qos.class]\ndata = 3\n[qos.ecn]\nmin = 1\nmax = 1\npercent = 5\n");
    EXPECT_EQ(f.qos->dscp.data, 20);
    EXPECT_EQ(f.qos->dscp.control, 56);
    EXPECT_EQ(f.qos->dscp.no_trim, 0);
    EXPECT_EQ(f.qos->dscp.rtx, 12);
    EXPECT_EQ(f.qos->classes.data, 3);
    EXPECT_EQ(f.qos->ecn.percent, 5);
    EXPECT_TRUE(f.qos->trim_nack);
    EXPECT_FALSE(rule_with("[qos]\ntrim_size = 0\n").qos->trim_nack);
    EXPECT_EQ(dscp_of("ef"), 46);
    EXPECT_EQ(dscp_of("af43"), 38);
    EXPECT_EQ(dscp_of("va"), 44);
    EXPECT_FALSE(dscp_of("af44"));
    EXPECT_FALSE(dscp_of("cs8"));
}

TEST(qos, refused)
{
    const struct {
        const char *text, *said;
    } all[] = {
        {"[qos]\ntrimsize = 256\n", "did you mean \"trim_size\"?"},
        {"[qos.dcsp]\ndata = 8\n", "did you mean \"dscp\"?"},
        {"[qos]\ntrim_size = 100\n", "qos.trim_size: 100 is wrong, expected 0, or 192 to 1024 in steps of 4"},
        {"[qos]\ntrim_size = 254\n", "254 is wrong"},
        {"[qos]\ntrim_size = 2000\n", "2000 is out of range, expected 0 to 1024"},
        {"[qos.dscp]\ndata = 64\n", "qos.dscp.data: 64 is out of range, expected 0 to 63"},
        {"[qos.dscp]\ndata = \"af1\"\n", "\"af1\" is no DSCP, did you mean \"af11\"?"},
        {"[qos.dscp]\ndata = \"gold\"\n", "\"gold\" is no DSCP, expected 0 to 63, or a name"},
        {"[qos.dscp]\ndata = 16\n", "qos.dscp.data: 16 is that of \"trimmed\", too"},
        {"[qos.dscp]\ntrimmed = 18\n", "qos.dscp.trimmed: 18 is that of \"trimmed_lasthop\", too"},
        {"[qos.dscp]\ncontrol = \"af12\"\n", "qos.dscp.control: 12 is that of \"rtx\", too"},
        {"[qos]\ntrim_size = 256\n[qos.dscp]\nno_trim = 8\n", "qos.dscp.no_trim: 8 is that of \"data\", too"},
        {"[qos.class]\ndata = 8\n", "qos.class.data: 8 is out of range, expected 0 to 7"},
        {"[qos.class]\ncontrol = 1\n", "qos.class.control: 1 is that of \"data\", too"},
        {"[qos.ecn]\nmin = 2000000\n", "qos.ecn.min: marking would begin at 2000000 bytes and be full at 1500000"},
        {"[qos.ecn]\nmax = 0\n", "qos.ecn.max: 0 is out of range"},
        {"[qos.ecn]\npercent = 101\n", "qos.ecn.percent: 101 is out of range, expected 1 to 100"},
        {"[qos.ecn]\nmax = \"1M\"\n", "qos.ecn.max: not an integer"},
    };
    for (const auto &w : all) {
        const auto said = rule_refusal(w.text);
        EXPECT_NE(said.find(w.said), std::string::npos) << w.text << said;
        EXPECT_EQ(said.rfind("rule.toml:", 0), 0u) << said;
    }
    EXPECT_EQ(rule_refusal("[qos.dscp]\nno_trim = 8\n"), "") << "where nothing is trimmed, data is data";
}

TEST(qos, lists_and_flat_have_it_too)
{
    const Fabric f = parse_fabric(as_lists(rule_with("[qos]\ntrim_size = 256\n[qos.dscp]\ndata = 20\n[qos.ecn]\nmin = 9\n")),
                                  "lists.toml");
    EXPECT_EQ(f.qos->dscp.data, 20);
    EXPECT_EQ(f.qos->trim_size, 256u);
    EXPECT_EQ(f.qos->ecn.min, 9u);
    const Fabric flat = parse_fabric("[flat]\nhosts = [\"a\", \"b\"]\nports = [\"eth1\"]\n[qos.dscp]\ncontrol = 40\n", "flat.toml");
    EXPECT_EQ(desired_for(flat, "a")->device->qos->dscp.control, 40);
}

struct QosHost {
    Desired want;
    FakeKernel kernel;

    explicit QosHost(const std::string &text) : want(*desired_for(rule_with(text), "h1-1"))
    {
        for (const WantedLink &w : want.links)
            if (w.physical)
                kernel.add_link(w.name);
    }

    // As mrcd does: look and act until nothing is left.
    std::vector<std::string> run()
    {
        std::vector<std::string> done;
        for (int rounds = 0; rounds < 4; rounds++) {
            Observed have;
            kernel.look(want, have);
            for (const Op &op : plan(want, have, {}).ops) {
                if (std::holds_alternative<QosSet>(op))
                    done.push_back(to_string(op));
                if (const auto e = kernel.apply(op))
                    ADD_FAILURE() << to_string(op) << ": " << e.text;
            }
        }
        return done;
    }
};

TEST(qos, mrcd_sets_it_once_and_puts_it_back)
{
    QosHost h("[qos]\ntrim_size = 0\n[qos.dscp]\ndata = 20\n");
    const std::vector<std::string> once = {"mrcctl dev set mrc0 dscp-data 20 dscp-rtx 12 dscp-control 46 dscp-no-trim 10 "
                                           "dscp-trimmed 16 dscp-trimmed-lasthop 18 trim-nack off"};

    EXPECT_EQ(h.run(), once);
    EXPECT_EQ(h.kernel.state.device->qos, *h.want.device->qos);
    EXPECT_TRUE(h.run().empty());
    h.kernel.state.device->qos.dscp.control = 40;   // somebody's hand
    EXPECT_EQ(h.run(), once);
}

TEST(qos, without_the_section_it_is_left_alone)
{
    QosHost h("");

    EXPECT_TRUE(h.run().empty());
    h.kernel.state.device->qos.dscp.control = 40;
    EXPECT_TRUE(h.run().empty());
    EXPECT_EQ(h.kernel.state.device->qos.dscp.control, 40);
}

// In one message: the module judges the whole, and 16 for data would be refused before "trimmed" has moved.
TEST(qos, one_message)
{
    DeviceQos qos;
    qos.dscp = {16, 17, 40, 11, 19, 21};
    qos.trim_nack = false;
    nl::Message m = nl::qos_set(30, 7, qos);
    MrcDevice seen;

    nl::parse_device(m.bytes().subspan(NLMSG_HDRLEN), seen);
    EXPECT_EQ(seen.qos, qos);
    EXPECT_EQ(seen.ifindex, 7);
}

}   // namespace

}   // namespace mrcd
