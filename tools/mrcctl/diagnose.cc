// SPDX-License-Identifier: GPL-2.0
//
// diagnose.cc - see diagnose.h.
#include "diagnose.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>

#include <fmt/format.h>

#include "../lib/verdict/lines.h"
#include "../lib/verdict/sentence.h"
#include "../lib/verdict/tracker.h"

namespace mrcctl {

namespace {

using mrcnl::error;
using mrcver::direction_word;
using mrcver::Evidence;
using mrcver::Finding;
using mrcver::kLineMax;
using mrcver::kRefusals;
using mrcver::Layout;
using mrcver::Lines;
using mrcver::not_known;
using mrcver::Part;
using mrcver::part_name;
using mrcver::part_word;
using mrcver::Refusal;
using mrcver::refusal_word;
using mrcver::symptom_word;
using mrcver::Tracker;

enum { status_well = 0, status_problem = 1, status_unknown = 2 };

constexpr double slice_seconds = 1;

// False: the line is too long, and its rest is skipped.
bool read_line(std::istream &in, std::string &line)
{
    line.clear();
    for (int c = in.get(); c != EOF && c != '\n'; c = in.get())
        if (line.size() <= kLineMax)
            line.push_back(static_cast<char>(c));
    return line.size() <= kLineMax;
}

void read_lines(std::istream &in, Lines &lines)
{
    std::string line;

    while (in.peek() != EOF) {
        read_line(in, line); // too long a line is refused because of its length
        if (!line.empty())
            lines.add(line);
    }
}

error read_file(const std::string &name, Lines &lines)
{
    if (name == "-") {
        read_lines(std::cin, lines);
        return {};
    }
    std::ifstream in(name);
    if (!in)
        return {errno, fmt::format("{}: {}", name, std::strerror(errno)), false};
    read_lines(in, lines);
    if (in.bad())
        return {EIO, fmt::format("{}: cannot be read", name), false};
    return {};
}

json names(const Layout &l, const std::vector<Part> &parts)
{
    json j = json::array();

    for (const Part &p : parts)
        j.push_back(part_name(l, p));
    return j;
}

record as_record(const Layout &l, const Finding &f, const std::string &text)
{
    record r;

    r.add("part", part_word(f.part.kind)).add("name", part_name(l, f.part)).add("plane", f.part.plane);
    r.add("direction", direction_word(f.part.kind)).add("symptom", symptom_word(f.symptom));
    r.add("fault", f.fault()).add("confirmed", f.confirmed).add("loss", f.loss);
    r.add("confidence", f.confidence).add("since", f.since).add("last", f.last);
    r.add("losses", f.losses).add("observers", f.observers).add("of", f.of);
    r.add("instead", names(l, f.instead)).add("text", text);
    return r;
}

// Describes how much was read, and which lines were refused.
std::string coverage(const Layout &l, const Lines &lines)
{
    auto text = fmt::format("{} of {} hosts reported, {} lines", lines.hosts(), l.hosts(), lines.taken());

    for (std::size_t i = 0; i < kRefusals; i++)
        if (const auto n = lines.refused(static_cast<Refusal>(i)))
            text += fmt::format(", {} {}", n, refusal_word(static_cast<Refusal>(i)));
    return text;
}

int judge(context &ctx, const Layout &l, Lines &lines)
{
    Tracker tracker(l);
    std::vector<Finding> found;
    int status = status_well;

    lines.each_slice(slice_seconds, [&](const Evidence &slice) { tracker.add(slice); });
    for (const auto &[part, known] : tracker.known())
        if (known.bad)
            found.push_back(known.finding);
    for (const Finding &f : found) {
        const auto text = sentence(l, f, found);
        if (f.fault())
            status = status_problem;
        if (ctx.opt.as_json)
            ctx.out.object(as_record(l, f, text));
        else
            fmt::print("{}\n", text);
    }
    const auto open = not_known(tracker.last());
    const bool silent = lines.taken() == 0;
    if (status == status_well && (silent || !open.empty()))
        status = status_unknown;
    const char *word = status == status_well ? "well" : status == status_problem ? "problem" : "unknown";
    if (ctx.opt.as_json) {
        record r;
        r.add("verdict", word).add("hosts", lines.hosts()).add("of", l.hosts()).add("lines", lines.taken());
        for (std::size_t i = 0; i < kRefusals; i++)
            r.add(refusal_word(static_cast<Refusal>(i)), lines.refused(static_cast<Refusal>(i)));
        ctx.out.object(r.add("open", open));
    } else {
        if (!open.empty())
            fmt::print("{}\n", open);
        fmt::print("{}: {}.\n", word, coverage(l, lines));
    }
    return status;
}

} // namespace

error fabric_diagnose(context &ctx, const arguments &args)
{
    try {
        const auto f = mrcfab::load_fabric(*args.get("file"));
        if (f.flat)
            return {EINVAL, "[flat] has no switches: there are no parts to distinguish", false};
        const Layout layout(f);
        Lines lines(layout, static_cast<double>(std::time(nullptr)));
        for (const auto &item : args.items())
            if (item.k->name == std::string_view("results"))
                if (const auto e = read_file(item.values.front(), lines))
                    return e;
        ctx.status = judge(ctx, layout, lines);
        return {};
    } catch (const mrcfab::FabricError &e) {
        return {EINVAL, e.what(), false};
    }
}

} // namespace mrcctl
