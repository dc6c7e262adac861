// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// sonic.cc - for SONiC: a piece of CONFIG_DB as JSON, for "config load". JSON has no comments:
// traps are told apart. Tables as in SONiC's YANG models: sonic-srv6, sonic-static-route,
// sonic-interface, sonic-trimming, sonic-buffer-*, sonic-wred-profile, sonic-*-map, sonic-queue.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "export.h"

namespace mrcsw {

using namespace mrcfab;

namespace {

using json = nlohmann::ordered_json;

constexpr const char *kName = "MRC";
constexpr const char *kLastHop = "MRC_LASTHOP";   // the other map: ports towards hosts
constexpr unsigned kMtuOfSonic = 9100;

std::string number(std::uint64_t n) { return std::to_string(n); }

void addresses(json &db, const SwitchConfig &c)
{
    for (const SwitchPort &p : c.ports) {
        // A self-probe turns round at its T0.
        db["INTERFACE"][p.name] = {{"ipv6_use_link_local_only", "enable"}, {"loopback_action", "forward"}};
        db["INTERFACE"][p.name + "|" + to_string(p.addr)] = json::object();
    }
}

void routes(json &db, const SwitchConfig &c)
{
    for (const SwitchRoute &r : c.routes)
        db["STATIC_ROUTE"]["default|" + to_string(r.dst)] = {{"nexthop", to_string(r.via)}, {"ifname", r.port}};
}

// decap_dscp_mode has to be there, though nothing ends here.
void sids(json &db, const SwitchConfig &c)
{
    db["SRV6_MY_LOCATORS"][kName] = {{"prefix", to_string(c.sid.addr)}, {"block_len", "32"}, {"node_len", "16"},
                                     {"func_len", "16"}, {"arg_len", "0"}};
    db["SRV6_MY_SIDS"][std::string(kName) + "|" + to_string(c.sid)] = {{"action", "uN"}, {"decap_dscp_mode", "pipe"}};
}

void maps(json &db, const SwitchConfig &c)
{
    const Classes &k = c.qos.classes;

    for (const ClassDscps &d : class_dscps(c.qos))
        for (const unsigned dscp : d.dscps)
            db["DSCP_TO_TC_MAP"][kName][number(dscp)] = number(d.number);
    for (unsigned tc = 0; tc <= 7; tc++)
        db["TC_TO_QUEUE_MAP"][kName][number(tc)] = number(tc == k.trimmed ? k.control : tc);
    if (c.qos.trim_size) {
        db["TC_TO_DSCP_MAP"][kName][number(k.trimmed)] = number(c.qos.dscp.trimmed);
        db["TC_TO_DSCP_MAP"][kLastHop][number(k.trimmed)] = number(c.qos.dscp.trimmed_lasthop);
    }
    for (const SwitchPort &p : c.ports) {
        json &map = db["PORT_QOS_MAP"][p.name];
        map = {{"dscp_to_tc_map", kName}, {"tc_to_queue_map", kName}};
        if (c.qos.trim_size)
            map["tc_to_dscp_map"] = p.to_host ? kLastHop : kName;
    }
}

void queues(json &db, const SwitchConfig &c)
{
    const Classes &k = c.qos.classes;
    json &wred = db["WRED_PROFILE"][kName];

    wred = {{"ecn", "ecn_all"}};
    for (const char *color : {"green", "yellow", "red"}) {
        wred[fmt::format("wred_{}_enable", color)] = "true";
        wred[fmt::format("{}_min_threshold", color)] = number(c.qos.ecn.min);
        wred[fmt::format("{}_max_threshold", color)] = number(c.qos.ecn.max);
        wred[fmt::format("{}_drop_probability", color)] = number(c.qos.ecn.percent);
    }
    db["SCHEDULER"][kName] = {{"type", "STRICT"}};
    for (const SwitchPort &p : c.ports) {
        for (const unsigned tc : {k.data, k.no_trim})
            db["QUEUE"][fmt::format("{}|{}", p.name, tc)] = {{"wred_profile", kName}};
        db["QUEUE"][fmt::format("{}|{}", p.name, k.control)] = {{"scheduler", kName}};
    }
}

void trimming(json &db, const SwitchConfig &c)
{
    const Classes &k = c.qos.classes;

    if (!c.qos.trim_size)
        return;
    db["SWITCH_TRIMMING"]["GLOBAL"] = {{"size", number(c.qos.trim_size)}, {"dscp_value", "from-tc"},
                                       {"tc_value", number(k.trimmed)}, {"queue_index", number(k.control)}};
    db["BUFFER_PROFILE"][kName] = {{"pool", "egress_lossy_pool"}, {"size", "0"}, {"dynamic_th", "0"},
                                   {"packet_discard_action", "trim"}};
    for (const SwitchPort &p : c.ports)
        db["BUFFER_QUEUE"][fmt::format("{}|{}", p.name, k.data)] = {{"profile", kName}};
}

std::vector<std::string> sonic_traps(const SwitchConfig &c)
{
    auto list = common_traps(c);
    unsigned strange = 0;

    for (const SwitchPort &p : c.ports)
        strange += !p.name.starts_with("Ethernet");
    if (strange)
        list.push_back(fmt::format("{} of {} ports are not named EthernetN: SONiC takes names of its table PORT only "
                                   "(topology.ports, topology.differs)", strange, c.ports.size()));
    if (c.mtu > kMtuOfSonic)
        list.push_back(fmt::format("ports need an MTU of {}, SONiC's default is {}: config interface mtu", c.mtu,
                                   kMtuOfSonic));
    list.push_back("the FRR below may accept the uN and install nothing: look for it in \"show ipv6 route\"; images without "
                   "the interface sr0 need one: ip link add sr0 type dummy");
    if (c.qos.trim_size)
        list.push_back("an ASIC without trimming accepts the setting silently: watch TRIM_PKTS, TRIM_TX_PKTS and "
                       "TRIM_DRP_PKTS under load; a buffer profile's pool and threshold are the platform's: "
                       "copy those of its lossy profile");
    list.push_back("packets that leave by the port they came by are dropped by some ASICs in spite of loopback_action: "
                   "self-probes to a T0 need them");
    return list;
}

}   // namespace

Exported export_sonic(const SwitchConfig &c)
{
    json db = json::object();

    addresses(db, c);
    routes(db, c);
    sids(db, c);
    maps(db, c);
    queues(db, c);
    trimming(db, c);
    return {db.dump(4) + "\n", sonic_traps(c)};
}

}   // namespace mrcsw
