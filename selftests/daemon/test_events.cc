// SPDX-License-Identifier: GPL-2.0
// The module's log as mrcd passes it on: to the journal, byte by byte, and into a file that is rotated.
#include <gtest/gtest.h>
#include <linux/genetlink.h>
#include <linux/mrc.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "../../tools/lib/nl/request.h"
#include "events.h"

namespace mrcd {

namespace {

class events : public testing::Test {
protected:
    void SetUp() override
    {
        char name[] = "/tmp/mrcd-events-XXXXXX";
        ASSERT_NE(mkdtemp(name), nullptr);
        dir = name;
    }
    void TearDown() override { std::filesystem::remove_all(dir); }

    std::string path(const char *name) const { return dir + "/" + name; }
    std::string content(const std::string &file) const
    {
        std::ifstream f(path(file.c_str()));
        return {std::istreambuf_iterator<char>(f), {}};
    }
    // A datagram socket where the journal would listen.
    int listen(const std::string &at) const
    {
        const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
        sockaddr_un to{};
        to.sun_family = AF_UNIX;
        at.copy(to.sun_path, sizeof(to.sun_path) - 1);
        EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr *>(&to), sizeof(to)), 0);
        return fd;
    }
    // A message of the group "log", as the kernel makes it.
    static Event event(bool whole = true)
    {
        mrcnl::request rq(MRC_CMD_LOG);
        rq.str(MRC_A_DEV_NAME, "mrc0").nest(MRC_A_LOG, [&](mrcnl::request &n) {
            const std::uint8_t gid[16] = {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
            n.u64(MRC_A_LOG_ID, 17).u32(MRC_A_LOG_KIND, MRC_LOG_EV_BAD).u32(MRC_A_LOG_CAUSE, MRC_WHY_LOST);
            n.u64(MRC_A_LOG_BOOT, 5000000001).u64(MRC_A_LOG_LAST, 5000000002);
            n.u64(MRC_A_LOG_REAL, 1795953600123456789).u8(MRC_A_LOG_PLANE, 3).u32(MRC_A_LOG_COUNT, 4);
            if (whole)
                n.put(MRC_A_LOG_GID, gid).u32(MRC_A_LOG_EV, 9).u32(MRC_A_LOG_ENTROPY, 0xc0010002);
        });
        const auto message = rq.bytes();
        return parse_event(mrcnl::table(mrcnl::attrs_after<genlmsghdr>(message.subspan(NLMSG_HDRLEN))));
    }

    std::string dir;
};

TEST_F(events, are_read)
{
    const auto e = event();
    EXPECT_EQ(event_text(e), "mrc0: ev-bad plane 3 peer fd00::2 ev 9: lost (4 times)");
    EXPECT_EQ(event_json(e), R"({"time":"2026-11-29T12:00:00.123456Z","boot_ns":5000000001,"id":17,"event":"ev-bad",)"
                             R"("dev":"mrc0","plane":3,"peer":"fd00::2","ev":9,"entropy":3221291010,)"
                             R"("cause":"lost","count":4,"last_ns":5000000002})");
    EXPECT_EQ(event_text(event(false)), "mrc0: ev-bad plane 3: lost (4 times)");
}

TEST_F(events, have_fields)
{
    const auto entry = journal_entry(event_fields(event()));
    for (const char *line : {"MESSAGE=mrc0: ev-bad plane 3 peer fd00::2 ev 9: lost (4 times)\n", "PRIORITY=5\n",
                             "\nMRC_DEV=mrc0\n", "\nMRC_EVENT=ev-bad\n", "\nMRC_CAUSE=lost\n", "\nMRC_PLANE=3\n",
                             "\nMRC_PEER=fd00::2\n", "\nMRC_EV=9\n", "\nMRC_ENTROPY=0xc0010002\n", "\nMRC_COUNT=4\n",
                             "\nMRC_ID=17\n", "\nMRC_TIME=2026-11-29T12:00:00.123456Z\n"})
        EXPECT_NE(entry.find(line), entry.npos) << line << entry;
    EXPECT_EQ(journal_entry(event_fields(event(false))).find("MRC_PEER"), std::string::npos);
}

TEST_F(events, a_value_of_two_lines_goes_by_its_length)
{
    EXPECT_EQ(journal_entry({{"A", "one"}, {"B", "x\ny"}}), std::string("A=one\nB\n\3\0\0\0\0\0\0\0x\ny\n", 20));
}

TEST_F(events, reach_a_journal)
{
    const auto at = path("socket");
    const int fd = listen(at);
    const Journal journal(at.c_str());
    char got[256];

    ASSERT_TRUE(journal.send({{"MESSAGE", "hello"}}));
    const auto n = recv(fd, got, sizeof(got), 0);
    ASSERT_GT(n, 0);
    EXPECT_EQ(std::string(got, static_cast<std::size_t>(n)), "MESSAGE=hello\n");
    close(fd);
    EXPECT_FALSE(journal.send({{"MESSAGE", "hello"}})) << "it went";
    EXPECT_FALSE(Journal("/nowhere/socket").send({{"MESSAGE", "hello"}}));
}

// One that is full is not waited for: mrcd has more to do.
TEST_F(events, do_not_wait_for_a_journal)
{
    const auto at = path("socket");
    const int fd = listen(at);
    const Journal journal(at.c_str());
    int sent = 0;

    while (sent < 100000 && journal.send({{"MESSAGE", std::string(1000, 'x')}}))
        sent++;
    EXPECT_LT(sent, 100000);
    close(fd);
}

TEST_F(events, a_file_is_rotated)
{
    EventFile file(path("log"), 100);
    const std::string line(39, 'x');   // two to a file

    for (int i = 0; i < 13; i++)
        ASSERT_EQ(file.append(std::to_string(10 + i) + line.substr(2)), 0);
    EXPECT_EQ(content("log").substr(0, 2), "22");
    EXPECT_EQ(content("log").size(), 40u);
    EXPECT_EQ(content("log.1").substr(0, 2), "20");
    EXPECT_EQ(content("log.1").size(), 80u);
    EXPECT_EQ(content("log.4").substr(0, 2), "14");
    EXPECT_FALSE(std::filesystem::exists(path("log.5"))) << "the oldest goes";
}

TEST_F(events, a_file_that_is_there_grows_on)
{
    std::ofstream(path("log")) << std::string(90, 'y') << '\n';
    EventFile file(path("log"), 100);
    ASSERT_EQ(file.append("a line that does not fit"), 0);
    EXPECT_EQ(content("log.1").size(), 91u);
    EXPECT_EQ(content("log"), "a line that does not fit\n");
}

// A link to a device or to another's file is not followed.
TEST_F(events, a_file_is_a_file)
{
    std::filesystem::create_symlink(path("other"), path("log"));
    EXPECT_NE(EventFile(path("log")).append("x"), 0);
    EXPECT_NE(EventFile("/dev/null").append("x"), 0);
    EXPECT_NE(EventFile(path("none/log")).append("x"), 0);
}

TEST_F(events, a_name_may_have_any_byte)
{
    Event e;
    e.dev = "a\"\\\n\xff";
    EXPECT_NE(event_json(e).find(R"("dev":"a\"\\\u000a\u00ff")"), std::string::npos) << event_json(e);
    EXPECT_EQ(journal_entry({{"MRC_DEV", e.dev}}).substr(0, 8), "MRC_DEV\n");
}

}   // namespace

}   // namespace mrcd
