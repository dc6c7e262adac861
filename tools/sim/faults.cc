// SPDX-License-Identifier: GPL-2.0
// faults.cc - draws the faults that last (faults.h).
#include "faults.h"

#include "trace.h"

namespace sim {

faults::faults(const options &o, u64 seed)
    : o_(o), topo_(o), r_(seed, "faults"), notices_(seed, "faults/notices"),
      n_evs_(static_cast<u32>(o.planes * o.evs)),
      dead_(topo_.ports()), slow_(topo_.ports(), 100), hole_(o.hosts * n_evs_), stalled_(o.hosts),
      clog_(o.hosts)
{
    // Unless everything may break, one plane does not.
    u8 spare = static_cast<u8>(r_.below(o.planes));

    draw_planes(o.dead_all ? 255 : spare);
    draw_hosts();
    draw_pauses(seed);
}

void faults::window(fault &f, u64 longest)
{
    f.begin_ns = r_.below(o_.fault_ns);
    u64 len = r_.log_range(1000, longest > 1000 ? longest : 1000);
    f.end_ns = std::min(o_.fault_ns, f.begin_ns + len);
}

// dead_notify 0: nobody sees it; 1: the hosts on it do; 2: drawn.
void faults::seen(fault &f)
{
    bool tell = o_.dead_notify == 2 ? r_.chance(500000) : o_.dead_notify == 1;

    f.down_delay_ns = r_.below(o_.notify_ns + 1);
    f.up_delay_ns = r_.below(o_.notify_ns + 1);
    if (!tell)
        return;
    if (f.kind == fault::link)
        f.seen_by.push_back(f.host);
    for (u32 h = 0; f.kind == fault::t0 && h < topo_.hosts(); h++)
        if (topo_.t0_of(h) == f.host)
            f.seen_by.push_back(h);
}

void faults::draw_one(fault::kind_t kind, u8 spare)
{
    fault f = {};
    u64 ways = r_.chance(500000) ? 3 : r_.range(1, 2);
    u32 t0 = static_cast<u32>(r_.below(topo_.t0s())), t1 = static_cast<u32>(r_.below(topo_.t1s()));

    f.kind = kind;
    window(f, o_.dead_ns);
    f.plane = static_cast<u8>(r_.below(o_.planes));
    f.host = static_cast<u32>(r_.below(o_.hosts));
    switch (kind) {
    case fault::link:
        if (ways & 1)
            f.ports.push_back(topo_.up(f.plane, f.host));
        if (ways & 2)
            f.ports.push_back(topo_.down(f.plane, f.host));
        break;
    case fault::cable:
        if (ways & 1)
            f.ports.push_back(topo_.t0_t1(f.plane, t0, t1));
        if (ways & 2)
            f.ports.push_back(topo_.t1_t0(f.plane, t1, t0));
        break;
    case fault::t0:
        f.host = t0;
        f.ports = topo_.t0_ports(f.plane, t0);
        break;
    case fault::t1: f.ports = topo_.t1_ports(f.plane, t1); break;
    default:
        f.amount = static_cast<u32>(r_.range(3, 60));
        f.ports.push_back(static_cast<u16>(r_.below(topo_.ports())));
        break;
    }
    seen(f);
    if (kind == fault::slow || f.plane != spare)
        list_.push_back(std::move(f));
}

// One link that goes and comes again and again.
void faults::draw_flaps(u8 spare)
{
    u64 at = r_.below(o_.fault_ns), n = o_.flaps;
    u8 plane = static_cast<u8>(r_.below(o_.planes));
    u32 host = static_cast<u32>(r_.below(o_.hosts));
    u64 period = r_.log_range(2000, o_.dead_ns + 2000);

    for (; n && plane != spare && at < o_.fault_ns; n--) {
        fault f = {};

        f.kind = fault::link;
        f.begin_ns = at;
        f.end_ns = std::min(o_.fault_ns, at + 1 + r_.below(period));
        f.plane = plane;
        f.host = host;
        f.ports = {topo_.up(plane, host), topo_.down(plane, host)};
        f.seen_by = {host};
        u64 latest = o_.flap_notify ? o_.notify_ns : 0;
        f.down_delay_ns = notices_.below(latest + 1);
        f.up_delay_ns = notices_.below(latest + 1);
        at = f.end_ns + 1 + r_.below(period);
        list_.push_back(std::move(f));
    }
}

void faults::draw_planes(u8 spare)
{
    for (u64 i = 0; i < o_.dead_links; i++)
        draw_one(fault::link, spare);
    for (u64 i = 0; i < o_.dead_cables; i++)
        draw_one(fault::cable, spare);
    for (u64 i = 0; i < o_.reboots; i++)
        draw_one(r_.chance(500000) ? fault::t0 : fault::t1, spare);
    for (u64 i = 0; i < o_.slow_ports; i++)
        draw_one(fault::slow, spare);
    if (o_.flaps)
        draw_flaps(spare);
    u16 spare_ev = static_cast<u16>(r_.below(n_evs_));
    for (u64 i = 0; i < o_.holes; i++) {
        fault f = {};

        f.kind = fault::hole;
        window(f, o_.fault_ns);
        f.ev = static_cast<u16>(r_.below(n_evs_));
        f.host = static_cast<u32>(r_.below(o_.hosts));
        if (f.ev != spare_ev)
            list_.push_back(std::move(f));
    }
}

void faults::draw_hosts()
{
    for (u64 i = 0; i < o_.stalls + o_.clogs; i++) {
        fault f = {};

        f.kind = i < o_.stalls ? fault::stall : fault::clog;
        window(f, o_.stall_ns);
        f.host = static_cast<u32>(r_.below(o_.hosts));
        f.amount = static_cast<u32>(r_.log_range(1000, 2000000));
        list_.push_back(std::move(f));
    }
}

// The kernel is busy elsewhere, or the machine's owner runs somebody else on the CPU.
void faults::draw_pauses(u64 seed)
{
    prng r(seed, "faults/pauses");

    for (u64 i = 0; i < o_.pauses; i++) {
        fault f = {};

        f.kind = fault::pause;
        f.begin_ns = r.below(o_.fault_ns);
        f.end_ns = f.begin_ns + r.log_range(std::min<u64>(o_.pause_ns, 1000000), o_.pause_ns);
        f.host = static_cast<u32>(r.below(o_.hosts));
        list_.push_back(std::move(f));
    }
}

u64 faults::end_ns() const
{
    u64 end = o_.fault_ns;

    for (const fault &f : list_)
        end = std::max(end, f.end_ns + (f.seen_by.empty() ? 0 : f.up_delay_ns));
    return end;
}

void faults::apply(u32 index, bool begin)
{
    const fault &f = list_[index];
    u32 d = begin ? 1u : ~0u;

    switch (f.kind) {
    case fault::slow:
        slow_[f.ports[0]] = begin ? f.amount : 100;
        break;
    case fault::hole: hole_[f.host * n_evs_ + f.ev] += d; break;
    case fault::stall: stalled_[f.host] += d; break;
    case fault::clog: clog_[f.host] = begin ? f.amount : 0; break;
    case fault::pause: break; // the host itself knows
    default:
        for (u16 p : f.ports)
            dead_[p] += d;
        break;
    }
}

std::string faults::describe(const fault &f)
{
    static const char *const names[] = {"link dead",      "cable dead", "T0 reboot",  "T1 reboot",
                                        "slow port",      "black-holed EV", "receiver stall",
                                        "clogged ACK path", "host pauses"};
    char buf[200];

    std::snprintf(buf, sizeof(buf), "%s: plane %u host/T0 %u EV %u amount %u, %zu ports, seen by %zu, "
                  "%llu ... %llu ns", names[f.kind], f.plane, f.host, f.ev, f.amount, f.ports.size(),
                  f.seen_by.size(), (unsigned long long)f.begin_ns, (unsigned long long)f.end_ns);
    return buf;
}

} // namespace sim
