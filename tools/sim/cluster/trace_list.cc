// SPDX-License-Identifier: GPL-2.0
// trace_list.cc - flow lists: CSV with a head, or a JSON object a line. See trace.h.
//
//	id,src,dst,bytes,after,compute_us,step
//	{"id": 3, "src": 1, "dst": 2, "bytes": 1000, "after": [1, 2], "compute_us": 1.5}
//
// A flow waits for others that end or begin at its source; ids may stand further down. In CSV
// they are separated by blanks or semicolons.
#include "trace.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace sim {

namespace {

using values = std::vector<std::string>;

constexpr const char *keys[] = {"id", "src", "dst", "bytes", "after", "compute_us", "step"};
enum key { ID, SRC, DST, BYTES, AFTER, COMPUTE, STEP, KEYS };

key key_of(const std::string &word, const trace_lines &lines)
{
    for (int k = 0; k < KEYS; k++)
        if (word == keys[k])
            return static_cast<key>(k);
    lines.fail(shown(word) + ": no such column; known are id, src, dst, bytes, after, compute_us, step");
}

// ---- one line as text by key ----

struct record {
    std::string text[KEYS];
    bool has[KEYS] = {};
    values after;
};

values split(const std::string &line, const trace_lines &lines)
{
    values out(1);
    bool quoted = false;

    for (char c : line) {
        if (c == '"')
            quoted = !quoted;
        else if (c == ',' && !quoted)
            out.emplace_back();
        else if (quoted || (c != ' ' && c != '\t') || !out.back().empty())
            out.back() += c;
        if (out.size() > 100)
            lines.fail("more than 100 columns");
    }
    if (quoted)
        lines.fail("a quotation mark is not closed");
    for (std::string &s : out)
        s.erase(s.find_last_not_of(" \t") + 1);
    return out;
}

record from_csv(const std::string &line, const std::vector<key> &head, const trace_lines &lines)
{
    values cells = split(line, lines);
    record r;

    if (cells.size() != head.size())
        lines.fail(std::to_string(cells.size()) + " columns, and the head has " +
                   std::to_string(head.size()));
    for (size_t i = 0; i < head.size(); i++) {
        r.text[head[i]] = cells[i];
        r.has[head[i]] = !cells[i].empty();
    }
    std::string word;
    for (char c : r.text[AFTER] + ";") {
        if (c != ';' && c != ' ') {
            word += c;
        } else if (!word.empty()) {
            r.after.push_back(word);
            word.clear();
        }
    }
    return r;
}

// Just what a line needs: an object of numbers, strings and lists of these.
class json_line {
public:
    json_line(const std::string &line, const trace_lines &lines) : s_(line), lines_(lines) {}

    record read()
    {
        record r;

        want('{');
        if (!take('}')) {
            do
                member(r);
            while (take(','));
            want('}');
        }
        blanks();
        if (at_ != s_.size())
            lines_.fail("more than one object in a line");
        return r;
    }

private:
    void blanks()
    {
        while (at_ < s_.size() && (s_[at_] == ' ' || s_[at_] == '\t'))
            at_++;
    }

    bool take(char c)
    {
        blanks();
        if (at_ >= s_.size() || s_[at_] != c)
            return false;
        at_++;
        return true;
    }

    void want(char c)
    {
        if (!take(c))
            lines_.fail(std::string("'") + c + "' is wanted at column " + std::to_string(at_ + 1));
    }

    std::string string()
    {
        size_t from = at_, to = s_.find('"', from);

        if (to == std::string::npos || s_.substr(from, to - from).find('\\') != std::string::npos)
            lines_.fail("a string without escapes is wanted at column " + std::to_string(from));
        at_ = to + 1;
        return s_.substr(from, to - from);
    }

    std::string scalar()
    {
        if (take('"'))
            return string();
        size_t from = at_;

        while (at_ < s_.size() && (std::isalnum(static_cast<unsigned char>(s_[at_])) ||
                                   s_[at_] == '.' || s_[at_] == '-' || s_[at_] == '+'))
            at_++;
        if (at_ == from)
            lines_.fail("a number is wanted at column " + std::to_string(at_ + 1));
        return s_.substr(from, at_ - from);
    }

    void member(record &r)
    {
        want('"');
        key k = key_of(string(), lines_);

        if (r.has[k])
            lines_.fail(std::string(keys[k]) + ": twice");
        r.has[k] = true;
        want(':');
        if (k != AFTER) {
            r.text[k] = scalar();
        } else if (take('[')) {
            if (take(']'))
                return;
            do
                r.after.push_back(scalar());
            while (take(','));
            want(']');
        } else {
            r.after.push_back(scalar());
        }
    }

    const std::string &s_;
    const trace_lines &lines_;
    size_t at_ = 0;
};

// ---- the graph ----

class list {
public:
    list(trace_lines &lines, u32 hosts) : lines_(lines), hosts_(hosts) {}

