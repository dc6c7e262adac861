// SPDX-License-Identifier: GPL-2.0
// expect.cc - see expect.h.
#include "expect.h"

namespace sim {

namespace {

// Of one value; nothing if it is met.
std::string miss(const report &r, const expectation &x, const char *what)
{
    const double *seen = r.find(x.metric);
    std::string metric = x.metric;
    bool least = false;
    char line[200];

    if (!seen && metric.ends_with("_min")) {
        metric.resize(metric.size() - 4);
        seen = r.find(metric);
        least = true;
    }
    if (!seen)
        return x.metric + ": no such metric in this run";
    if (least ? *seen >= x.value : *seen <= x.value)
        return "";
    std::snprintf(line, sizeof(line), "%s: %s %s %g, seen %.6g", metric.c_str(), what,
                  least ? "at least" : "at most", x.value, *seen);
    return line;
}

std::vector<std::string> misses(const report &r, const std::vector<expectation> &list,
                                const char *what)
{
    std::vector<std::string> out;

    for (const expectation &x : list)
        if (std::string line = miss(r, x, what); !line.empty())
            out.push_back(line);
    return out;
}

// A share of what there is at most: more than that is a mistake of the measure.
void check_shares(const report &r, std::vector<std::string> &out)
{
    for (const auto &[name, value] : r.metrics)
        if (name.ends_with("_share") && value > 1.01)
            out.push_back(name + ": no share is " + std::to_string(value));
}

bool bounded(const scenario &s, const std::string &metric)
{
    for (const expectation &x : s.bound)
        if (x.metric == metric)
            return true;
    return false;
}

} // namespace

std::vector<std::string> unmet(const report &r, const scenario &s)
{
    std::vector<std::string> out = misses(r, s.expect, "expected");

    check_shares(r, out);
    return out;
}

std::vector<std::string> failures(const report &r, const scenario &s)
{
    std::vector<std::string> out;

    if (!s.known_red())
        return unmet(r, s);
    out = misses(r, s.bound, "bound");
    check_shares(r, out);
    for (const expectation &x : s.expect)
        if (std::string line = miss(r, x, "expected"); !line.empty() && !bounded(s, x.metric))
            out.push_back(line + ", and [bound] does not say how bad it may be");
    if (unmet(r, s).empty())
        out.push_back("all is met: take status = \"not met\" and [bound] out of the file");
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
    h.path_rule.clear();
    h.pause.clear();
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
