// SPDX-License-Identifier: GPL-2.0
// windows.cc - goodput and probes before, during and after the disturbances (measure.h).
//
// A share is relative to the possible maximum, so none exceeds 1 by more than the edge of a bucket.
// A larger value is an error of the measurement, and expect.cc fails the run.
#include "measure.h"

namespace sim {

namespace {

// When something was wrong that was not wrong all the time; from == never: nothing.
struct span {
    u64 from = never, until = 0;

    void add(u64 at_us, u64 until_us)
    {
        if (!at_us && !until_us)
            return;
        from = std::min(from, at_us * ps_per_us);
        until = std::max(until, until_us ? until_us * ps_per_us : never);
    }
};

span disturbance(const scenario &s)
{
    span x;

    for (const fault_spec &f : s.fault)
        x.add(f.at_us, f.until_us);
    for (const path_spec &p : s.path_rule)
        x.add(p.at_us, p.until_us);
    for (const pause_spec &p : s.pause)
        x.add(p.at_us, p.for_us ? p.at_us + p.for_us : p.until_us);
    return x;
}

constexpr u64 cost_rtts = 50; // after a fault, in which its cost is counted

class windows {
public:
    windows(report &r, const world &w, const std::vector<sample> &series, u64 end_ps)
        : r_(r), w_(w), series_(series), bucket_ps_(w.s.run.bucket_us * ps_per_us)
    {
        std::vector<u64> last(w.topo.hosts); // received, of each source

        for (const flow &f : w.work.flows)
            last[f.src] = f.local() ? last[f.src] : std::max(last[f.src], f.rx_done);
        // Who is through has no more part in the goodput.
        for (u64 t : last)
            end_ps = t ? std::min(end_ps, t) : end_ps;
        stop_ = at(end_ps);
    }

    size_t at(u64 t) const { return std::min<u64>(t / bucket_ps_, series_.size()); }
    size_t from(u64 t) const { return std::min<u64>((t + bucket_ps_ - 1) / bucket_ps_, stop_); }
    size_t stop() const { return stop_; }

    sample sum(size_t i, size_t j) const
    {
        sample x;

        for (; i < j; i++)
            x += series_[i];
        return x;
    }

    double gbps(size_t i, size_t j) const
    {
        return j > i ? real(sum(i, j).delivered) * 8e-3 / (r_.bucket_us * real(j - i)) : 0;
    }

    // Payload that the hosts' ports can carry.
    double capacity() const
    {
        const fabric_cfg &f = w_.s.fabric;
        double mbps = 0;

        for (u32 p = 0; p < w_.topo.planes; p++)
            mbps += real(w_.s.plane_mbps(p));
        return mbps * 1e-3 * std::min(w_.work.sources, w_.work.sinks) * real(f.mtu) /
               real(f.mtu + f.header);
    }

    // What was before and can be after a loss of capacity: who had the hosts' ports full has
    // them as full again, who had not loses nothing until they are.
    double reach(double before, double left) const
    {
        double full = capacity() * left;

        return before >= 0.95 * capacity() ? before * left : std::min(before, full);
    }

    void steady();
    void quiet();
    void around(const span &x, double left);
    void fault(const fault_plan &faults, double left);

private:
    // Time at rate @can that the goodput of these buckets is short of: a dip's depth times its length.
    double cost_us(size_t i, size_t j, double can) const
    {
        return (1 - ratio(gbps(i, j), can)) * r_.bucket_us * real(j - i);
    }
    void recovered(const span &x, double wanted);

