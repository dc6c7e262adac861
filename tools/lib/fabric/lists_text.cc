// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// lists_text.cc - see lists_text.h.
#include "lists_text.h"

#include <fmt/format.h>

#include "usid.h"

namespace mrcfab {

namespace {

constexpr std::uint64_t kCablesMax = 20000;

class Writer {
public:
    Writer(const Fabric &f, const Topology &t) : f_(f), t_(t) {}

    std::string write()
    {
        head();
        for (unsigned p = 1; p <= t_.planes; p++) {
            for (unsigned i = 1; i <= t_.t0s; i++)
                t0({p, i});
            for (unsigned i = 1; i <= t_.t1s; i++)
                t1({p, i});
        }
        for (unsigned t0 = 1; t0 <= t_.t0s; t0++)
            for (unsigned i = 1; i <= t_.hosts_per_t0; i++)
                host({t0, i});
        return std::move(text_);
    }

private:
    template <typename... Args> void put(fmt::format_string<Args...> format, Args &&...args)
    {
        text_ += fmt::format(format, std::forward<Args>(args)...);
    }

    void head()
    {
        put("[fabric]\nblock = \"{}\"\nprefix = \"{}\"\n", to_string(f_.block), to_string(f_.prefix));
        put("[usid]\nplane_stride = 0\nt0_base = {:#x}\nt1_base = {:#x}\nhost_base = {:#x}\n", kT0Usids,
            kT1Usids, kHostUsids);
        put("[planes]\ncount = {}\nmtu = {}\n", t_.planes, f_.mtu);
        put("[profile]\nid = {}\nevs_per_plane = {}\n", f_.profile_id, f_.evs_per_plane);
        if (f_.min_active)
            put("min_active = {}\n", *f_.min_active);
        if (f_.qos)
            qos(*f_.qos);
        if (f_.probing)
            probing(*f_.probing);
    }

    void probing(const Probing &p)
    {
        put("[probe]\n");
        if (p.rate)
            put("rate = \"{}\"\n", *p.rate);
        if (p.mode)
            put("mode = \"{}\"\n", *p.mode);
        if (p.timeout_ms)
            put("timeout_ms = {}\n", *p.timeout_ms);
        if (p.avoid_expiry_s)
            put("avoid_expiry_s = {}\n", *p.avoid_expiry_s);
    }

    void qos(const Qos &q)
    {
        put("[qos]\n");
        if (q.trim_size || !q.trim_nack)
            put("trim_size = {}\n", q.trim_size);
        put("[qos.dscp]\ndata = {}\nrtx = {}\ncontrol = {}\nno_trim = {}\ntrimmed = {}\ntrimmed_lasthop = {}\n",
            q.dscp.data, q.dscp.rtx, q.dscp.control, q.dscp.no_trim, q.dscp.trimmed, q.dscp.trimmed_lasthop);
        put("[qos.class]\ndata = {}\nno_trim = {}\ntrimmed = {}\ncontrol = {}\n", q.classes.data, q.classes.no_trim,
            q.classes.trimmed, q.classes.control);
        put("[qos.ecn]\nmin = {}\nmax = {}\npercent = {}\n", q.ecn.min, q.ecn.max, q.ecn.percent);
    }

    void sw(const NodeId &id, unsigned tier, unsigned plane, unsigned index)
    {
        put("\n[[switch]]\nname = \"{}\"\ntier = {}\nplane = {}\nindex = {}\n", t_.name(id), tier, plane,
            index);
    }

    void t0(T0Id id)
    {
        if (!t_.has(NodeId(id)))
            return;
        sw(id, 0, id.plane, id.t0);
        for (const Cable &c : t_.cables(id))
            if (c.up)
                put("[[switch.link]]\nport = \"{}\"\npeer = \"{}\"\npeer_port = \"{}\"\n",
                    t_.port(id, c), t_.name(t_.upper(c)), t_.port(t_.upper(c), c));
    }

    void t1(T1Id id)
    {
        if (t_.has(NodeId(id)))
            sw(id, 1, id.plane, id.t1);
    }

    void host(HostId id)
    {
        if (!t_.has(NodeId(id)))
            return;
        put("\n[[host]]\nname = \"{}\"\nindex = {}\ndevice = \"{}\"\n", t_.name(id), id.host,
            t_.device_of(id));
        std::string addresses;
        for (const IfAddr &a : t_.addresses(id))
            addresses += fmt::format("{}\"{}\"", addresses.empty() ? "" : ", ", to_string(a));
        put("addresses = [{}]\n", addresses);
        unsigned plane = 0;
        for (const Cable &c : t_.cables(id)) {
            if (c.plane != ++plane)
                throw FabricError(fmt::format("{} lacks plane {}, which lists cannot say: their hosts "
                                              "have planes 1, 2, ... without gaps", t_.name(id), plane));
            put("[[host.port]]\nplane = {}\nnetdev = \"{}\"\nswitch = \"{}\"\nswitch_port = \"{}\"\n",
                c.plane, t_.port(id, c), t_.name(t_.upper(c)), t_.port(t_.upper(c), c));
        }
    }

    const Fabric &f_;
    const Topology &t_;
    std::string text_;
};

}   // namespace

std::string as_lists(const Fabric &f)
{
    if (!f.topology)
        throw FabricError("the fabric is lists already: generate writes out what [topology] says");
    const Topology &t = *f.topology;
    const std::uint64_t cables = std::uint64_t{t.planes} * (t.hosts() + std::uint64_t{t.t0s} * t.t1s);

    if (!block_per_plane(f.block.len))
        throw FabricError(fmt::format("fabric.block {} is one block: in lists hosts' uSIDs are their T0's "
                                      "only where each plane has its own, expected a shorter prefix",
                                      to_string(f.block)));
    if (cables > kCablesMax)
        throw FabricError(fmt::format("the fabric has {} cables, expected {} at most to be written out: "
                                      "ask for one node", cables, kCablesMax));
    return Writer(f, t).write();
}

}   // namespace mrcfab
