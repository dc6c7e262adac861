// SPDX-License-Identifier: GPL-2.0
// trace.h - workloads from outside: messages and computations that wait for each other.
//
// Read from a flow list (CSV or JSON lines, trace_list.cc) or a GOAL file (trace_goal.cc). Whatever
// the file says, reading ends with a trace that can run, or with a text that names the line.
// Memory is bounded by the limits below, work by the file's size.
#pragma once

#include "units.h"

#include <istream>
#include <string>
#include <vector>

namespace sim {

// What of an operation another one waits for. Sent: acknowledged whole, at its source.
enum class moment : u8 { sent, received };

// A message; from a host to itself: time that passes there. It begins compute_ps after all that it
// waits for. Step: for the report; 0: its depth in the graph.
struct trace_op {
    u32 src, dst;
    u32 bytes;
    u32 step;
    u64 compute_ps;
    u64 line;

    bool local() const { return src == dst; }
};

struct trace_edge {
    u32 before, after;
    moment when;
};

// Of a GOAL trace's rank, by number in trace::places: the processor that an operation waits for and
// then occupies, and the NIC that its message of so many bytes occupies after that.
struct trace_turn {
    u32 cpu = none32, nic = none32;
    u64 cpu_ps = 0;
    u32 bytes = 0;
};

struct trace {
    static constexpr size_t ops_max = 4'000'000, edges_max = 32'000'000, line_max = 1 << 20;
    static constexpr u64 bytes_max = 1ull << 31, time_max_us = 10'000'000'000;

    std::vector<trace_op> ops;
    std::vector<trace_edge> edges;
    std::vector<trace_turn> turns; // of each operation; of a list: none
    u32 places = 0;
};

// Followers of each operation, by moment.
class followers {
public:
    followers() = default;
    followers(size_t ops, const std::vector<trace_edge> &edges);

    struct range {
        const u32 *first, *last;

        const u32 *begin() const { return first; }
        const u32 *end() const { return last; }
    };
    range of(u32 op, moment when) const
    {
        if (from_.empty())
            return {nullptr, nullptr};
        size_t i = 2 * static_cast<size_t>(op) + static_cast<size_t>(when);

        return {to_.data() + from_[i], to_.data() + from_[i + 1]};
    }

private:
    std::vector<u32> from_, to_;
};

enum class trace_format { csv, json, goal };

// By the name's end: .csv, .jsonl or .json, .goal.
trace_format format_of(const std::string &path);
// Hosts are 0 ... hosts - 1. Throws std::runtime_error: "name:line: what".
trace read_trace(std::istream &in, const std::string &name, trace_format format, u32 hosts);
trace load_trace(const std::string &path, u32 hosts);

// For the readers.

// Lines of at most trace::line_max bytes, counted from 1.
class trace_lines {
public:
    trace_lines(std::istream &in, const std::string &name) : in_(in), name_(name) {}

    bool next(std::string &line);
    u64 number() const { return number_; }
    [[noreturn]] void fail(const std::string &what) const { fail_at(number_, what); }
    [[noreturn]] void fail_at(u64 line, const std::string &what) const;

private:
    std::istream &in_;
    const std::string &name_;
    u64 number_ = 0;
};

// A word of the file, fit for a terminal.
std::string shown(const std::string &word);
// A whole number without sign, of at most most; false: it is none.
bool parse_count(const std::string &word, u64 most, u64 &value);

trace read_list(trace_lines &lines, trace_format format, u32 hosts);
trace read_goal(trace_lines &lines, u32 hosts);

} // namespace sim
