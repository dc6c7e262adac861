// SPDX-License-Identifier: GPL-2.0
// What the reconciler says and when it stops, on a kernel that is a struct.
#include <gtest/gtest.h>

#include <algorithm>

#include "fabrics.h"
#include "fake_kernel.h"
#include "reconcile.h"

namespace mrcd {

namespace {

using Outcome = Reconciler::Outcome;

struct NodeOfList {
    FakeKernel kernel;
    Log log{"fake", Log::Level::kSilent};
    Reconciler mrcd{kernel, log};

    explicit NodeOfList(const Size &size = {.hosts = 9})
    {
        kernel.add_link("eth1");
        kernel.add_link("eth2");
        want(size);
    }

    void want(const Size &size) { mrcd.want(*desired_for(make_fabric(size), "h1")); }
    std::size_t profiles() const { return kernel.state.device->profiles.size(); }
    std::string open() const { return fmt::format("{}", fmt::join(mrcd.open_items(), "\n")); }
};

// A T0 with a port that is none of the fabric's.
struct Switch {
    FakeKernel kernel;
    Log log{"fake", Log::Level::kSilent};
    Reconciler mrcd{kernel, log};

    Switch()
    {
        for (const char *name : {"h1", "h3", "t1-1", "t1-2", "mgmt"})
            kernel.add_link(name);
        kernel.default_routers.insert("mgmt");
        mrcd.want(*desired_for(make_fabric(), "p1-t0-1"));
    }

