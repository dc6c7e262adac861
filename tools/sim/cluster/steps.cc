// SPDX-License-Identifier: GPL-2.0
// steps.cc - for traces: the time of the job, and the time that each step lost to the network
// (measure.h).
#include "measure.h"

#include <algorithm>

namespace sim {

void add_steps(report &r, const world &w)
{
    const workload &k = w.work;
    std::vector<u32> order;
    u64 end = 0;
    bool all = true;

    if (k.step_of.empty())
        return;
    for (u32 i = 0; i < k.flows.size(); i++) {
        all = all && k.flows[i].rx_done != never;
        end = k.flows[i].rx_done == never ? end : std::max(end, k.flows[i].rx_done);
        if (!k.flows[i].local() && k.flows[i].rx_done != never)
            order.push_back(i);
    }
    r.add("job_us", all ? us(end) : not_at_all);
    r.add("job_alone_us", us(k.ideal_ps));
    r.add("job_compute_us", us(k.compute_ps));
    r.add("job_lost_us", all ? us(end) - us(k.ideal_ps) : not_at_all);
    std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return k.step_of[a] < k.step_of[b]; });
    for (u32 i : order) {
        const flow &f = k.flows[i];
        double took = us(f.rx_done - f.start), alone = us(k.lone_ps(f));

        if (r.steps.empty() || r.steps.back().step != k.step_of[i])
            r.steps.push_back({k.step_of[i], 0, us(f.start), us(f.rx_done), took, alone});
        step_result &s = r.steps.back();
        s.flows++;
        s.begin_us = std::min(s.begin_us, us(f.start));
        s.end_us = std::max(s.end_us, us(f.rx_done));
        if (took - alone > s.slowest_us - s.alone_us) {
            s.slowest_us = took;
            s.alone_us = alone;
        }
    }
}

} // namespace sim
