// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// pattern.cc - see pattern.h.
#include "pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>
#include <utility>

namespace mrcfab {

namespace {

constexpr const char *kNames[kVars] = {"plane", "t0", "t1", "host"};
constexpr unsigned kDigitsMax = 6;
constexpr unsigned kTimesMax = 32;     // with them a number has no more digits than these
constexpr int kPlusMax = 100000;
constexpr int kNumber = 256;   // in a shape: one digit or more; else a character

bool is_digit(int c) { return c >= '0' && c <= '9'; }

const char *name_of(Var v) { return kNames[static_cast<std::size_t>(v)]; }

std::string list_of(const std::vector<Var> &vars)
{
    std::string s;

    for (const Var v : vars)
        s += fmt::format("{}{{{}}}", s.empty() ? "" : " and ", name_of(v));
    return s;
}

}   // namespace

// "*8", "+1", "*8-8".
bool Pattern::parse_sum(std::string_view text, Part &part, std::string &why)
{
    const auto all = text;
    const auto number = [&](auto &n, auto max) {
        const auto [end, ec] = std::from_chars(text.data() + 1, text.data() + text.size(), n);
        if (ec != std::errc() || n < 1 || n > max)
            return false;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        return true;
    };
    bool good = text.empty() || text[0] != '*' || number(part.times, kTimesMax);

    if (good && !text.empty() && (text[0] == '+' || text[0] == '-')) {
        const bool minus = text[0] == '-';
        good = number(part.plus, kPlusMax);
        part.plus = minus ? -part.plus : part.plus;
    }
    if (!good || !text.empty()) {
        why = fmt::format("\"{}\" is no sum such as *8-8, with * 1 to {} and + or - 1 to {}", all, kTimesMax, kPlusMax);
        return false;
    }
    if (part.written(1) >= 0)
        return true;
    why = fmt::format("\"{}\" makes the number {} of 1, expected 0 or more", all, part.written(1));
    return false;
}

std::optional<Pattern::Part> Pattern::parse_var(std::string_view name, std::string &why)
{
    const auto colon = name.find(':');
    const auto digits = colon == name.npos ? "" : name.substr(colon + 1);
    const auto sum = name.substr(0, colon).find_first_of("*+-");
    Part part;

    for (std::size_t i = 0; i < kVars; i++)
        if (name.substr(0, std::min(colon, sum)) == kNames[i])
            part.var = static_cast<Var>(i);
    if (!part.var) {
        why = fmt::format("{{{}}} is no number of a name", name);
        return std::nullopt;
    }
    if (sum != name.npos && !parse_sum(name.substr(0, colon).substr(sum), part, why))
        return std::nullopt;
    if (colon == name.npos)
        return part;
    const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), part.digits);
    if (ec != std::errc() || end != digits.data() + digits.size() || part.digits < 1 ||
        part.digits > kDigitsMax) {
        why = fmt::format("{{{}}}: \"{}\" is no number of digits, 1 to {}", name, digits, kDigitsMax);
        return std::nullopt;
    }
    return part;
}

std::optional<Pattern> Pattern::parse(std::string_view text, const std::vector<Var> &vars,
                                      std::string &why)
{
    Pattern p;
    std::string literal;
    std::multiset<Var> seen;

    p.text_ = text;
    for (std::size_t at = 0; at < text.size(); at++) {
        const auto close = text[at] == '{' ? text.find('}', at) : text.npos;
        if (text[at] == '}' || (text[at] == '{' && close == text.npos)) {
            why = fmt::format("'{}' without its other end", text[at]);
            return std::nullopt;
        }
        if (text[at] != '{') {
            literal += text[at];
            continue;
        }
        auto part = parse_var(text.substr(at + 1, close - at - 1), why);
        if (!part)
            return std::nullopt;
        if (!p.parts_.empty() && literal.empty()) {
            why = "two numbers with nothing between them";
            return std::nullopt;
        }
        seen.insert(*part->var);
        part->literal = std::exchange(literal, {});
        p.parts_.push_back(*part);
        at = close;
    }
    p.parts_.push_back({literal, std::nullopt, 0});
    for (std::size_t i = 1; i < p.parts_.size(); i++)
        if (!p.parts_[i].literal.empty() && is_digit(p.parts_[i].literal[0])) {
            why = "a digit right behind a number";
            return std::nullopt;
        }
    if (seen != std::multiset<Var>(vars.begin(), vars.end())) {
        why = fmt::format("expected {}, each once, and no other number", list_of(vars));
        return std::nullopt;
    }
    return p;
}

