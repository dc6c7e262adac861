// SPDX-License-Identifier: GPL-2.0
// test_ctl_channel.cc - queues of EV events on a completion channel: what a program polls, and how often it is
// told. News is an eventfd here, as completions are.
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "test_ctl.h"

namespace {

class ctl_channel : public ctl {
  protected:
    ctl_channel()
    {
        v_channel.fd = eventfd(0, 0);
        channel = {MRC_KIND_CHANNEL, nullptr, &v_channel, -1, 0, 0};
    }
    ~ctl_channel() override
    {
        for (int fd : {v_channel.fd, kernel.news_fd, channel.poll_fd})
            if (fd >= 0)
                close(fd);
    }
    void SetUp() override
    {
        ctl::SetUp();
        channel.ctx = ctx;
        kernel.news_fd = eventfd(0, EFD_NONBLOCK);
        online(4);
        kernel.peers[a] = peer_of(4);
    }
    mrc_cq *queue_on_it()
    {
        mrc_ctl_ev_profile_attr attr = {};
        attr.ev_event_mask = any_news;
        EXPECT_EQ(mrc_ctl_modify_ev_profile(ctx, id, &attr, MRC_CTL_EV_PROFILE_EVENT_MASK), 0);
        mrc_cq *cq = mrc_ctl_create_ev_event_cq(ctx, 16, this, &channel, 0);
        EXPECT_NE(cq, nullptr);
        return cq;
    }
    int fd()
    {
        int fd = -1;
        EXPECT_EQ(mrc_get_comp_channel_fd(&channel, &fd), 0);
        return fd;
    }
    bool readable()
    {
        pollfd p = {fd(), POLLIN, 0};
        return poll(&p, 1, 0) == 1;
    }
    // An EV changes, and the kernel says so; or all that it said is read.
    static void news(size_t i)
    {
        becomes(a, i, MRC_NL_EV_ASSUMED_BAD);
        eventfd_write(kernel.news_fd, 1);
    }
    static void no_news()
    {
        eventfd_t n;
        eventfd_read(kernel.news_fd, &n);
    }
    // The event that is there; NULL: none.
    mrc_cq *told()
    {
        mrc_cq *cq = nullptr;
        void *user = nullptr;
        EXPECT_EQ(fcntl(fd(), F_SETFL, O_NONBLOCK), 0);
        if (mrc_get_cq_event(&channel, &cq, &user)) {
            EXPECT_EQ(errno, EAGAIN);
            return nullptr;
        }
        EXPECT_EQ(user, this);
        return cq;
    }

