// SPDX-License-Identifier: GPL-2.0
// avoider.h - turns verdicts into the list of links that the module avoids.
//
// Limits: at most 5 % of the cables of a plane, at least those of one T1; at least one uplink of this host's
// T0 stays; never a plane, a NIC or this host's own cable. A verdict beyond a limit is reported and
// not applied. The list expires in the module unless it is renewed, so a dead mrcd leaves nothing
// behind.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../tools/lib/nl/error.h"
#include "../tools/lib/verdict/usid_links.h"

namespace mrcd {

using AvoidLink = mrcver::UsidLink;

// The interface to the module. Tests implement it as a struct.
class AvoidKernel {
public:
    virtual ~AvoidKernel() = default;

    // Replaces mrcd's list of the device.
    virtual mrcnl::error set(const std::string &dev, const std::vector<AvoidLink> &links, unsigned expiry_s) = 0;
};

class NetlinkAvoids : public AvoidKernel {
public:
    mrcnl::error set(const std::string &dev, const std::vector<AvoidLink> &links, unsigned expiry_s) override;
};

class Avoider {
public:
    struct Setup {
        std::string node, dev;
        bool act = false;          // false: only report
        unsigned expiry_s = 600;
    };
    using OnSaid = std::function<void(const std::string &)>;

    Avoider(const mrcver::Layout &layout, const Setup &setup, AvoidKernel &kernel, OnSaid said);

    // @sick: the parts that verdicts name now. @now: time in seconds.
    void tick(double now, const std::vector<mrcver::Part> &sick);
    // The module was loaded: it has no list.
    void renew() { next_ = 0; }

    std::vector<AvoidLink> links() const;   // avoided now

private:
    using Cable = std::pair<unsigned, unsigned>;   // T0, T1
    using Cables = std::set<Cable>;

    Cables cables_of(const mrcver::Part &part) const;
    bool covered(const mrcver::Part &part, const std::vector<mrcver::Part> &sick) const;
    std::string beyond(const mrcver::Part &part) const;   // the limit that forbids it; "": none
    void release(const std::vector<mrcver::Part> &sick);
    void take(const mrcver::Part &part);
    void push(double now);

    const mrcver::Layout &layout_;
    Setup setup_;
    AvoidKernel &kernel_;
    OnSaid said_;
    unsigned host_;
    std::set<mrcver::Part> applied_, refused_;
    std::vector<AvoidLink> pushed_;
    std::string complaint_;
    double next_ = 0;
    bool begun_ = false;   // the module has a list of ours
};

}   // namespace mrcd
