// SPDX-License-Identifier: GPL-2.0
// trace_goal.cc - GOAL in its text form, as LogGOPSim reads it. See trace.h.
//
//	num_ranks 2
//	rank 0 {
//	a: calc 1000
//	b: send 65536b to 1 tag 7
//	b requires a
//	}
//	rank 1 {
//	c: recv 65536b from 0 tag 7
//	}
//
// calc is in nanoseconds. Rank i is host i. "b requires a": when a is done; "b irequires a": when a has
// begun. The first send to a rank with a tag meets the first receive from there with it.
//
// A rank's operations take turns on a cpu, in the order in which they become ready: a calc occupies
// it, a send waits for it to begin, and a recv to end. Sends of a nic then take turns as well (cpu
// and nic: 0, unless named). As LogGOPSim does, with overheads and gaps of zero.
#include "trace.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <tuple>
#include <unordered_map>

namespace sim {

namespace {

using words = std::vector<std::string>;

class goal {
public:
    goal(trace_lines &lines, u32 hosts) : lines_(lines), hosts_(hosts) {}

    void statement(words w);
    trace finish();

private:
    // An operation's beginning and its end are two of the trace's: 2 * i and 2 * i + 1.
    enum class kind : u8 { calc, send, recv };

    struct half {
        u32 src, dst;
        u64 tag, bytes;
        u32 op; // the end
        u64 line;

        auto key() const { return std::tie(src, dst, tag); }
    };

    struct order {
        std::string after, before;
        bool begun;
        u64 line;
    };

    void need(bool good, const std::string &what) const
    {
        if (!good)
            lines_.fail(what);
    }
    u64 number(const words &w, size_t i, const char *what, u64 most) const;
    u32 add(kind k, trace_op end, trace_turn begins, trace_turn ends);
    u32 place(const char *what, u64 number);
    u32 operation(const words &w);
    u32 message(const words &w);
    void open(const words &w);
    void close();
    void edge(u32 before, u32 after, moment when);
    void match();

