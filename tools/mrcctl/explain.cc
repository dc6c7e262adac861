// SPDX-License-Identifier: GPL-2.0
// explain.cc - see explain.h.
#include "explain.h"

#include <algorithm>
#include <cerrno>
#include <string>

#include <fmt/format.h>

#include "words.h"

namespace mrcctl {

namespace {

using mrcnl::error;

// Compares names, which have '-' in text, and '_' in JSON and in rdma statistic.
bool same_name(std::string_view a, std::string_view b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return x == y || (x == '-' && y == '_') || (x == '_' && y == '-'); });
}

// Names that contain @part or share its beginning, for "did you mean".
std::string similar(const std::vector<word> &all, std::string_view part)
{
    std::string out;
    for (auto &w : all)
        if (w.name.find(part) != w.name.npos || (part.size() > 4 && w.name.starts_with(part.substr(0, 5))))
            out += fmt::format("{}{}", out.empty() ? "" : ", ", w.name);
    return out;
}

void tell(const word &w)
{
    fmt::print("{} ({}): {}\n", w.name, w.kind, w.meaning);
    if (!w.why.empty())
        fmt::print("    why   {}\n", w.why);
    if (!w.action.empty())
        fmt::print("    do    {}\n", w.action);
}

record as_record(const word &w)
{
    record r;
    r.add("name", std::string(w.name)).add("kind", std::string(w.kind)).add("meaning", std::string(w.meaning));
    r.add("why", std::string(w.why)).add("do", std::string(w.action));
    return r;
}

std::string cell(std::string_view text)
{
    std::string out;
    for (char c : text)
        out += c == '|' ? std::string("\\|") : std::string(1, c);
    return out;
}

// Prints the page of Documentation, with a table for each kind.
void print_page(const std::vector<word> &all)
{
    std::string_view kind;
    fmt::print("# Counters, hints, states and events\n\n"
               "After this page you know what a name that `mrcctl` or `rdma statistic` shows means, and what to do about it.\n"
               "`mrcctl explain NAME` prints one line of it. The page is made by `mrcctl explain as page`: do not edit it.\n");
    for (auto &w : all) {
        if (w.kind != kind)
            fmt::print("\n## {}{}s\n\n| name | meaning | why | what to do |\n|---|---|---|---|\n",
                       static_cast<char>(std::toupper(w.kind[0])),
                       w.kind.starts_with("counter") ? "ounter" + std::string(w.kind.substr(7, w.kind.size() - 8))
                                                     : std::string(w.kind.substr(1)));
        kind = w.kind;
        fmt::print("| `{}` | {} | {} | {} |\n", w.name, cell(w.meaning), cell(w.why), cell(w.action));
    }
}

} // namespace

error explain(context &ctx, const arguments &args)
{
    auto all = all_words();
    auto name = args.get("name");
    if (args.get("as").value_or("") == "page") {
        print_page(all);
        return {};
    }
    bool found = false;
    for (auto &w : all) {
        if (name && !same_name(w.name, *name))
            continue;
        found = true;
        if (ctx.opt.as_json)
            ctx.out.object(as_record(w));
        else if (name || ctx.opt.details)
            tell(w);
        else
            fmt::print("{:<22} {}\n", w.name, w.meaning);
    }
    if (found)
        return {};
    std::string near = similar(all, *name);
    return {ENOENT,
            near.empty() ? fmt::format("no counter, hint, state or event is named \"{}\"; mrcctl explain lists all", *name)
                         : fmt::format("no counter, hint, state or event is named \"{}\"; did you mean {}?", *name, near),
            false};
}

} // namespace mrcctl
