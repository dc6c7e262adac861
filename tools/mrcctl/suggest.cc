// SPDX-License-Identifier: GPL-2.0
// suggest.cc - see suggest.h.
#include "suggest.h"

#include <algorithm>

#include <fmt/format.h>

#include "../lib/words/nearest.h"

namespace mrcctl {

namespace {

// Names that other tools have for our objects.
struct alias {
    std::string_view word, object;
};
constexpr alias aliases[] = {
    {"link", "dev"},      {"device", "dev"}, {"port", "plane"},   {"path", "ev"},      {"paths", "ev"},
    {"gid", "peer"},      {"host", "peer"},  {"counter", "stats"}, {"counters", "stats"}, {"statistic", "stats"},
    {"ping", "probe"},    {"log", "event"},  {"events", "event"}, {"profiles", "profile"},
};

template <class T>
std::vector<std::string_view> names_of(const std::vector<T> &list)
{
    std::vector<std::string_view> names;
    for (auto &x : list)
        names.emplace_back(x.name);
    return names;
}

template <class T>
const T *named(const std::vector<T> &list, std::string_view name)
{
    auto it = std::find_if(list.begin(), list.end(), [&](const T &x) { return x.name == name; });
    return it == list.end() ? nullptr : &*it;
}

std::string_view object_meant(std::string_view word)
{
    auto it = std::find_if(std::begin(aliases), std::end(aliases), [&](const alias &a) { return a.word == word; });
    return it == std::end(aliases) ? std::string_view() : it->object;
}

bool is_verb(std::string_view word)
{
    auto &table = command_table();
    return std::any_of(table.begin(), table.end(),
                       [&](const object &o) { return !word.empty() && named(o.verbs, word); });
}

// "show dev" instead of "dev show".
std::string turned_round(std::span<const std::string> words)
{
    if (words.size() < 2 || !is_verb(words[0]))
        return {};
    std::string_view o = object_meant(words[1]);
    if (o.empty() && named(command_table(), words[1]))
        o = words[1];
    return o.empty() ? std::string() : fmt::format("{} {}", o, words[0]);
}

bool is_number(std::string_view word)
{
    return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string meant(const std::string &name)
{
    return name.empty() ? std::string() : fmt::format("; did you mean \"{}\"?", name);
}

// A key whose value could be the number.
const key *numbered(const verb &v, const arguments &before)
{
    for (auto &k : v.keys)
        if (!before.has(k.name) && (k.values[0] == std::string_view("N") || k.values[0] == std::string_view("ID")))
            return &k;
    return nullptr;
}

} // namespace

std::string unknown_object(std::span<const std::string> words)
{
    std::string near = turned_round(words);
    if (near.empty() && !object_meant(words[0]).empty())
        near = fmt::format("{}{}", object_meant(words[0]),
                           words.size() > 1 && is_verb(words[1]) ? " " + words[1] : "");
    if (near.empty())
        near = words::nearest(words[0], names_of(command_table()));
    return fmt::format("unknown object \"{}\"{}", words[0], meant(near));
}

std::string unknown_verb(const object &o, std::string_view word)
{
    auto verbs = names_of(o.verbs);
    return fmt::format("unknown verb \"{}\" of {}: {}", word, o.name, fmt::join(verbs, ", "));
}

std::string near_key(const verb &v, std::string_view word)
{
    return words::nearest(word, names_of(v.keys));
}

std::string unknown_key(const object &o, const verb &v, std::string_view word, const arguments &before)
{
    const key *k = is_number(word) ? numbered(v, before) : nullptr;
    if (k)
        return fmt::format("unexpected \"{}\": {} {}?", word, k->name, word);
    auto dev = before.get("dev");
    bool sets = v.name == std::string_view("set");
    std::string what = fmt::format("unknown {} \"{}\" of {}", sets ? "setting" : "key", word,
                                   dev ? *dev : fmt::format("{}{}{}", o.name, *v.name ? " " : "", v.name));
    if (word == "mtu")
        return what + ": ip link sets the MTU";
    return what + meant(near_key(v, word));
}

} // namespace mrcctl
