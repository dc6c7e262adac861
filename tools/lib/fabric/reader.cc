// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// reader.cc - see reader.h.
#include "reader.h"

#include <algorithm>
#include <cctype>

#include "../words/nearest.h"

namespace mrcfab {

namespace {

constexpr std::size_t kTextMax = 500;
constexpr std::size_t kNameMax = 63;
constexpr std::size_t kKeysShown = 8;   // unknown keys of one section
constexpr const char *kNodeNames = "1 to 63 letters, digits, '-', '_' or '.'";
constexpr const char *kNetdevs = "1 to 15 characters without space, '/', ':' and '%'";

bool netdev_char(unsigned char c) { return std::isgraph(c) && c != '/' && c != ':' && c != '%'; }

bool name_char(unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; }

}   // namespace

void fail_at(const std::string &file, const toml::source_region &where, const std::string &text)
{
    std::string clean = text.substr(0, kTextMax);

    for (char &c : clean)
        if (std::iscntrl(static_cast<unsigned char>(c)))
            c = '?';
    if (text.size() > kTextMax)
        clean += "...";
    throw FabricError(fmt::format("{}:{}:{}: {}", file, where.begin.line, where.begin.column, clean));
}

bool is_netdev(std::string_view s)
{
    return !s.empty() && s.size() <= kIfNameMax && s != "." && s != ".." && s != "all" &&
           s != "default" && std::all_of(s.begin(), s.end(), netdev_char);
}

bool is_node_name(std::string_view s)
{
    return !s.empty() && s.size() <= kNameMax && std::all_of(s.begin(), s.end(), name_char);
}

std::string Reader::full_name(std::string_view key) const
{
    return name_.empty() ? std::string(key) : fmt::format("{}.{}", name_, key);
}

const toml::node *Reader::require(std::string_view key)
{
    known_.insert(std::string(key));
    const toml::node *node = table_->get(key);
    if (!node) {
        const auto what = name_.empty() ? fmt::format("[{}]", key)
                                        : fmt::format("key \"{}\" in [{}]", key, name_);
        // A mistyped one is the reason, as a rule, and is where to look.
        const auto typed = words::nearest(key, unknown());
        if (!typed.empty())
            fail(*file_, table_->find(typed)->first.source(), "{} is missing: is it \"{}\"?", what, typed);
        fail(*file_, table_->source(), "{} is missing", what);
    }
    return node;
}

std::uint64_t Reader::number(std::string_view key, std::uint64_t min, std::uint64_t max)
{
    const auto *node = require(key)->as_integer();
    if (!node)
        bad(key, "not an integer, expected {} to {}", min, max);
    const std::int64_t value = node->get();
    if (value < 0 || static_cast<std::uint64_t>(value) < min ||
        static_cast<std::uint64_t>(value) > max)
        bad(key, "{} is out of range, expected {} to {}", value, min, max);
    return static_cast<std::uint64_t>(value);
}

std::string Reader::string(std::string_view key, std::string_view expected)
{
    const auto *node = require(key)->as_string();
    if (!node)
        bad(key, "not a string, expected {}", expected);
    return node->get();
}

std::optional<std::string> Reader::string_or_none(std::string_view key)
{
    const auto *node = require(key)->as_string();
    return node ? std::optional(node->get()) : std::nullopt;
}

std::string Reader::node_name(std::string_view key)
{
    const auto value = string(key, "a name");
    if (!is_node_name(value))
        bad(key, "\"{}\" is no name, expected {}", value, kNodeNames);
    return value;
}

std::string Reader::netdev(std::string_view key)
{
    const auto value = string(key, "a network interface name");
    if (!is_netdev(value))
        bad(key, "\"{}\" is no interface name, expected {}", value, kNetdevs);
    return value;
}

Prefix6 Reader::prefix6(std::string_view key, unsigned min_len, unsigned max_len,
                        std::string_view example)
{
    const auto expected = min_len == max_len
        ? fmt::format("an IPv6 prefix of length {}, such as {}", min_len, example)
        : fmt::format("an IPv6 prefix of length {} to {}, such as {}", min_len, max_len, example);
    const auto text = string(key, expected);
    const auto p = parse_prefix6(text);

    if (p && p->len >= min_len && p->len <= max_len && !p->host_bits_zero())
        bad(key, "\"{}\" has bits beyond its length: {}/{}?", text, to_string(first_bits(p->addr, p->len)), p->len);
    if (!p || p->len < min_len || p->len > max_len)
        bad(key, "\"{}\" is wrong, expected {}", text, expected);
    return *p;
}

IfAddr Reader::network4(std::string_view key, std::string_view example)
{
    // Nothing of these is a host's.
    static constexpr const char *kSpecial[] = {"0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3"};
    const auto expected = fmt::format("an IPv4 network, such as {}", example);
    const auto text = string(key, expected);
    const auto net = parse_ifaddr(text);

    if (!net || !net->addr.v4 || !mapped(*net).host_bits_zero())
        bad(key, "\"{}\" is wrong, expected {}", text, expected);
    for (const char *special : kSpecial)
        if (mapped(*parse_ifaddr(special)).overlaps(mapped(*net)))
            bad(key, "{} holds addresses of {}, which no host can have, expected {}", text, special,
                expected);
    return *net;
}

Pattern Reader::pattern(std::string_view key, std::string_view otherwise,
                        const std::vector<Var> &vars)
{
    std::string why;
    known_.insert(std::string(key));
    const auto text = has(key) ? string(key, fmt::format("a name such as \"{}\"", otherwise))
                               : std::string(otherwise);
    const auto p = Pattern::parse(text, vars, why);

    if (!p)
        bad(key, "\"{}\": {}, as in \"{}\"", text, why, otherwise);
    return *p;
}

// The characters besides the numbers; how long it can get depends on these.
Pattern Reader::node_pattern(std::string_view key, std::string_view otherwise,
                             const std::vector<Var> &vars)
{
    auto p = pattern(key, otherwise, vars);
    if (!is_node_name(p.format({})))
        bad(key, "\"{}\" makes no names, expected {}, as in \"{}\"", p.text(), kNodeNames, otherwise);
    return p;
}

Pattern Reader::netdev_pattern(std::string_view key, std::string_view otherwise,
                               const std::vector<Var> &vars)
{
    auto p = pattern(key, otherwise, vars);
    if (!is_netdev(p.format({})))
        bad(key, "\"{}\" makes no interface names, expected {}, as in \"{}\"", p.text(), kNetdevs,
            otherwise);
    return p;
}

std::vector<std::string> Reader::strings(std::string_view key, std::string_view expected)
{
    std::vector<std::string> list;
    const auto *array = require(key)->as_array();

    if (!array)
        bad(key, "not a list, expected {}", expected);
    for (const auto &item : *array) {
        const auto *text = item.as_string();
        if (!text)
            bad(key, "an item is not a string, expected {}", expected);
        list.push_back(text->get());
    }
    return list;
}

std::vector<std::pair<std::string, std::string>> Reader::string_pairs(std::string_view key,
                                                                      std::string_view expected)
{
    std::vector<std::pair<std::string, std::string>> list;
    const auto *items = require(key)->as_table();

    if (!items)
        bad(key, "not a table, expected {}", expected);
    for (const auto &[name, value] : *items) {
        const auto *text = value.as_string();
        if (!text)
            bad(key, "\"{}\" is not a string, expected {}", name.str(), expected);
        list.emplace_back(name.str(), text->get());
    }
    return list;
}

std::vector<IfAddr> Reader::addresses(std::string_view key, std::string_view expected)
{
    std::vector<IfAddr> list;

    for (const auto &text : strings(key, expected)) {
        const auto a = parse_ifaddr(text);
        if (!a)
            bad(key, "\"{}\" is no address with length, expected {}", text, expected);
        if (const auto what = not_for_hosts(*a); !what.empty())
            bad(key, "\"{}\" is {}, expected {}", text, what, expected);
        list.push_back(*a);
    }
    return list;
}

Reader Reader::table(std::string_view key)
{
    const auto *node = require(key)->as_table();
    if (!node)
        bad(key, "not a table, expected [{}]", full_name(key));
    return Reader(*file_, *node, full_name(key));
}

Reader Reader::table_or_empty(std::string_view key)
{
    static const toml::table kEmpty;

    known_.insert(std::string(key));
    return has(key) ? table(key) : Reader(*file_, kEmpty, full_name(key));
}

std::vector<Reader> Reader::tables(std::string_view key, const std::string &full_name)
{
    std::vector<Reader> list;

    known_.insert(std::string(key));
    const toml::node *node = table_->get(key);
    if (!node)
        return list;
    const auto *array = node->as_array();
    if (!array)
        bad(key, "not an array of tables, expected [[{}]]", full_name);
    for (const auto &item : *array) {
        const auto *item_table = item.as_table();
        if (!item_table)
            bad(key, "not an array of tables, expected [[{}]]", full_name);
        list.emplace_back(*file_, *item_table, full_name);
    }
    return list;
}

std::vector<std::string> Reader::unknown() const
{
    std::vector<std::string> keys;
    for (const auto &[key, value] : *table_)
        if (!known_.count(std::string(key.str())))
            keys.emplace_back(key.str());
    return keys;
}

void Reader::finish() const
{
    const auto keys = unknown();
    if (keys.empty())
        return;
    const auto near = words::nearest(keys.front(), known_);
    const auto shown = std::min(keys.size(), kKeysShown);
    const auto others = std::vector<std::string>(keys.begin() + 1, keys.begin() + shown);
    fail(*file_, table_->find(keys.front())->first.source(), "unknown key \"{}\" in {}, {}expected {}{}{}{}", keys.front(),
         name_.empty() ? "the file" : "[" + name_ + "]", near.empty() ? "" : "did you mean \"" + near + "\"? ",
         fmt::join(known_, ", "), others.empty() ? "" : "; unknown, too: ", fmt::join(others, ", "),
         keys.size() > shown ? fmt::format(" and {} more", keys.size() - shown) : "");
}

void Reader::only(std::initializer_list<std::string_view> keys)
{
    known_.insert(keys.begin(), keys.end());
    finish();
}

}   // namespace mrcfab
