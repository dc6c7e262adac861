// SPDX-License-Identifier: GPL-2.0
// tools/lib/nl's sockets against the kernel that we run on; no privilege is needed.
#include <gtest/gtest.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "../../tools/lib/nl/genl.h"

namespace {

using mrcnl::bytes;

TEST(socket, a_refusal_is_told_as_the_kernels)
{
    mrcnl::socket s;
    ASSERT_FALSE(s.open(NETLINK_ROUTE));
    ifinfomsg h{};
    h.ifi_index = 0x7ffffff0;
    mrcnl::request rq(RTM_GETLINK, NLM_F_REQUEST, h);
    const auto e = s.call(rq);
    EXPECT_EQ(e.code, ENODEV);
    EXPECT_TRUE(e.from_kernel);
    EXPECT_FALSE(e.text.empty());
}

TEST(socket, a_dump_has_an_end_and_its_replies_in_order)
{
    mrcnl::socket s;
    ASSERT_FALSE(s.open(NETLINK_ROUTE));
    mrcnl::request rq(RTM_GETLINK, NLM_F_REQUEST, ifinfomsg{});
    for (int twice = 0; twice < 2; twice++) {   // a request may be sent more than once
        bool lo = false;
        ASSERT_FALSE(s.dump(rq, [&](const nlmsghdr &hdr, bytes payload) {
            EXPECT_EQ(hdr.nlmsg_type, RTM_NEWLINK);
            lo |= mrcnl::table(mrcnl::attrs_after<ifinfomsg>(payload))[IFLA_IFNAME].str() == "lo";
        }));
        EXPECT_TRUE(lo);
    }
}

TEST(socket, what_is_too_long_is_not_sent)
{
    mrcnl::socket s;
    ASSERT_FALSE(s.open(NETLINK_ROUTE));
    mrcnl::request rq(RTM_GETLINK, NLM_F_REQUEST, ifinfomsg{});
    rq.put(IFLA_IFNAME, std::vector<uint8_t>(70000));
    EXPECT_EQ(s.call(rq).code, E2BIG);
}

TEST(socket, a_family_that_is_not_there_is_named)
{
    mrcnl::socket s;
    mrcnl::family f;
    ASSERT_FALSE(s.open(NETLINK_GENERIC));
    const auto e = mrcnl::find_family(s, "no-such-family", f);
    EXPECT_EQ(e.code, ENOENT);
    EXPECT_NE(e.text.find("no-such-family"), std::string::npos) << e.text;
    EXPECT_FALSE(mrcnl::find_family(s, "nlctrl", f));
    EXPECT_EQ(f.id, GENL_ID_CTRL);
    EXPECT_TRUE(f.groups.count("notify"));
}

// Any process may send to any port; who believed it would take its word for the kernel's.
TEST(socket, only_the_kernel_is_listened_to)
{
    mrcnl::socket s;
    ASSERT_FALSE(s.open_events(NETLINK_USERSOCK));
    sockaddr_nl to{};
    socklen_t len = sizeof(to);
    ASSERT_EQ(getsockname(s.fd(), reinterpret_cast<sockaddr *>(&to), &len), 0);
    const int liar = ::socket(AF_NETLINK, SOCK_RAW, NETLINK_USERSOCK);
    ASSERT_GE(liar, 0);
    nlmsghdr h{sizeof(nlmsghdr), RTM_NEWLINK, 0, 0, 0};
    ASSERT_EQ(sendto(liar, &h, sizeof(h), 0, reinterpret_cast<sockaddr *>(&to), len),
              ssize_t{sizeof(h)}) << strerror(errno);
    bool heard = false;
    EXPECT_EQ(s.receive([&](const nlmsghdr &, bytes) { heard = true; }).code, EAGAIN);
    EXPECT_FALSE(heard);
    close(liar);
}

}   // namespace
