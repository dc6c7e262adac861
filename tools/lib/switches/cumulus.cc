// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// cumulus.cc - for Cumulus Linux 5.14 and later: a shell script of NVUE commands. A static route
// with a link-local next hop has no NVUE command: these are a snippet of frr.conf.
#include <fmt/format.h>

#include <algorithm>

#include "export.h"

namespace mrcsw {

using namespace mrcfab;

namespace {

constexpr unsigned kTrimMin = 256, kTrimMax = 1024;   // bytes

class Writer {
public:
    explicit Writer(const SwitchConfig &c) : c_(c) {}

    std::string write()
    {
        text_ = fmt::format("#!/bin/sh\n# {}: NVUE commands, by mrcctl fabric export\n", c_.name);
        text_ += as_comments(traps(), "#") + "set -e\n";
        ports();
        sids();
        classes();
        ecn();
        if (c_.qos.trim_size)
            trimming();
        routes();
        text_ += "nv config apply -y\n";
        return std::move(text_);
    }

    std::vector<std::string> traps() const
    {
        auto list = common_traps(c_);

        list.push_back("SRv6 needs Spectrum-4 or later, and works in the default VRF. Each locator is F3216: block 32, node 16.");
        list.push_back("Next hops are fe80::1 and fe80::2. The host or switch at the other end must have its address, too.");
        if (!c_.qos.trim_size)
            return list;
        if (c_.qos.trim_size < kTrimMin)
            list.push_back(fmt::format("qos.trim_size is {}: Cumulus trims to {} ... {} bytes, and {} is set",
                                       c_.qos.trim_size, kTrimMin, kTrimMax, kTrimMin));
        list.push_back("Trimming and the NetQ WJH agent exclude each other. Trimming uses the last service port.");
        return list;
    }

private:
    template <typename... Args> void nv(fmt::format_string<Args...> format, Args &&...args)
    {
        text_ += "nv set " + fmt::format(format, std::forward<Args>(args)...) + "\n";
    }

    void ports()
    {
        for (const SwitchPort &p : c_.ports) {
            text_ += fmt::format("# {}\n", p.far_end);
            nv("interface {} ip address {}", p.name, to_string(p.addr));
            nv("interface {} link mtu {}", p.name, c_.mtu);
        }
    }

    void sids()
    {
        const auto sid = to_string(c_.sid);

        nv("router segment-routing srv6 state enabled");
        nv("router segment-routing srv6 locator {} prefix {}", kLocator, sid);
        nv("router segment-routing srv6 locator {} block-length 32", kLocator);
        nv("router segment-routing srv6 locator {} node-length 16", kLocator);
        nv("router segment-routing srv6 locator {} func-length 0", kLocator);
        nv("router segment-routing static srv6-sid {} locator-name {}", sid, kLocator);
        nv("router segment-routing static srv6-sid {} behavior uN", sid);
    }

    void classes()
    {
        const Classes &k = c_.qos.classes;

        nv("qos mapping default-global trust l3");
        for (const ClassDscps &d : class_dscps(c_.qos))
            if (!d.dscps.empty())
                nv("qos mapping default-global dscp {} switch-priority {}", fmt::join(d.dscps, ","), d.number);
        for (const unsigned priority : {k.data, k.no_trim, k.control})
            nv("qos egress-queue-mapping default-global switch-priority {} traffic-class {}", priority, priority);
        nv("qos egress-queue-mapping default-global switch-priority {} traffic-class {}", k.trimmed, k.control);
        nv("qos egress-scheduler default-global traffic-class {} mode strict", k.control);
    }

    void ecn()
    {
        const Ecn &e = c_.qos.ecn;
        const auto tc = fmt::format("qos congestion-control default-global traffic-class {},{}", c_.qos.classes.data,
                                    c_.qos.classes.no_trim);

        nv("{} ecn enable", tc);
        nv("{} min-threshold {}", tc, e.min);
        nv("{} max-threshold {}", tc, e.max);
        nv("{} probability {}", tc, e.percent);
    }

    // Two marks: packets for a host behind this port were trimmed at the last hop.
    void trimming()
    {
        const Classes &k = c_.qos.classes;

        for (const auto &[name, dscp] : {std::pair{"mrc-fabric", c_.qos.dscp.trimmed},
                                         std::pair{"mrc-lasthop", c_.qos.dscp.trimmed_lasthop}})
            nv("qos remark {} switch-priority {} dscp {}", name, k.trimmed, dscp);
        for (const SwitchPort &p : c_.ports) {
            nv("interface {} qos remark profile {}", p.name, p.to_host ? "mrc-lasthop" : "mrc-fabric");
            nv("interface {} packet-trim egress-eligibility traffic-class {}", p.name, k.data);
        }
        nv("system forwarding packet-trim size {}", std::max(kTrimMin, c_.qos.trim_size));
        nv("system forwarding packet-trim switch-priority {}", k.trimmed);
        nv("system forwarding packet-trim remark dscp port-level");
        nv("system forwarding packet-trim state enabled");
    }

    void routes()
    {
        text_ += "routes=$(mktemp --suffix=.yaml)\ncat >\"$routes\" <<'END'\n- set:\n    system:\n      config:\n        snippet:\n"
                 "          frr.conf: |\n";
        for (const SwitchRoute &r : c_.routes)
            text_ += fmt::format("            ipv6 route {} {} {}\n", to_string(r.dst), to_string(r.via), r.port);
        text_ += "END\nnv config patch \"$routes\"\nrm \"$routes\"\n";
    }

    const SwitchConfig &c_;
    std::string text_;
};

}   // namespace

Exported export_cumulus(const SwitchConfig &c)
{
    Writer w(c);
    auto traps = w.traps();

    return {w.write(), std::move(traps)};
}

}   // namespace mrcsw