std::string Pattern::format(const Numbers &n) const
{
    std::string s;

    for (const Part &p : parts_) {
        s += p.literal;
        if (p.var)
            s += fmt::format("{:0{}}", std::max<std::int64_t>(0, p.written(n[*p.var])), std::max(p.digits, 1u));
    }
    return s;
}

std::optional<Numbers> Pattern::match(std::string_view name) const
{
    Numbers n;

    for (const Part &p : parts_) {
        if (name.substr(0, p.literal.size()) != p.literal)
            return std::nullopt;
        name.remove_prefix(p.literal.size());
        if (!p.var)
            continue;
        const auto end = std::find_if(name.begin(), name.end(), [](char c) { return !is_digit(c); });
        const auto digits = name.substr(0, static_cast<std::size_t>(end - name.begin()));
        unsigned value = 0;
        if (digits.empty() || digits.size() > kDigitsMax)
            return std::nullopt;
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (fmt::format("{:0{}}", value, std::max(p.digits, 1u)) != digits)
            return std::nullopt;
        const auto rest = std::int64_t{value} - p.plus;
        if (rest < 0 || rest % p.times)
            return std::nullopt;
        n[*p.var] = static_cast<unsigned>(rest / p.times);
        name.remove_prefix(digits.size());
    }
    if (!name.empty())
        return std::nullopt;
    return n;
}

std::vector<int> Pattern::shape() const
{
    std::vector<int> s;

    for (const Part &p : parts_) {
        for (const char c : p.literal)
            s.push_back(static_cast<unsigned char>(c));
        if (p.var)
            s.push_back(kNumber);
    }
    return s;
}

// Both shapes are read along one name; a state is how far each has come. A number may go on
// after its first digit.
bool Pattern::overlaps(const Pattern &other) const
{
    const auto a = shape(), b = other.shape();
    std::set<std::pair<std::size_t, std::size_t>> seen;
    std::vector<std::pair<std::size_t, std::size_t>> todo = {{0, 0}};

    while (!todo.empty()) {
        const auto [i, j] = todo.back();
        todo.pop_back();
        if (!seen.emplace(i, j).second)
            continue;
        if (i == a.size() && j == b.size())
            return true;
        const bool inside_a = i > 0 && a[i - 1] == kNumber, inside_b = j > 0 && b[j - 1] == kNumber;
        const bool next_a = i < a.size(), next_b = j < b.size();
        const bool digit_a = next_a && (a[i] == kNumber || is_digit(a[i]));
        const bool digit_b = next_b && (b[j] == kNumber || is_digit(b[j]));
        const bool same = next_a && next_b &&
                          (a[i] == b[j] || (digit_a && digit_b && (a[i] == kNumber || b[j] == kNumber)));
        if (same)
            todo.emplace_back(i + 1, j + 1);
        if (inside_a && digit_b)
            todo.emplace_back(i, j + 1);
        if (inside_b && digit_a)
            todo.emplace_back(i + 1, j);
    }
    return false;
}

bool Pattern::apart_by_numbers(unsigned last, const Pattern &other, unsigned other_last) const
{
    if (parts_.size() != 2 || other.parts_.size() != 2 || parts_[0].literal != other.parts_[0].literal ||
        parts_[1].literal != other.parts_[1].literal || parts_[0].digits != other.parts_[0].digits)
        return false;
    std::set<std::int64_t> numbers;
    for (unsigned n = 1; n <= last; n++)
        numbers.insert(parts_[0].written(n));
    for (unsigned n = 1; n <= other_last; n++)
        if (numbers.count(other.parts_[0].written(n)))
            return false;
    return true;
}

}   // namespace mrcfab