    report &r_;
    const world &w_;
    const std::vector<sample> &series_;
    u64 bucket_ps_;
    size_t stop_;
};

// From run.settle_us on.
void windows::steady()
{
    size_t i = from(w_.s.run.settle_us * ps_per_us);
    sample x = sum(i, stop_);

    if (i >= stop_)
        return;
    r_.add("settled_gbps", gbps(i, stop_));
    r_.add("settled_share", ratio(gbps(i, stop_), capacity()));
    if (!w_.tcp.empty()) {
        r_.add("settled_tcp_gbps", real(x.tcp) * 8e-3 / (r_.bucket_us * real(stop_ - i)));
        r_.add("settled_tcp_share", ratio(real(x.tcp), real(x.tcp + x.delivered)));
    }
    if (w_.s.host.nscc_host != none32)
        r_.add("settled_nscc_part", ratio(real(x.nscc) * w_.work.sources, real(x.delivered)));
    r_.add("settled_needless_percent", 100 * ratio(real(x.needless), real(x.data)));
    r_.add("settled_probes_percent", 100 * ratio(real(x.probes), real(x.data)));
}

// Probes while nobody has data to send, of each path set: both ends have one.
void windows::quiet()
{
    u64 n = 0, probes = 0;
    u32 sets = 0;

    for (const sample &x : series_)
        if (!x.data && !x.delivered) {
            n++;
            probes += x.probes;
        }
    for (const end *e : w_.ends)
        sets += e != nullptr;
    if (n && sets)
        r_.add("quiet_probes_per_s", real(probes) / (real(n) * r_.bucket_us * 1e-6 * sets));
}

// For good: the last bucket that had less.
void windows::recovered(const span &x, double wanted)
{
    u64 since = x.until == never ? x.from : x.until;
    size_t last = from(since), i = stop_;

    while (i > last && gbps(i - 1, i) >= wanted)
        i--;
    if (i >= stop_)
        r_.add("recovered_us", not_at_all);
    else
        r_.add("recovered_us", i > last ? us(i * bucket_ps_ - since) : 0);
}

void windows::around(const span &x, double left)
{
    size_t warm = at(3 * w_.s.base_rtt_ps()) + 1, hit = at(x.from), end = at(x.until);

    if (warm >= hit || hit >= stop_)
        return;
    double before = gbps(warm, hit);
    r_.add("before_gbps", before);
    r_.add("before_share", ratio(before, capacity()));
    if (end > hit)
        r_.add("during_gbps", gbps(hit, std::min(end, stop_)));
    recovered(x, 0.95 * reach(before, left));
    if (end >= stop_)
        return;
    size_t calm = std::min<size_t>(end + 1, stop_);
    sample after = sum(calm, stop_);
    r_.add("after_gbps", gbps(calm, stop_));
    r_.add("after_share", ratio(gbps(calm, stop_), std::max(before, gbps(calm, stop_))));
    r_.add("after_probes_percent", 100 * ratio(real(after.probes), real(after.data)));
    r_.add("after_needless_percent", 100 * ratio(real(after.needless), real(after.data)));
}

// Goodput between the fault and its end, or the first flow's, against that before the fault.
void windows::fault(const fault_plan &faults, double left)
{
    double bucket = r_.bucket_us, rtt = us(w_.s.base_rtt_ps());
    u64 rtt_ps = w_.s.base_rtt_ps(), begin = faults.first_ps();
    size_t warm = at(3 * rtt_ps) + 1, hit = at(begin), settled = at(begin + 5 * rtt_ps) + 1,
           stop = std::min(at(faults.repair_ps()), stop_);

    if (hit >= stop_)
        return;
    double before = gbps(warm, hit), after = gbps(settled, stop), can = reach(before, left);
    r_.add("residual", left);
    r_.add("goodput_before_gbps", before);
    if (settled < stop && before >= 0.5 * capacity()) {
        r_.add("goodput_after_gbps", after);
        r_.add("goodput_share", ratio(after, can));
        r_.add("fault_cost_us", cost_us(hit, std::min(stop, at(begin + cost_rtts * rtt_ps) + 1), can));
    }
    // t2: until 95 % of what is left is reached, for two buckets.
    for (size_t i = hit + 1; i + 1 < stop; i++)
        if (std::min(gbps(i, i + 1), gbps(i + 1, i + 2)) >= 0.95 * can) {
            r_.add("t2_rtt", std::max(0.0, real(i) * bucket - us(begin)) / rtt);
            return;
        }
    r_.add("t2_rtt", not_at_all);
}

} // namespace

void add_windows(report &r, const world &w, const fault_plan &faults,
                 const std::vector<sample> &series, u64 end_ps)
{
    windows x(r, w, series, end_ps);
    double left = faults.residual();
    span d = disturbance(w.s);

    x.steady();
    x.quiet();
    if (w.any_fault && faults.first_ps() != never)
        x.fault(faults, left);
    if (d.from != never)
        x.around(d, d.until == never ? left : 1);
}

} // namespace sim
