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
    request rq(MRC_CMD_EV_GET);

    k = {{}, clock::now()};
    if (!open_ && nl_.open(MRC_GENL_NAME))
        return;
    open_ = true;
    rq.str(MRC_A_DEV_NAME, dev);
    rq.nest(MRC_A_PEER, [&](request &n) { n.put(MRC_A_PEER_GID, peer); });
    // If the peer is gone, no value is known.
    (void)nl_.dump(rq, [&](const message &m) {
        for (auto a : m.attrs) {
            if (a.type() != MRC_A_EV)
                continue;
            table ev(a);
            auto bytes = ev[MRC_A_EV_VALUE].bytes();
            ev_value value = {};
            std::copy_n(bytes.begin(), std::min(bytes.size(), value.size()), value.begin());
            k.evs.add(static_cast<unsigned>(ev[MRC_A_EV_PORT].num()), static_cast<uint32_t>(ev[MRC_A_EV_INDEX].num()),
                      static_cast<uint32_t>(ev[MRC_A_EV_ENTROPY].num()), value);
        }
    });
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
