// SPDX-License-Identifier: GPL-2.0
// ev_values.cc - see ev_values.h.
#include "ev_values.h"

#include <algorithm>

#include <linux/mrc.h>

namespace mrcctl {

using mrcnl::message;
using mrcnl::request;
using mrcnl::table;

namespace {

// An EV that is not there is not looked for again within this time: the log may have thousands.
constexpr std::chrono::seconds patience{1};

} // namespace

mrcnl::error each_ev(mrcnl::genl_socket &nl, const std::string &dev, const gid &peer,
                     const std::function<void(const peer_ev &)> &take)
{
    request rq(MRC_CMD_EV_GET);

    rq.str(MRC_A_DEV_NAME, dev);
    rq.nest(MRC_A_PEER, [&](request &n) { n.put(MRC_A_PEER_GID, peer); });
    return nl.dump(rq, [&](const message &m) {
        for (auto a : m.attrs) {
            if (a.type() != MRC_A_EV)
                continue;
            table t(a);
            auto bytes = t[MRC_A_EV_VALUE].bytes();
            peer_ev ev = {static_cast<uint8_t>(t[MRC_A_EV_PORT].num()), static_cast<uint32_t>(t[MRC_A_EV_INDEX].num()),
                          static_cast<uint32_t>(t[MRC_A_EV_ENTROPY].num()), {}};
            std::copy_n(bytes.begin(), std::min(bytes.size(), ev.value.size()), ev.value.begin());
            take(ev);
        }
    });
}

void ev_list::add(unsigned plane, uint32_t index, uint32_t entropy, const ev_value &value)
{
    auto [at, fresh] = values_.try_emplace({plane, index, entropy}, value);
    if (!fresh && at->second != value)
        at->second.reset();
}

std::optional<ev_value> ev_list::find(unsigned plane, uint32_t index, uint32_t entropy) const
{
    auto at = values_.find({plane, index, entropy});
    return at == values_.end() ? std::nullopt : at->second;
}

void ev_values::ask(const std::string &dev, const gid &peer, known &k)
{
    k = {{}, clock::now()};
    if (!open_ && nl_.open(MRC_GENL_NAME))
        return;
    open_ = true;
    // If the peer is gone, no value is known.
    (void)each_ev(nl_, dev, peer, [&](const peer_ev &ev) { k.evs.add(ev.plane, ev.index, ev.entropy, ev.value); });
}

std::optional<ev_value> ev_values::find(const std::string &dev, const gid &peer, unsigned plane, uint32_t index,
                                        uint32_t entropy)
{
    known &k = peers_[{dev, peer}];
    auto value = k.evs.find(plane, index, entropy);

    if (value || (k.asked && clock::now() - *k.asked < patience))
        return value;
    ask(dev, peer, k);
    return k.evs.find(plane, index, entropy);
}

} // namespace mrcctl
