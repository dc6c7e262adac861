// SPDX-License-Identifier: GPL-2.0
// world.h - what libmrc stands on, as a struct: libibverbs with one device (fake_verbs.cc), and the
// module's netlink family (fake_genl.cc). It refuses what the real ones refuse, and whatever else the
// bytes say; it dies of what the library must never ask for.
#pragma once

#include <infiniband/verbs.h>

#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

extern "C" {
#include "mrc_ctl.h"
}

#include "../bytes.h"

// A word that no object of the library begins with, and room behind it.
struct junk_object {
    uint32_t words[64] = {0x12345678};
};

// ---- netlink ----

struct fake_ev {
    mrc_ctl_ev ev = {};
    uint32_t state = 0; // enum mrc_nl_ev_state
};

struct fake_profile {
    std::vector<uint8_t> attrs; // of MRC_A_PROFILE, as they were sent
    std::vector<mrc_ctl_ev> evs;
};

struct fake_peer {
    uint64_t profile = 0;
    uint32_t qps = 0;
    std::vector<fake_ev> evs;
};

struct fake_family {
    std::map<uint64_t, fake_profile> profiles;
    std::map<uint64_t, std::vector<uint8_t>> ccs; // attributes of MRC_A_CC
    std::map<uint8_t, fake_peer> peers;           // by the last byte of their GID
    std::map<uint8_t, bool> planes{{1, true}, {2, true}, {3, true}, {4, true}};
    uint32_t qp_cc = 0;   // the CC profile of a QP
    unsigned changes = 0; // that were done
    unsigned events = 0;  // not heard yet
    bool gone = false;    // the device is in another namespace
};

// ---- libibverbs ----

struct world {
    explicit world(bytes &in);
    ~world();

    bytes &in;
    bool quiet = false; // the harness asks: nothing fails, nothing is damaged
    bool honest;        // netlink's answers are whole; else only memory is judged
    bool admin = true;
    bool ours = true;   // the device is an MRC one
    fake_family net;

    ibv_device dev = {};
    ibv_context ctx[2] = {};
    ibv_pd pd[2] = {};
    std::set<ibv_qp *> qps;
    std::set<ibv_cq *> cqs;
    std::set<ibv_comp_channel *> channels;
    std::map<ibv_cq *, unsigned> cq_users;
    unsigned events_out = 0; // handed out and not acknowledged
    unsigned posted = 0;     // work requests that were taken
    unsigned taken = ~0u;    // and how many will be, of this call
    uint32_t next = 1;       // numbers and handles
    std::map<int, std::map<int, void *>> polled;      // files of epoll: what each looks at
    std::map<const void *, int> files;                // of sockets
    unsigned looks = 0;                               // at those: an end to it when the bytes have come to theirs

    // 0, or an errno that the bytes want.
    int fails();
    bool says(u32 one_in) { return !quiet && in.one_in(one_in); }
};

extern world *the_world;
