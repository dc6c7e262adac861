// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// ev_order.cc - denies and allows EVs at every peer that has a path set of the profile.
//
// Peers come and go, and path sets are replaced, between a dump and the request that follows. So a
// request names the EV by value, not by index alone. If the kernel refuses it for that reason, the
// EV is looked up again.
#include <linux/mrc.h>

#include "ev_path.h"
#include "profile.h"

namespace {

constexpr int tries = 10;

struct place {
    set_key set;
    uint64_t paths; // number of the path set
    uint32_t index;
};

// The requested states in a path set.
struct set_orders {
    uint64_t paths = 0;
    std::map<uint32_t, const ev_order *> of;
};

// Sorts the orders by path set.
void sort_out(const std::vector<ev_order> &orders, const std::map<ev_key, std::vector<place>> &places,
              std::map<set_key, set_orders> &sets)
{
    for (const auto &order : orders) {
        auto it = places.find(key_of(order.ev));
        if (it != places.end())
            for (const auto &at : it->second) {
                sets[at.set].paths = at.paths;
                sets[at.set].of[at.index] = &order;
            }
    }
}

// False: the path set was replaced, or the peer was removed.
bool send(mrc_ctl &c, const set_key &set, const set_orders &orders)
{
    auto rq = c.request(MRC_CMD_EV_SET);
    rq.nest(MRC_A_PEER, [&](auto &n) {
        n.put(MRC_A_PEER_GID, {reinterpret_cast<const uint8_t *>(set.first.data()), set.first.size()});
        n.u64(MRC_A_PEER_PATHS, orders.paths);
        if (set.second)
            n.u64(MRC_A_PEER_NAMED, set.second);
    });
    for (const auto &[index, order] : orders.of)
        rq.nest(MRC_A_EV, [index = index, order = order](auto &n) { // clang 14 needs them named
            n.u32(MRC_A_EV_INDEX, index);
            n.put(MRC_A_EV_VALUE, {order->ev.val, sizeof(order->ev.val)});
            n.u8(MRC_A_EV_PORT, order->ev.port);
            n.u32(MRC_A_EV_STATE, order->denied ? MRC_NL_EV_DENIED : MRC_NL_EV_GOOD);
        });
    return c.call_unless(rq, {ESTALE, ENOENT});
}

} // namespace

void ev_set_states(mrc_ctl &c, uint64_t id, const std::vector<ev_order> &orders)
{
    for (int i = 0; i < tries; i++) {
        std::map<ev_key, std::vector<place>> places;
        std::map<set_key, set_orders> sets;
        bool all = true;

        each_path(c, id, [&](const mrc_ctl_ev &ev, const mrcnl::table &t, const mrcnl::table &peer) {
            places[key_of(ev)].push_back({set_of(peer), peer[MRC_A_PEER_PATHS].num(),
                                          static_cast<uint32_t>(t[MRC_A_EV_INDEX].num())});
        });
        sort_out(orders, places, sets);
        for (const auto &[set, list] : sets)
            all &= send(c, set, list);
        if (all)
            return;
    }
    throw refused{EIO, "path sets are replaced faster than they can be listed"};
}
