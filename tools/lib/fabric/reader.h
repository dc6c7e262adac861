// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// reader.h - reads values out of a TOML table and rejects unknown keys.
//
// Each error says where it is, what is wrong, and what would be right.
#pragma once

#include <fmt/format.h>
#include <toml++/toml.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fabric.h"
#include "pattern.h"

namespace mrcfab {

// Throws FabricError. What came from the file is made fit for a terminal: no control
// characters, and not the whole of a long one.
[[noreturn]] void fail_at(const std::string &file, const toml::source_region &where,
                          const std::string &text);

template <typename... Args>
[[noreturn]] void fail(const std::string &file, const toml::source_region &where,
                       fmt::format_string<Args...> format, Args &&...args)
{
    fail_at(file, where, fmt::format(format, std::forward<Args>(args)...));
}

// One table. finish() refuses every key that was not asked for.
class Reader {
public:
    Reader(const std::string &file, const toml::table &table, std::string name)
        : file_(&file), table_(&table), name_(std::move(name))
    {
    }

    template <typename... Args>
    [[noreturn]] void bad(std::string_view key, fmt::format_string<Args...> format,
                          Args &&...args) const
    {
        const toml::node *node = table_->get(key);
        fail(*file_, node ? node->source() : table_->source(), "{}: {}", full_name(key),
             fmt::format(format, std::forward<Args>(args)...));
    }

    bool has(std::string_view key) const { return table_->contains(key); }
    // Likewise of a key that may be there: a mistyped one is told its name.
    bool optional(std::string_view key)
    {
        known_.insert(std::string(key));
        return has(key);
    }

    std::uint64_t number(std::string_view key, std::uint64_t min, std::uint64_t max);
    std::string string(std::string_view key, std::string_view expected);
    // Null: it is there, and something else.
    std::optional<std::string> string_or_none(std::string_view key);
    std::string node_name(std::string_view key);
    std::string netdev(std::string_view key);
    Prefix6 prefix6(std::string_view key, unsigned min_len, unsigned max_len,
                    std::string_view example);
    // A network that hosts can have addresses of.
    IfAddr network4(std::string_view key, std::string_view example);
    // Names by rule; absent: @otherwise.
    Pattern node_pattern(std::string_view key, std::string_view otherwise,
                         const std::vector<Var> &vars);
    Pattern netdev_pattern(std::string_view key, std::string_view otherwise,
                           const std::vector<Var> &vars);
    std::vector<std::string> strings(std::string_view key, std::string_view expected);
    // Key and value of each entry of a table of strings.
    std::vector<std::pair<std::string, std::string>> string_pairs(std::string_view key,
                                                                  std::string_view expected);
    std::vector<IfAddr> addresses(std::string_view key, std::string_view expected);

    // A table that must be there; an empty one if it may be absent.
    Reader table(std::string_view key);
    Reader table_or_empty(std::string_view key);
    // [[key]], none or several.
    std::vector<Reader> tables(std::string_view key, const std::string &full_name);

    void finish() const;
    // The same before the values are read: every key that is none of @keys.
    void only(std::initializer_list<std::string_view> keys);

private:
    const toml::node *require(std::string_view key);
    // Keys that nobody asked for so far.
    std::vector<std::string> unknown() const;
    Pattern pattern(std::string_view key, std::string_view otherwise, const std::vector<Var> &vars);
    std::string full_name(std::string_view key) const;

    const std::string *file_;
    const toml::table *table_;
    std::string name_;
    std::set<std::string> known_;
};

inline constexpr unsigned kIfNameMax = 15;
// As netdev() and node_name() take them.
bool is_netdev(std::string_view name);
bool is_node_name(std::string_view name);

}   // namespace mrcfab