    std::string sysctl(const std::string &key) const { return kernel.state.sysctls.at(key); }
    // It hears router advertisements, and has not forgotten what they said.
    bool is_host(const std::string &name) const
    {
        return sysctl(name + "/forwarding") == "0" && sysctl(name + "/accept_ra") == "1" &&
               kernel.default_routers.count(name);
    }
    std::string open() const { return fmt::format("{}", fmt::join(mrcd.open_items(), "\n")); }
};

TEST(reconcile, one_run_is_enough_for_a_host)
{
    NodeOfList h;

    EXPECT_EQ(h.mrcd.run(), Outcome::kComplete) << h.open();
    EXPECT_EQ(h.profiles(), 16u);
}

TEST(reconcile, a_file_that_removes_most_waits_for_confirmation)
{
    NodeOfList h;
    h.mrcd.run();
    h.want({.hosts = 2});
    EXPECT_EQ(h.mrcd.run(), Outcome::kWaiting);
    EXPECT_TRUE(h.mrcd.held());
    EXPECT_EQ(h.profiles(), 16u);
    EXPECT_NE(h.open().find("held back"), std::string::npos) << h.open();
    h.kernel.state.routes.clear();
    EXPECT_EQ(h.mrcd.run(), Outcome::kWaiting);
    EXPECT_EQ(h.kernel.state.routes.size(), 2u) << "the earlier file stays in force";
    h.mrcd.confirm();
    EXPECT_EQ(h.mrcd.run(), Outcome::kComplete) << h.open();
    EXPECT_EQ(h.profiles(), 2u);
}

// No earlier file: nothing at all is done, not even repaired.
TEST(reconcile, a_new_process_with_such_a_file_does_nothing)
{
    NodeOfList h;
    h.mrcd.run();
    Reconciler other(h.kernel, h.log);
    other.want(*desired_for(make_fabric({.hosts = 2}), "h1"));
    const unsigned before = h.kernel.done;
    EXPECT_EQ(other.run(), Outcome::kWaiting);
    EXPECT_EQ(other.run(), Outcome::kWaiting);
    EXPECT_EQ(h.kernel.done, before);
    other.confirm();
    EXPECT_EQ(other.run(), Outcome::kComplete);
    EXPECT_EQ(h.profiles(), 2u);
}

TEST(reconcile, it_stops_between_two_operations)
{
    NodeOfList h;
    unsigned asked = 0;

    EXPECT_EQ(h.mrcd.run([&] { return ++asked > 3; }), Outcome::kInterrupted);
    EXPECT_EQ(h.kernel.done, 3u);
}

// Whoever is interrupted may be about to end.
TEST(reconcile, no_interruption_leaves_the_management_port_a_router)
{
    auto outcome = Outcome::kInterrupted;
    unsigned at = 0;

    for (; outcome == Outcome::kInterrupted && at < 100; at++) {
        Switch s;
        unsigned asked = 0;
        outcome = s.mrcd.run([&] { return asked++ == at; });
        EXPECT_TRUE(s.is_host("mgmt")) << at;
        EXPECT_EQ(s.sysctl("default/forwarding"), "0") << at;
        if (outcome == Outcome::kInterrupted) {
            EXPECT_EQ(s.mrcd.run(), Outcome::kComplete) << s.open();
        }
    }
    EXPECT_EQ(outcome, Outcome::kComplete);
    EXPECT_GT(at, 10u) << "it can be interrupted elsewhere";
}

TEST(reconcile, a_management_port_with_a_new_name_is_no_router)
{
    for (unsigned at = 0; at < 36; at++) {
        Switch s;
        s.kernel.meanwhile_in = at;
        s.kernel.meanwhile = [&] { s.kernel.rename("mgmt", "ens9"); };
        EXPECT_EQ(s.mrcd.run(), Outcome::kComplete) << s.open();
        EXPECT_TRUE(s.is_host("ens9")) << at;
    }
}

// What is refused is tried again, and nothing that it had to come before is done without it.
TEST(reconcile, a_refusal_costs_no_default_router)
{
    for (unsigned at = 0; at < 40; at++)
        for (const Fault fault : {Fault::kRefused, Fault::kDoneUnheard}) {
            Switch s;
            s.kernel.faults.assign(at, std::nullopt);
            s.kernel.faults.push_back(fault);
            s.mrcd.run();
            EXPECT_EQ(s.mrcd.run(), Outcome::kComplete) << at << s.open();
            EXPECT_TRUE(s.is_host("mgmt")) << at;
        }
}

TEST(reconcile, a_management_port_that_somebody_makes_a_router_is_one)
{
    Switch s;

    s.mrcd.run();
    s.kernel.state.sysctls["mgmt/forwarding"] = "1";
    EXPECT_EQ(s.mrcd.run(), Outcome::kComplete) << s.open();
    EXPECT_EQ(s.sysctl("mgmt/forwarding"), "1");
}

TEST(reconcile, what_somebody_undoes_each_time_is_named)
{
    NodeOfList h;
    h.mrcd.run();
    h.kernel.meanwhile_in = 0;
    const std::function<void()> undo = [&] {
        h.kernel.state.device->profile_id = 7;
        h.kernel.state.routes.clear();
        h.kernel.meanwhile_in = 0;
        h.kernel.meanwhile = undo;
    };
    undo();
    EXPECT_EQ(h.mrcd.run(), Outcome::kFailed);
    EXPECT_NE(h.open().find("ip -6 route add"), std::string::npos) << h.open();
    EXPECT_NE(h.open().find("without effect"), std::string::npos) << h.open();
}

TEST(reconcile, without_the_module_its_reason_is_all_that_is_said)
{
    NodeOfList h;
    h.kernel.has_module = false;
    EXPECT_EQ(h.mrcd.run(), Outcome::kFailed);
    EXPECT_EQ(h.open(), "ip link add mrc0 type mrc: Unknown device type\n"
                        "there is no interface mrc0\nmrc0 is not known to the mrc module yet");
    EXPECT_EQ(h.kernel.state.routes.size(), 2u) << "the planes are set up nevertheless";
}

// Who set an MTU by hand finds in the log who set it back.
TEST(reconcile, what_is_put_right_is_told)
{
    const Log log{"fake", Log::Level::kNormal};
    FakeKernel kernel;
    Reconciler mrcd{kernel, log};

    kernel.add_link("eth1");
    kernel.add_link("eth2");
    mrcd.want(*desired_for(make_fabric({.hosts = 9}), "h1"));
    auto said = [&] {
        testing::internal::CaptureStderr();
        EXPECT_EQ(mrcd.run(), Outcome::kComplete);
        return testing::internal::GetCapturedStderr();
    };
    EXPECT_EQ(said(), "") << "what is made for the first time";
    const auto right = kernel.link("eth1").mtu;
    kernel.link("eth1").mtu = 1400;
    EXPECT_EQ(said(), fmt::format("mrcd: fake: corrected a change of others: ip link set eth1 mtu {} (it was 1400)\n", right));
    EXPECT_EQ(kernel.link("eth1").mtu, right);
    kernel.link("eth1").mtu = 1400;
    EXPECT_EQ(said(), "") << "the same is not told all the time";
    kernel.state.routes.clear();
    kernel.state.device->profiles.clear();
    const auto many = said();
    EXPECT_EQ(std::count(many.begin(), many.end(), '\n'), 11) << many;
    EXPECT_NE(many.find(" more changes of others\n"), std::string::npos) << many;
    mrcd.want(*desired_for(make_fabric({.hosts = 8}), "h1"));
    EXPECT_EQ(said().find("corrected"), std::string::npos) << "another file is no foreign change";
}

TEST(reconcile, an_mtu_that_is_refused_is_no_reason_to_wait)
{
    NodeOfList h;
    h.kernel.link("eth1").max_mtu = 2000;
    h.kernel.hides_max_mtu = true;   // as drivers do that never told it
    EXPECT_EQ(h.mrcd.run(), Outcome::kComplete) << h.open();
    EXPECT_EQ(h.kernel.link("eth1").mtu, 1500u);
}

// The id of an earlier file is anybody's once our profiles are gone; a port that is missing all
// the time does not matter.
TEST(reconcile, an_id_is_ours_no_longer_when_its_profiles_are_gone)
{
    for (const auto expected : {Outcome::kComplete, Outcome::kWaiting}) {
        NodeOfList h;
        h.mrcd.run();
        if (expected == Outcome::kWaiting)
            h.kernel.del_link("eth2");
        h.want({.hosts = 9, .profile_id = 2});
        EXPECT_EQ(h.mrcd.run(), expected) << h.open();
        ASSERT_EQ(h.profiles(), 16u) << "the old ones are gone";
        h.kernel.state.device->profiles.push_back(
            {{{1, *parse_ip6("fd00:6d72:63::2")}, 1, {}}, false, MRC_FMT_UDP, MRC_MODE_EXP});
        EXPECT_EQ(h.mrcd.run(), expected) << h.open();
        EXPECT_EQ(h.profiles(), 17u) << "somebody's own";
    }
}

// Not known yet after the module was loaded anew, it is remembered.
TEST(reconcile, an_id_stays_ours_until_the_device_was_seen_without_it)
{
    NodeOfList h;
    h.mrcd.run();
    const auto device = std::exchange(h.kernel.state.device, std::nullopt);
    h.want({.hosts = 9, .profile_id = 2});
    EXPECT_EQ(h.mrcd.run(), Outcome::kWaiting);
    h.kernel.state.device = device;
    EXPECT_EQ(h.mrcd.run(), Outcome::kComplete) << h.open();
    EXPECT_EQ(h.profiles(), 16u);
}

TEST(reconcile, events_of_others_cost_no_look)
{
    NodeOfList h;
    const int foreign = h.kernel.add_link("mgmt").ifindex;
    h.mrcd.run();
    const unsigned looks = h.kernel.looks;
    EXPECT_FALSE(h.mrcd.concerns(h.kernel.link("mgmt")));
    EXPECT_FALSE(h.mrcd.concerns(foreign));
    EXPECT_TRUE(h.mrcd.concerns(h.kernel.link("eth2")));
    Link renamed = h.kernel.link("eth2");
    renamed.name = "other";
    EXPECT_TRUE(h.mrcd.concerns(renamed)) << "we knew it by its index";
    EXPECT_TRUE(h.mrcd.concerns(h.kernel.link("mrc0").ifindex));
    EXPECT_EQ(h.kernel.looks, looks) << "no profile and no EV is read to know that";
}

}   // namespace

}   // namespace mrcd