    void add(const record &r);
    trace finish();

private:
    struct wish {
        u64 id;
        u32 op;
    };

    u64 count(const record &r, key k, u64 most) const;
    u64 compute_ps(const record &r) const;
    void link(u32 before, u32 after);

    trace_lines &lines_;
    u32 hosts_;
    trace t_;
    std::vector<wish> ids_, wishes_;
};

u64 list::count(const record &r, key k, u64 most) const
{
    u64 value;

    if (!r.has[k])
        lines_.fail(std::string(keys[k]) + ": missing");
    if (!parse_count(r.text[k], most, value))
        lines_.fail(std::string(keys[k]) + ": " + shown(r.text[k]) + " is no whole number from 0 to " +
                    std::to_string(most));
    return value;
}

u64 list::compute_ps(const record &r) const
{
    if (!r.has[COMPUTE])
        return 0;
    char *end = nullptr;
    double us = std::strtod(r.text[COMPUTE].c_str(), &end);

    if (*end || !std::isfinite(us) || us < 0 || us > static_cast<double>(trace::time_max_us))
        lines_.fail("compute_us: " + shown(r.text[COMPUTE]) + " is no time from 0 to " +
                    std::to_string(trace::time_max_us));
    return static_cast<u64>(std::llround(us * static_cast<double>(ps_per_us)));
}

void list::add(const record &r)
{
    trace_op op = {};
    u32 number = static_cast<u32>(t_.ops.size());

    if (t_.ops.size() >= trace::ops_max)
        lines_.fail("more than " + std::to_string(trace::ops_max) + " flows");
    ids_.push_back({count(r, ID, ~0ull >> 1), number});
    op.src = static_cast<u32>(count(r, SRC, hosts_ - 1));
    op.dst = static_cast<u32>(count(r, DST, hosts_ - 1));
    if (!op.local()) {
        op.bytes = static_cast<u32>(count(r, BYTES, trace::bytes_max));
        if (!op.bytes)
            lines_.fail("bytes: 0, and a message has one at least");
    }
    op.compute_ps = compute_ps(r);
    op.step = r.has[STEP] ? static_cast<u32>(count(r, STEP, none32 - 1)) : 0;
    op.line = lines_.number();
    for (const std::string &word : r.after) {
        u64 id;

        if (!parse_count(word, ~0ull >> 1, id))
            lines_.fail("after: " + shown(word) + " is no id");
        if (wishes_.size() >= trace::edges_max)
            lines_.fail("more than " + std::to_string(trace::edges_max) + " dependencies");
        wishes_.push_back({id, number});
    }
    t_.ops.push_back(op);
}

// A host learns of what arrives at it and of what it has sent itself, and of nothing else.
void list::link(u32 before, u32 after)
{
    const trace_op &b = t_.ops[before], &a = t_.ops[after];

    if (b.dst == a.src)
        t_.edges.push_back({before, after, moment::received});
    else if (b.src == a.src)
        t_.edges.push_back({before, after, moment::sent});
    else
        lines_.fail_at(a.line, "after: host " + std::to_string(a.src) + " takes no part in the flow of line " +
                                   std::to_string(b.line));
}

trace list::finish()
{
    auto before = [](const wish &x, const wish &y) {
        return x.id != y.id ? x.id < y.id : x.op < y.op;
    };

    std::sort(ids_.begin(), ids_.end(), before);
    for (size_t i = 1; i < ids_.size(); i++)
        if (ids_[i].id == ids_[i - 1].id)
            lines_.fail_at(t_.ops[ids_[i].op].line, "id: " + std::to_string(ids_[i].id) + " is that of line " +
                                                        std::to_string(t_.ops[ids_[i - 1].op].line));
    for (const wish &w : wishes_) {
        auto it = std::lower_bound(ids_.begin(), ids_.end(), wish{w.id, 0}, before);

        if (it == ids_.end() || it->id != w.id)
            lines_.fail_at(t_.ops[w.op].line, "after: no flow has the id " + std::to_string(w.id));
        link(it->op, w.op);
    }
    return std::move(t_);
}

bool is_blank(const std::string &line)
{
    size_t at = line.find_first_not_of(" \t");

    return at == std::string::npos || line[at] == '#';
}

} // namespace

trace read_list(trace_lines &lines, trace_format format, u32 hosts)
{
    std::vector<key> head;
    std::string line;
    list l(lines, hosts);

    while (lines.next(line)) {
        if (is_blank(line))
            continue;
        if (format == trace_format::json) {
            l.add(json_line(line, lines).read());
        } else if (head.empty()) {
            for (const std::string &word : split(line, lines)) {
                head.push_back(key_of(word, lines));
                if (std::count(head.begin(), head.end(), head.back()) > 1)
                    lines.fail(shown(word) + ": twice");
            }
        } else {
            l.add(from_csv(line, head, lines));
        }
    }
    return l.finish();
}

} // namespace sim
