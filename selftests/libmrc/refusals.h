// SPDX-License-Identifier: GPL-2.0
// refusals.h - calls of the controller half that are refused, each with its number and the reason.
#pragma once

#include <functional>
#include <vector>

#include "test_ctl.h"

// What is there when a call is refused.
enum class scene {
    nothing,
    offline, // a format ONLINE, EV profile 1 (EXP, EVs 0 and 1) and CC profile 1 OFFLINE
    online,  // these ONLINE as well
    used,    // and a peer with a QP has a path set
};

struct refusal {
    const char *call;
    int err;
    const char *why;
    scene where;
    std::function<int(mrc_context *)> f; // as the call returns
};

// Names of calls.
inline constexpr const char *mfmt = "mrc_ctl_modify_ev_fmt_profile", *qfmt = "mrc_ctl_query_ev_fmt_profile";
inline constexpr const char *mev = "mrc_ctl_modify_ev_profile", *qev = "mrc_ctl_query_ev_profile";
inline constexpr const char *mcc = "mrc_ctl_modify_cc_profile", *qcc = "mrc_ctl_query_cc_profile";
inline constexpr const char *mport = "mrc_ctl_modify_port", *qport = "mrc_ctl_query_port";
inline constexpr const char *qdev = "mrc_ctl_query_device", *qdev_ex = "mrc_ctl_query_device_ex";
inline constexpr const char *make_cq = "mrc_ctl_create_ev_event_cq", *poll_cq = "mrc_ctl_poll_ev_event";
inline constexpr const char *ep = "mrc_ctl_ep_batch_send_wait";

extern const std::vector<refusal> refusals;
