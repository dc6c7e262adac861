// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// forward.h - simulates forwarding of a packet, hop by hop, with the routes that the nodes should
// have.
//
// Longest prefix first. At its own uSID a switch shifts the destination and looks it up again.
// Independent of the code that computes the routes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cabling.h"
#include "desired.h"

namespace mrcfab {

struct Journey {
    std::vector<std::string> switches;   // in order
    std::vector<std::string> named;      // those of them that took their uSID out
    std::string host;                    // where it arrived; empty: nowhere,
    std::string lost;                    // and why
};

class Forwarding {
public:
    explicit Forwarding(const Fabric &fabric) : fabric_(fabric), cabling_(fabric) {}

    // Of a node that exists. Kept until many others were asked for.
    const Desired &desired(const std::string &node);
    Journey send(const std::string &host, const Ev &ev);

    unsigned long hops() const { return hops_; }

private:
    struct Node {
        Desired want;
        std::map<unsigned, std::map<Ip6, const WantedRoute *>, std::greater<>> routes;   // by length
    };

    std::shared_ptr<const Node> node(const std::string &name);
    static const WantedRoute *route(const Node &node, const Ip6 &dst);
    static const WantedPlane *plane(const Desired &host, unsigned number);
    // The node behind @here, or the end of the journey.
    bool pass(PortAt &here, Ip6 &dst, Journey &j);
    bool arrive(const Node &host, const PortAt &at, const Ip6 &dst, Journey &j) const;

    const Fabric &fabric_;
    Cabling cabling_;
    std::map<std::string, std::shared_ptr<const Node>> nodes_;
    std::size_t kept_ = 0;   // routes and EVs in them
    unsigned long hops_ = 0;
};

}   // namespace mrcfab
