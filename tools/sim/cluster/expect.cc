// SPDX-License-Identifier: GPL-2.0
// expect.cc - see expect.h.
#include "expect.h"

namespace sim {

std::vector<std::string> unmet(const report &r, const scenario &s)
{
    std::vector<std::string> out;

    for (const expectation &x : s.expect) {
        const double *seen = r.find(x.metric);
        std::string metric = x.metric;
        bool least = false;
        char line[200];

        if (!seen && metric.ends_with("_min")) {
            metric.resize(metric.size() - 4);
            seen = r.find(metric);
            least = true;
        }
        if (!seen) {
            out.push_back(x.metric + ": no such metric in this run");
            continue;
        }
        if (least ? *seen >= x.value : *seen <= x.value)
            continue;
        std::snprintf(line, sizeof(line), "%s: expected %s %g, seen %.6g", metric.c_str(),
                      least ? "at least" : "at most", x.value, *seen);
        out.push_back(line);
    }
    return out;
}

bool wants_healthy(const scenario &s)
{
    for (const expectation &x : s.expect)
        if (x.metric.starts_with("max_over_healthy"))
            return true;
    return false;
}

scenario healthy(const scenario &s)
{
    scenario h = s;

    h.fault.clear();
    h.slow.clear();
    return h;
}

void compare_healthy(report &r, const report &healthy)
{
    const double *a = r.find("makespan_us"), *b = healthy.find("makespan_us");
    const double *unfinished = r.find("unfinished");

    if (!a || !b || *b <= 0)
        return;
    double over = unfinished && *unfinished > 0 ? 1e9 : *a / *b;
    r.add("healthy_makespan_us", *b);
    r.add("max_over_healthy", over);
}

} // namespace sim
