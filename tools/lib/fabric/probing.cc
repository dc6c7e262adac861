// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// probing.cc - see probing.h.
#include "probing.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "reader.h"

namespace mrcfab {

namespace {

std::optional<std::string> one_of(Reader &r, std::string_view key, std::initializer_list<std::string_view> words)
{
    if (!r.optional(key))
        return {};
    const auto word = r.string(key, fmt::format("one of {}", fmt::join(words, ", ")));
    if (std::find(words.begin(), words.end(), word) == words.end())
        r.bad(key, "\"{}\" is none of {}", word, fmt::join(words, ", "));
    return word;
}

std::optional<unsigned> number(Reader &r, std::string_view key, unsigned most)
{
    if (!r.optional(key))
        return {};
    return static_cast<unsigned>(r.number(key, 1, most));
}

}   // namespace

Probing read_probing(Reader &root)
{
    Reader r = root.table("probe");
    Probing p;

    r.only({"rate", "mode", "timeout_ms", "avoid_expiry_s"});
    p.rate = one_of(r, "rate", {"off", "slow", "normal", "fast"});
    p.mode = one_of(r, "mode", {"observe", "advise", "act"});
    p.timeout_ms = number(r, "timeout_ms", 10000);
    p.avoid_expiry_s = number(r, "avoid_expiry_s", 86400);
    return p;
}

}   // namespace mrcfab