    ibv_comp_channel v_channel = {};
    mrc_comp_channel channel = {};
};

TEST_F(ctl_channel, armed_once_told_once)
{
    mrc_ctl_ev_event event[4];
    mrc_cq *cq = queue_on_it();

    news(0);
    EXPECT_FALSE(readable()); // nobody wanted to know
    ASSERT_EQ(mrc_req_notify_cq(cq, 0), 0);
    ASSERT_EQ(mrc_req_notify_cq(cq, 0), 0); // as much as once
    EXPECT_TRUE(readable());                // what came before is not lost
    EXPECT_EQ(told(), cq);
    EXPECT_FALSE(readable());
    EXPECT_EQ(told(), nullptr);
    EXPECT_EQ(mrc_ctl_poll_ev_event(cq, 4, event), 1);
    no_news();
    ASSERT_EQ(mrc_req_notify_cq(cq, 0), 0);
    EXPECT_EQ(told(), nullptr);
    news(1);
    EXPECT_EQ(told(), cq);
    EXPECT_EQ(mrc_destroy_cq(cq), EBUSY); // not acknowledged
    mrc_ack_cq_events(cq, 2);
    EXPECT_EQ(mrc_destroy_cq(cq), 0);
}

// The file that the program had before the queue was there is the one.
TEST_F(ctl_channel, file_of_before)
{
    pollfd p = {fd(), POLLIN, 0};
    mrc_cq *cq = queue_on_it();

    EXPECT_EQ(fd(), p.fd);
    ASSERT_EQ(mrc_req_notify_cq(cq, 0), 0);
    EXPECT_EQ(poll(&p, 1, 0), 0);
    news(0);
    EXPECT_EQ(poll(&p, 1, 0), 1);
    EXPECT_EQ(mrc_destroy_cq(cq), 0); // armed
    EXPECT_EQ(poll(&p, 1, 0), 0);
}

TEST_F(ctl_channel, completions_are_told_too)
{
    pollfd p = {fd(), POLLIN, 0};

    EXPECT_EQ(poll(&p, 1, 0), 0);
    eventfd_write(v_channel.fd, 1);
    EXPECT_EQ(poll(&p, 1, 0), 1);
}

// Who waits in mrc_get_cq_event() wakes up.
TEST_F(ctl_channel, one_who_waits)
{
    mrc_cq *cq = queue_on_it(), *got = nullptr;
    void *user;

    ASSERT_EQ(mrc_req_notify_cq(cq, 0), 0);
    std::thread other([&] { EXPECT_EQ(mrc_get_cq_event(&channel, &got, &user), 0); });
    usleep(20000);
    eventfd_write(kernel.news_fd, 1);
    other.join();
    EXPECT_EQ(got, cq);
    mrc_ack_cq_events(cq, 1);
    EXPECT_EQ(mrc_destroy_cq(cq), 0);
}

// A child has the queue's memory and none of its news: it is refused, and its parent notices nothing of it.
TEST_F(ctl_channel, child_takes_nothing_from_its_parent)
{
    mrc_ctl_ev_event event[4];
    mrc_cq *cq = queue_on_it(), *got;
    void *user;
    int status = 0;

    ASSERT_EQ(mrc_req_notify_cq(cq, 0), 0);
    pid_t pid = fork();
    if (!pid) {
        int bad = 0, fd;
        bad |= (mrc_ctl_poll_ev_event(cq, 4, event) != -EINVAL || errno != EINVAL) << 0;
        bad |= (mrc_req_notify_cq(cq, 0) != EINVAL) << 1;
        // It must not wait: what it would wait for is its parent's.
        alarm(20);
        bad |= (mrc_get_cq_event(&channel, &got, &user) != -1 || errno != EINVAL) << 2;
        // By a socket of its own.
        bad |= (ev_state(MRC_CTL_PROFILE_ONLINE) != 0) << 3;
        bad |= (mrc_destroy_cq(cq) != 0) << 4;
        // A queue of its own would be watched by its parent's file.
        bad |= (mrc_ctl_create_ev_event_cq(ctx, 16, this, &channel, 0) || errno != EINVAL) << 5;
        bad |= (mrc_get_comp_channel_fd(&channel, &fd) != -1 || errno != EINVAL) << 6;
        _exit(bad);
    }
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0); // else a bit of the exit status says what was wrong
    news(0);
    EXPECT_TRUE(readable());
    EXPECT_EQ(told(), cq);
    EXPECT_EQ(mrc_ctl_poll_ev_event(cq, 4, event), 1);
    mrc_ack_cq_events(cq, 1);
    EXPECT_EQ(mrc_destroy_cq(cq), 0);
}

TEST_F(ctl_channel, goes_after_its_queues)
{
    mrc_cq *cq = queue_on_it();

    ctx->n_channels++;
    EXPECT_EQ(mrc_destroy_comp_channel(&channel), EBUSY);
    EXPECT_EQ(mrc_destroy_cq(cq), 0);
    EXPECT_EQ(channel.n_queues, 0u);
}

TEST_F(ctl_channel, without_one_nobody_is_told)
{
    EXPECT_EQ(mrc_req_notify_cq(queue(), 0), EINVAL);
}

} // namespace
