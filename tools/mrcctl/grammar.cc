// SPDX-License-Identifier: GPL-2.0
// grammar.cc - see grammar.h.
#include "grammar.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "suggest.h"

namespace mrcctl {

namespace {

enum class match { none, one, many };

// The entry with this name, else the only entry whose name starts so.
template <class T>
match find(const std::vector<T> &list, std::string_view word, const T *&out,
           std::string &candidates)
{
    size_t n = 0;
    for (auto &x : list) {
        std::string_view name = x.name;
        if (name == word) {
            out = &x;
            return match::one;
        }
        if (!word.empty() && name.starts_with(word)) {
            out = &x;
            candidates += (n++ ? ", " : "") + std::string(name);
        }
    }
    return n == 0 ? match::none : n == 1 ? match::one : match::many;
}

// Finds @word in @list. Null: @error is set, to @unknown() if no name starts so.
template <class T>
const T *need(const std::vector<T> &list, std::string_view word, const char *what, std::string &error,
              const std::function<std::string()> &unknown)
{
    const T *found = nullptr;
    std::string candidates;
    switch (find(list, word, found, candidates)) {
    case match::one:
        return found;
    case match::none:
        error = unknown();
        break;
    case match::many:
        error = fmt::format("{} \"{}\" could be {}", what, word, candidates);
        break;
    }
    return nullptr;
}

bool is_help(std::string_view word)
{
    return word == "help" || word == "-h" || word == "-help" || word == "--help";
}

std::string synopsis(const object &o, const verb &v)
{
    std::string s = fmt::format("mrcctl {}{}{}", o.name, *v.name ? " " : "", v.name);
    for (auto &k : v.keys) {
        std::string pair = k.name;
        for (auto *p : k.values)
            pair += fmt::format(" {}", p);
        s += k.required ? fmt::format(" {}", pair) : fmt::format(" [{}]", pair);
        if (k.repeat)
            s += k.required ? fmt::format(" [{}]...", pair) : "...";
    }
    return s;
}

bool is_address(std::string_view word)
{
    return word.find(':') != std::string_view::npos ||
           word.find_first_not_of("0123456789.") == std::string_view::npos;
}

// Which key may be left out before its value @word: "plane show mrc0", "fabric check FILE", "probe fd00::2".
const key *unnamed(const verb &v, std::string_view word, const arguments &args)
{
    for (auto &k : v.keys)
        if (k.bare && (k.repeat || !args.has(k.name)) && (k.values[0] != std::string_view("GID") || is_address(word)))
            return &k;
    return nullptr;
}

// Values without a key come first. A mistyped key has a value behind it, so then the rest are
// pairs.
const key *is_positional(const verb &v, std::span<const std::string> rest, const arguments &args)
{
    const key *k = nullptr;
    std::string ignored;
    auto named = [](const arguments::item &i) { return !i.k->bare; };
    if (std::any_of(args.items().begin(), args.items().end(), named) ||
        find(v.keys, rest[0], k, ignored) != match::none)
        return nullptr;
    if (rest.size() % 2 == 0 && find(v.keys, rest[1], k, ignored) == match::none && !near_key(v, rest[0]).empty())
        return nullptr;
    return unnamed(v, rest[0], args);
}

// Consumes KEY VALUE... from the front of @rest.
std::string take_pair(const object &o, const verb &v, std::span<const std::string> &rest, arguments &args)
{
    if (const key *k = is_positional(v, rest, args)) {
        args.add(k, {rest[0]});
        rest = rest.subspan(1);
        return {};
    }
    std::string error;
    const key *k = need(v.keys, rest[0], "key", error, [&] { return unknown_key(o, v, rest[0], args); });
    if (!k)
        return error;
    if (args.has(k->name) && !k->repeat)
        return fmt::format("\"{}\" is given twice", k->name);
    if (rest.size() < 1 + k->values.size())
        return fmt::format("\"{}\" needs {}: {}", k->name,
                           k->values.size() == 1 ? "a value" : "two values",
                           fmt::join(k->values, " "));
    args.add(k, {rest.begin() + 1, rest.begin() + 1 + static_cast<std::ptrdiff_t>(k->values.size())});
    rest = rest.subspan(1 + k->values.size());
    return {};
}

} // namespace

void arguments::add(const key *k, std::vector<std::string> values)
{
    items_.push_back({k, std::move(values)});
}

bool arguments::has(std::string_view name) const
{
    return std::any_of(items_.begin(), items_.end(),
                       [&](const item &i) { return name == i.k->name; });
}

std::optional<std::string> arguments::get(std::string_view name) const
{
    for (auto &i : items_)
        if (name == i.k->name)
            return i.values[0];
    return std::nullopt;
}

parsed parse(std::span<const std::string> words)
{
    parsed r;
    command c;
    auto &table = command_table();

    if (!words.empty() && is_help(words[0])) {
        r.help = help_text(nullptr, nullptr);
        return r;
    }
    c.obj = words.empty() ? &table[0] : need(table, words[0], "object", r.error, [&] { return unknown_object(words); });
    if (!c.obj)
        return r;
    if (!words.empty())
        words = words.subspan(1);
    r.see = fmt::format("mrcctl {} help", c.obj->name);
    if (!words.empty() && is_help(words[0])) {
        r.help = help_text(c.obj, nullptr);
        return r;
    }

    c.v = &c.obj->verbs[0];
    if (*c.v->name && !words.empty()) {
        c.v = need(c.obj->verbs, words[0], "verb", r.error,
                   [&] { return unknown_verb(*c.obj, words[0]); });
        if (!c.v)
            return r;
        words = words.subspan(1);
        r.see = fmt::format("mrcctl {} {} help", c.obj->name, c.v->name);
    }
    while (!words.empty()) {
        if (is_help(words[0])) {
            r.help = help_text(c.obj, c.v);
            return r;
        }
        r.error = take_pair(*c.obj, *c.v, words, c.args);
        if (!r.error.empty())
            return r;
    }
    for (auto &k : c.v->keys) {
        if (k.required && !c.args.has(k.name)) {
            r.error = fmt::format("\"{}\" is missing; usage: {}", k.name, synopsis(*c.obj, *c.v));
            return r;
        }
    }
    r.cmd = std::move(c);
    return r;
}

std::string help_text(const object *obj, const verb *v)
{
    std::string s;
    if (!obj) {
        s = "Usage: mrcctl [OPTIONS] OBJECT VERB [KEY VALUE]...\n"
            "       mrcctl [OBJECT [VERB]] help\n\n"
            "Objects (may be abbreviated; default: status)\n";
        for (auto &o : command_table())
            s += fmt::format("  {:<9} {}\n", o.name, o.help);
        s += "\nOptions\n"
             "  -j, -json        one JSON array\n"
             "  -p, -pretty      JSON for people\n"
             "  -d, -details     more\n"
             "  -n, -netns NAME  in this network namespace\n"
             "  -V, -Version     print the version\n\n"
             "Exit status: 0 done, 1 wrong usage, 2 refused by the kernel.\n";
        return s;
    }
    if (!v) {
        s = fmt::format("{}: {}\n\n", obj->name, obj->help);
        for (auto &x : obj->verbs)
            s += fmt::format("  {}\n      {}\n", synopsis(*obj, x), x.help);
        return s;
    }
    s = fmt::format("Usage: {}\n\n{}\n\n", synopsis(*obj, *v), v->help);
    for (auto &k : v->keys)
        s += fmt::format("  {:<28} {}\n",
                         fmt::format("{} {}", k.name, fmt::join(k.values, " ")), k.help);
    return s + fmt::format("\nExample\n  {}\n", v->example);
}

std::string table_text()
{
    std::string s;
    for (auto &o : command_table()) {
        s += fmt::format("object\t{}\t{}\n", o.name, o.help);
        for (auto &v : o.verbs) {
            s += fmt::format("verb\t{}\t{}\n", v.name, v.help);
            for (auto &k : v.keys)
                s += fmt::format("key\t{}\t{}\t{}{}\t{}\n", k.name, fmt::join(k.values, " "),
                                 k.required ? "required " : "", k.repeat ? "repeat" : "", k.help);
        }
    }
    return s;
}

namespace {

std::vector<std::string> value_candidates(const char *placeholder)
{
    std::string_view p = placeholder;
    if (p == "DEV" || p == "GID" || p == "FILE")
        return {fmt::format("<{}>", p == "DEV" ? "dev" : p == "GID" ? "peer" : "file")};
    if (p.find('|') == std::string_view::npos)
        return {};
    std::vector<std::string> out;
    for (size_t at = 0; at <= p.size();) {
        size_t end = std::min(p.find('|', at), p.size());
        out.emplace_back(p.substr(at, end - at));
        at = end + 1;
    }
    return out;
}

template <class T>
std::vector<std::string> names(const std::vector<T> &list)
{
    std::vector<std::string> out;
    for (auto &x : list)
        out.emplace_back(x.name);
    out.emplace_back("help");
    return out;
}

// All words that could take the place of the last one.
std::vector<std::string> possible(std::span<const std::string> before)
{
    std::string ignored;
    auto nothing = [] { return std::string(); };
    auto &table = command_table();
    if (before.empty())
        return names(table);
    const object *o = need(table, before[0], "", ignored, nothing);
    if (!o)
        return {};
    before = before.subspan(1);
    const verb *v = &o->verbs[0];
    if (*v->name) {
        if (before.empty())
            return names(o->verbs);
        v = need(o->verbs, before[0], "", ignored, nothing);
        if (!v)
            return {};
        before = before.subspan(1);
    }

    arguments given;
    while (!before.empty()) {
        const key *k = need(v->keys, before[0], "", ignored, nothing);
        if (k && before.size() <= k->values.size())
            return value_candidates(k->values[before.size() - 1]);
        if (!take_pair(*o, *v, before, given).empty())
            return {};
    }
    std::vector<std::string> out;
    for (auto &k : v->keys)
        if (k.repeat || !given.has(k.name))
            out.emplace_back(k.name);
    return out;
}

} // namespace

std::vector<std::string> complete(std::span<const std::string> words)
{
    if (words.empty())
        return {};
    const std::string &last = words.back();
    auto out = possible(words.first(words.size() - 1));
    std::erase_if(out, [&](const std::string &s) { return s[0] != '<' && !s.starts_with(last); });
    return out;
}

} // namespace mrcctl
