// SPDX-License-Identifier: GPL-2.0
// trace.cc - what the readers of traces share; cycles; steps. See trace.h.
#include "trace.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace sim {

bool trace_lines::next(std::string &line)
{
    line.clear();
    number_++;
    for (int c; (c = in_.get()) != std::istream::traits_type::eof();) {
        if (c == '\n') {
            if (!line.empty() && line.back() == '\r')
                line.pop_back();
            return true;
        }
        if (line.size() >= trace::line_max)
            fail("a line of more than " + std::to_string(trace::line_max) + " bytes");
        line.push_back(static_cast<char>(c));
    }
    return !line.empty();
}

void trace_lines::fail_at(u64 line, const std::string &what) const
{
    throw std::runtime_error(name_ + ":" + std::to_string(line) + ": " + what);
}

std::string shown(const std::string &word)
{
    std::string out = "\"";

    for (char c : word.substr(0, 40))
        out += c < 32 || c > 126 || c == '"' ? '?' : c;
    return out + (word.size() > 40 ? "...\"" : "\"");
}

bool parse_count(const std::string &word, u64 most, u64 &value)
{
    value = 0;
    if (word.empty() || word.size() > 19)
        return false;
    for (char c : word) {
        if (c < '0' || c > '9')
            return false;
        value = value * 10 + static_cast<u64>(c - '0');
    }
    return value <= most;
}

followers::followers(size_t ops, const std::vector<trace_edge> &edges)
    : from_(2 * ops + 1), to_(edges.size())
{
    auto key = [](const trace_edge &e) {
        return 2 * static_cast<size_t>(e.before) + static_cast<size_t>(e.when);
    };

    for (const trace_edge &e : edges)
        from_[key(e) + 1]++;
    for (size_t i = 0; i + 1 < from_.size(); i++)
        from_[i + 1] += from_[i];
    std::vector<u32> at(from_.begin(), from_.end() - 1);
    for (const trace_edge &e : edges)
        to_[at[key(e)]++] = e.after;
}

namespace {

// In an order in which each comes behind what it waits for; steps are filled in on the way.
void check_order(trace &t, const trace_lines &lines)
{
    const followers after(t.ops.size(), t.edges);
    std::vector<u32> waits(t.ops.size()), depth(t.ops.size()), ready;
    size_t done = 0;

    for (const trace_edge &e : t.edges)
        waits[e.after]++;
    for (u32 i = 0; i < t.ops.size(); i++)
        if (!waits[i])
            ready.push_back(i);
    for (; !ready.empty(); done++) {
        u32 op = ready.back();
        bool counts = !t.ops[op].local();

        ready.pop_back();
        if (!t.ops[op].step)
            t.ops[op].step = depth[op] + counts;
        for (moment when : {moment::sent, moment::received})
            for (u32 next : after.of(op, when)) {
                depth[next] = std::max(depth[next], depth[op] + counts);
                if (!--waits[next])
                    ready.push_back(next);
            }
    }
    for (u32 i = 0; i < t.ops.size() && done < t.ops.size(); i++)
        if (waits[i])
            lines.fail_at(t.ops[i].line, "waits for itself, by way of what it waits for");
}

} // namespace

trace_format format_of(const std::string &path)
{
    if (path.ends_with(".csv"))
        return trace_format::csv;
    if (path.ends_with(".jsonl") || path.ends_with(".json"))
        return trace_format::json;
    if (path.ends_with(".goal"))
        return trace_format::goal;
    throw std::runtime_error(path + ": a flow list ends in .csv or .jsonl, a GOAL trace in .goal");
}

trace read_trace(std::istream &in, const std::string &name, trace_format format, u32 hosts)
{
    trace_lines lines(in, name);
    trace t = format == trace_format::goal ? read_goal(lines, hosts)
                                           : read_list(lines, format, hosts);

    if (in.bad())
        lines.fail("cannot be read on");
    if (t.ops.empty())
        lines.fail("nothing to do");
    check_order(t, lines);
    return t;
}

trace load_trace(const std::string &path, u32 hosts)
{
    trace_format format = format_of(path);
    std::ifstream in(path, std::ios::binary);

    if (!in)
        throw std::runtime_error(path + ": cannot be opened");
    return read_trace(in, path, format, hosts);
}

} // namespace sim
