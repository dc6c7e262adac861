// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// controller.h - the controller part of a context: a socket of the module's netlink family, and the
// profiles.
//
// An ONLINE profile belongs to the kernel, and this is its copy. An OFFLINE profile exists only in
// this context. Errors inside are exceptions; none leaves the library.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "nl/genl.h"

extern "C" {
#include "object.h"
}

// The most fields of a format, and of a row of generated EVs: engine/wire/mrc_evgen.h.
inline constexpr int mrc_fmt_fields_max = 16;
inline constexpr int mrc_evs_max = 4096;

// An exception: the errno that the call returns, and the reason for MRC_DEBUG.
struct refused {
    int code;
    std::string text;
};

struct fmt_profile {
    mrc_ctl_profile_state state = MRC_CTL_PROFILE_INIT;
    uint32_t mode = 0;
    std::vector<uint8_t> widths;
    uint8_t vendor[MRC_CTL_MAX_VENDOR_CFG_SIZE] = {};
};

struct ev_slot {
    mrc_ctl_ev ev = {}; // as programs name it: ev_name.h
    mrc_ctl_ev_state state = MRC_CTL_EV_GOOD; // GOOD or DENIED: what a controller said
};

struct ev_profile {
    mrc_ctl_profile_state state = MRC_CTL_PROFILE_INIT;
    uint32_t mode = 0;
    uint32_t given = 0; // attributes that were said, MRC_CTL_EV_PROFILE_*
    uint64_t fmt_id = 0;
    uint32_t fmt = 0;              // the format's mode; ONLINE
    std::vector<uint8_t> widths;   // likewise
    uint32_t count = 0;
    uint32_t min_active = 0;
    int event_mask = 0;
    std::vector<ev_slot> evs;
    std::vector<mrc_ctl_ev_field> fields;
    bool one_row = true; // the fields are all of one; others than libmrc may make several
    uint8_t vendor[MRC_CTL_MAX_VENDOR_CFG_SIZE] = {};
};

struct cc_profile {
    mrc_ctl_profile_state state = MRC_CTL_PROFILE_INIT;
    uint32_t given = 0;
    bool nscc = false; // else none: a fixed window
    // What the kernel has of it besides, and mrc_ctl.h does not know: kept as it is.
    uint32_t window = 0;
    uint8_t trimming = 0;
    mrc_ctl_cc_nscc_cfg cfg = {};
    uint8_t vendor[MRC_CTL_MAX_VENDOR_CFG_SIZE] = {};
};

struct mrc_ctl {
    std::mutex lock; // of all below
    mrcnl::genl_socket nl;
    uint32_t ifindex = 0;
    uint16_t next_question = 0;
    pid_t owner = 0; // a child process asks over a socket of its own
    std::map<uint64_t, fmt_profile> fmts;
    std::map<uint64_t, ev_profile> evs;
    std::map<uint64_t, cc_profile> ccs;

    // Connects to the family and finds the device @ibdev. Throws refused.
    void open(const char *ibdev);
    // A request about the device.
    mrcnl::request request(uint8_t cmd) const;
    void call(mrcnl::request &rq);
    // Throws @e, unless it is no error, as a number that the interface defines.
    static void check(const mrcnl::error &e);
    // False: the kernel refused the request with one of @codes. Other errors are thrown.
    bool call_unless(mrcnl::request &rq, std::initializer_list<int> codes);
    void dump(uint8_t cmd, const std::function<void(const mrcnl::table &, const mrcnl::attr_range &)> &each);
};

// Runs @f(controller) under its lock: 0, or -1 with errno.
int mrc_ctl_run(mrc_context *ctx, const char *call, const std::function<void(mrc_ctl &)> &f);

// Throws EPERM unless the caller has CAP_NET_ADMIN, which the kernel will require.
void need_admin();

// Checks a transition; throws if it is not allowed. True: the state changes.
bool state_moves(mrc_ctl_profile_state now, mrc_ctl_profile_state to);

// The checks that every call with a mask starts with.
void check_call(const void *attr, int mask, int known);
void check_id(uint64_t id);