    trace_lines &lines_;
    u32 hosts_;
    u64 ranks_ = 0;
    u32 rank_ = none32;
    std::vector<bool> seen_;
    std::unordered_map<std::string, u32> labels_; // of this rank, to the end's number
    std::vector<order> orders_;                   // likewise
    std::map<std::pair<std::string, u64>, u32> places_; // likewise: "cpu" and "nic" with a number
    std::vector<kind> kinds_;
    std::vector<half> sends_, recvs_;
    trace t_;
};

u64 goal::number(const words &w, size_t i, const char *what, u64 most) const
{
    u64 value;

    need(i < w.size(), std::string(what) + ": missing");
    need(parse_count(w[i], most, value), std::string(what) + ": " + shown(w[i]) + " is no number from 0 to " +
                                             std::to_string(most));
    return value;
}

void goal::edge(u32 before, u32 after, moment when)
{
    need(t_.edges.size() < trace::edges_max,
         "more than " + std::to_string(trace::edges_max) + " dependencies");
    t_.edges.push_back({before, after, when});
}

u32 goal::place(const char *what, u64 number)
{
    auto [at, is_new] = places_.try_emplace({what, number}, t_.places);

    t_.places += is_new;
    return at->second;
}

u32 goal::add(kind k, trace_op end, trace_turn begins, trace_turn ends)
{
    u32 n = static_cast<u32>(t_.ops.size());

    need(n + 2 <= trace::ops_max, "more than " + std::to_string(trace::ops_max / 2) + " operations");
    end.line = lines_.number();
    t_.ops.push_back({rank_, rank_, 0, 0, 0, end.line});
    t_.ops.push_back(end);
    t_.turns.push_back(begins);
    t_.turns.push_back(ends);
    kinds_.push_back(k);
    edge(n, n + 1, moment::received);
    return n + 1;
}

// send 8b to 1 tag 7, recv 8b from 0 tag 7
u32 goal::message(const words &w)
{
    bool sends = w[0] == "send";
    words rest = w;
    u64 tag = 0, cpu = 0, nic = 0;

    if (rest.size() > 1 && !rest[1].empty() && rest[1].back() == 'b')
        rest[1].pop_back();
    u64 bytes = number(rest, 1, "bytes", trace::bytes_max);
    need(w.size() > 2 && w[2] == (sends ? "to" : "from"), sends ? "send ... to" : "recv ... from");
    u32 peer = static_cast<u32>(number(w, 3, "rank", ranks_ - 1));
    for (size_t i = 4; i < w.size(); i += 2) {
        need(w[i] == "tag" || w[i] == "cpu" || w[i] == "nic", shown(w[i]) + ": tag, cpu or nic");
        u64 value = number(w, i + 1, w[i].c_str(), ~0ull >> 1);
        (w[i] == "tag" ? tag : w[i] == "cpu" ? cpu : nic) = value;
    }
    trace_op end = {rank_, sends ? peer : rank_, static_cast<u32>(std::max<u64>(bytes, 1)), 0, 0, 0};
    trace_turn waits;
    waits.cpu = place("cpu", cpu);
    if (sends && !end.local()) {
        waits.nic = place("nic", nic);
        waits.bytes = end.bytes;
    }
    u32 op = sends ? add(kind::send, end, waits, {}) : add(kind::recv, end, {}, waits);
    (sends ? sends_ : recvs_).push_back({sends ? rank_ : peer, sends ? peer : rank_, tag, bytes, op,
                                         lines_.number()});
    return op;
}

u32 goal::operation(const words &w)
{
    need(!w.empty(), "calc, send or recv is wanted");
    if (w[0] == "send" || w[0] == "recv")
        return message(w);
    need(w[0] == "calc", shown(w[0]) + ": calc, send or recv is wanted");
    trace_op end = {rank_, rank_, 0, 0, number(w, 1, "calc", trace::time_max_us * 1000) * ps_per_ns, 0};
    u64 cpu = 0;
    for (size_t i = 2; i < w.size(); i += 2) {
        need(w[i] == "cpu" || w[i] == "nic", shown(w[i]) + ": cpu or nic");
        u64 value = number(w, i + 1, w[i].c_str(), ~0ull >> 1);
        cpu = w[i] == "cpu" ? value : cpu;
    }
    trace_turn turn;
    turn.cpu = place("cpu", cpu);
    turn.cpu_ps = end.compute_ps;
    return add(kind::calc, end, turn, {});
}

void goal::open(const words &w)
{
    need(ranks_ > 0, "num_ranks comes first");
    need(rank_ == none32, "the rank before is not closed");
    rank_ = static_cast<u32>(number(w, 1, "rank", ranks_ - 1));
    need(w.size() == 3 && w[2] == "{", "rank N {");
    need(!seen_[rank_], "rank " + std::to_string(rank_) + " is there already");
    seen_[rank_] = true;
}

void goal::close()
{
    need(rank_ != none32, "no rank is open");
    for (const order &o : orders_) {
        auto after = labels_.find(o.after), before = labels_.find(o.before);

        if (after == labels_.end() || before == labels_.end())
            lines_.fail_at(o.line, shown(after == labels_.end() ? o.after : o.before) + ": no such label in this rank");
        bool sends = kinds_[before->second / 2] == kind::send && !t_.ops[before->second].local();
        if (o.begun)
            edge(before->second - 1, after->second - 1, moment::received);
        else
            edge(before->second, after->second - 1, sends ? moment::sent : moment::received);
    }
    orders_.clear();
    labels_.clear();
    places_.clear();
    rank_ = none32;
}

void goal::statement(words w)
{
    if (w[0] == "num_ranks") {
        need(!ranks_, "num_ranks: twice");
        ranks_ = number(w, 1, "num_ranks", hosts_);
        need(ranks_ > 0 && w.size() == 2, "num_ranks: one at least");
        seen_.resize(ranks_);
        return;
    }
    if (w[0] == "rank")
        return open(w);
    if (w[0] == "}" && w.size() == 1)
        return close();
    need(rank_ != none32, shown(w[0]) + ": outside of a rank");
    if (w.size() == 3 && (w[1] == "requires" || w[1] == "irequires")) {
        need(orders_.size() < trace::edges_max, "too many dependencies");
        orders_.push_back({w[0], w[2], w[1] == "irequires", lines_.number()});
        return;
    }
    std::string label;
    if (w[0].back() == ':') {
        label = w[0].substr(0, w[0].size() - 1);
        w.erase(w.begin());
        need(!label.empty(), "a label before ':' is wanted");
    }
    u32 op = operation(w);
    need(label.empty() || labels_.emplace(label, op).second, shown(label) + ": this label is there already");
}

// In the order of the file, the first to the first.
void goal::match()
{
    auto before = [](const half &a, const half &b) {
        return a.key() != b.key() ? a.key() < b.key() : a.op < b.op;
    };
    size_t i = 0, j = 0;

    std::sort(sends_.begin(), sends_.end(), before);
    std::sort(recvs_.begin(), recvs_.end(), before);
    for (; i < sends_.size() || j < recvs_.size(); i++, j++) {
        bool left = i < sends_.size() && (j == recvs_.size() || sends_[i].key() < recvs_[j].key());
        bool right = j < recvs_.size() && (i == sends_.size() || recvs_[j].key() < sends_[i].key());

        if (left)
            lines_.fail_at(sends_[i].line, "nobody receives this message");
        if (right)
            lines_.fail_at(recvs_[j].line, "nobody sends this message");
        if (recvs_[j].bytes < sends_[i].bytes)
            lines_.fail_at(recvs_[j].line, "receives " + std::to_string(recvs_[j].bytes) + " bytes, and line " +
                                               std::to_string(sends_[i].line) + " sends " +
                                               std::to_string(sends_[i].bytes));
        edge(sends_[i].op, recvs_[j].op, moment::received);
    }
}

trace goal::finish()
{
    need(rank_ == none32, "the last rank is not closed");
    need(ranks_ > 0, "num_ranks is missing");
    match();
    return std::move(t_);
}

// Without comments; "l:calc" and "0{" come apart.
words split(const std::string &line, bool &comment)
{
    std::string plain;

    for (size_t i = 0; i < line.size(); i++) {
        bool pair = i + 1 < line.size();

        if (comment) {
            comment = !(pair && line[i] == '*' && line[i + 1] == '/');
            i += !comment;
        } else if (pair && line[i] == '/' && line[i + 1] == '*') {
            comment = true;
            i++;
        } else if (line[i] == '#' || (pair && line[i] == '/' && line[i + 1] == '/')) {
            break;
        } else if (line[i] == '{' || line[i] == '}') {
            plain += std::string(" ") + line[i] + " ";
        } else {
            plain += line[i];
            plain += line[i] == ':' ? " " : "";
        }
    }
    std::istringstream in(plain);
    words out;
    for (std::string word; in >> word;) {
        if (word == ":" && !out.empty())
            out.back() += word;
        else
            out.push_back(word);
    }
    return out;
}

} // namespace

trace read_goal(trace_lines &lines, u32 hosts)
{
    goal g(lines, hosts);
    std::string line;
    bool comment = false;

    while (lines.next(line))
        if (words w = split(line, comment); !w.empty())
            g.statement(w);
    return g.finish();
}

} // namespace sim
