// SPDX-License-Identifier: GPL-2.0
// genl.h - a generic netlink family: its id, requests, events.
//
//     mrcnl::genl_socket s;
//     if (auto e = s.open("mrc"))
//         ...e.text...
//     mrcnl::request rq(MRC_CMD_PLANE_SET);
//     rq.str(MRC_A_DEV_NAME, "mrc0").nest(MRC_A_PLANE, [](auto &n) {
//         n.u8(MRC_A_PLANE_NUMBER, 1);
//     });
//     auto e = s.call(rq);
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "socket.h"

namespace mrcnl {

// The numbers a family has while its module is loaded; another time it has others.
struct family {
    uint16_t id = 0;
    std::map<std::string, uint32_t, std::less<>> groups;

    bool operator==(const family &) const = default;
};

struct message {
    uint8_t cmd = 0;
    attr_range attrs;
};

using handler = std::function<void(const message &)>;

// Asks over @s, a socket of NETLINK_GENERIC. One answer has the id and the groups: two could be
// of two loads of the module, as genl_ctrl_resolve() and genl_ctrl_resolve_grp() are.
error find_family(socket &s, const std::string &name, family &f);

// A received message's command and attributes; false: too short.
bool to_message(bytes payload, message &out);

// An attribute of 32 bits, and its value.
struct number {
    uint16_t type;
    uint32_t value;
};

class genl_socket {
  public:
    // Connects in the caller's network namespace and looks the family up.
    error open(const std::string &family);
    // A second socket for events of a multicast group, by name: poll fd(), then receive(). Of events that
    // have other values than @only in these attributes nothing is heard.
    error join(const std::string &group, const std::vector<number> &only = {});
    int fd() const;

    // See socket.h.
    error call(request &rq, const handler &on_reply = {});
    error dump(request &rq, const handler &on_reply);
    error receive(const handler &on_event);
    void own(handler h);
    error wait_own(std::chrono::nanoseconds limit);

  private:
    on_message of_family(const handler &h) const;

    socket requests_, events_;
    std::string name_;
    family family_;
};

} // namespace mrcnl
