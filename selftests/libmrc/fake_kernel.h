// SPDX-License-Identifier: GPL-2.0
// fake_kernel.h - what libmrc's controller half asks of the kernel, without one: in the place of
// tools/lib/nl/genl.cc. Requests are parsed and answers built as netlink messages.
//
// What is here is what tests need: profiles with EVs, path sets of peers, CC profiles, events.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "mrc_ctl.h"
#include "rdma/mrc-abi.h"

struct fake_path {
    mrc_ctl_ev ev;
    uint32_t state; // MRC_NL_EV_*
};

struct fake_peer {
    uint64_t profile;
    uint8_t dst_len;
    uint32_t qps;
    std::vector<fake_path> paths;
    uint64_t set = 1, first_set = 1; // numbers of the path set, and of the peer's first
    uint64_t bad = 0, good = 0;      // changes to ASSUMED_BAD; to GOOD

    // As mrc_ev_move() counts.
    void turn(size_t i, uint32_t state);
};

struct fake_profile {
    uint32_t mode, fmt, min_active;
    std::vector<mrc_ctl_ev> evs;
    std::vector<mrc_ctl_ev_field> fields; // GEN: what the EVs are made of; EXP: how they are named, if it is said
    std::vector<uint8_t> widths = {};     // of the format's fields
    std::vector<bool> denied = {};        // by EV; none: all are allowed
};

struct fake_cc {
    std::string algorithm;
    uint32_t window, trimming, base_rtt;
};

struct fake_kernel {
    std::map<std::string, fake_peer> peers; // by GID, 16 letters
    std::map<std::pair<std::string, uint64_t>, fake_peer> named; // path sets of profiles that QPs name
    std::map<uint64_t, fake_profile> profiles;
    std::map<uint64_t, fake_cc> ccs;
    std::map<int, int> calls;                    // how many, by MRC_CMD_*
    std::map<int, int> fails;                    // errno of the next, by MRC_CMD_*
    std::map<int, std::function<void()>> before; // done once, before the next one
    bool is_ours = true;                         // the device is one of ours,
    std::string ibdev = "mrc0";                  // and the name of the one in this namespace
    // Endpoints: EVs that swallow, by port; why a question is not sent, by port; how many each answers, -1: all.
    // QPs: what the last change carried, and why the next ones are refused.
    mrc_umodify_qp asked = {};
    int qp_fails = 0;
    std::map<int, int> refuses;                  // errno, of questions by that port
    std::vector<int> swallows;                   // ports
    std::vector<uint32_t> told;                  // of ports, by port status updates
    int busy = 0;                                // so many questions find no room
    int events = 0;                              // that EVs changed, and nobody read yet
    int news_fd = -1;                            // what is polled for that
};

// Made anew by each test.
extern fake_kernel kernel;

// Held while it works; by tests with threads (test_threads.cc), too, while they look at it.
extern std::recursive_mutex kernel_lock;

// EV number @i of a test.
mrc_ctl_ev fake_ev(int i);
