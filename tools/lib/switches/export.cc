// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "export.h"

#include <fmt/format.h>

#include <algorithm>

#include "../fabric/usid.h"

namespace mrcsw {

using namespace mrcfab;

namespace {

constexpr unsigned kLocalUsids = 0xe000;   // the local ID block of IOS-XR and FRR

unsigned usid_of(const Prefix6 &p) { return get_bits(p.addr, kUsidBlockLen, kUsidLen); }

}   // namespace

const std::vector<Format> &formats()
{
    static const std::vector<Format> all = {
        {"sonic", "json", false, export_sonic},
        {"frr", "conf", true, export_frr},
        {"cumulus", "sh", true, export_cumulus},
        {"eos", "cfg", true, export_eos},
    };
    return all;
}

const Format *find_format(std::string_view name)
{
    const auto it = std::find_if(formats().begin(), formats().end(), [&](const Format &f) { return f.name == name; });
    return it == formats().end() ? nullptr : &*it;
}

std::vector<std::string> common_traps(const SwitchConfig &c)
{
    std::vector<std::string> list;
    const auto local = std::count_if(c.routes.begin(), c.routes.end(),
                                     [](const SwitchRoute &r) { return usid_of(r.dst) >= kLocalUsids; });

    if (usid_of(c.sid) >= kLocalUsids || local)
        list.push_back(fmt::format("uSIDs from {:#x} on are local ones for IOS-XR and FRR: of this switch {} lead there, "
                                   "and such a system may refuse them", kLocalUsids, local));
    if (!c.qos.trim_size)
        list.push_back("qos.trim_size is not in the fabric file: nothing here makes the switch trim");
    return list;
}

std::vector<ClassDscps> class_dscps(const Qos &q)
{
    const Dscps &d = q.dscp;
    std::vector<ClassDscps> list = {{"data", q.classes.data, {d.data, d.rtx}},
                                    {"data that is not trimmed, probes", q.classes.no_trim, {d.no_trim}},
                                    {"control, trimmed", q.classes.control, {d.control, d.trimmed, d.trimmed_lasthop}}};
    for (ClassDscps &c : list) {
        std::sort(c.dscps.begin(), c.dscps.end());
        c.dscps.erase(std::unique(c.dscps.begin(), c.dscps.end()), c.dscps.end());
    }
    // Without trimming both may have one DSCP: it is data's then.
    if (d.no_trim == d.data || d.no_trim == d.rtx)
        list[1].dscps.clear();
    return list;
}

std::string as_comments(const std::vector<std::string> &traps, std::string_view mark)
{
    constexpr std::size_t kWidth = 100;
    std::string text;

    for (const std::string &trap : traps) {
        std::string line;
        std::size_t at = 0;
        while (at < trap.size()) {
            const auto end = std::min(trap.find(' ', at), trap.size());
            if (!line.empty() && line.size() + end - at >= kWidth) {
                text += fmt::format("{} {}\n", mark, line);
                line = " ";
            }
            line += (line.empty() ? "" : " ") + trap.substr(at, end - at);
            at = end + 1;
        }
        text += fmt::format("{} {}\n", mark, line);
    }
    return text;
}

}   // namespace mrcsw
