// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// pattern.h - name patterns: "p{plane}-t0-{t0}" formats numbers as a name and parses a name into
// numbers.
//
// {t0:3} has at least three digits, {host*8-8} is 0, 8, 16, ... Each name has exactly one interpretation:
// a non-digit separates two numbers, and each number has one spelling.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mrcfab {

enum class Var { kPlane, kT0, kT1, kHost };
inline constexpr std::size_t kVars = 4;

struct Numbers {
    std::array<unsigned, kVars> value{};

    unsigned operator[](Var v) const { return value[static_cast<std::size_t>(v)]; }
    unsigned &operator[](Var v) { return value[static_cast<std::size_t>(v)]; }
};

class Pattern {
public:
    // With each of @vars once and no other; else nothing, and @why.
    static std::optional<Pattern> parse(std::string_view text, const std::vector<Var> &vars,
                                        std::string &why);

    std::string format(const Numbers &n) const;
    std::optional<Numbers> match(std::string_view name) const;
    // Is there a name that both could have, whatever the numbers?
    bool overlaps(const Pattern &other) const;
    // Have both the same words around one number, which is never the same? They count to @last and @other_last.
    bool apart_by_numbers(unsigned last, const Pattern &other, unsigned other_last) const;
    const std::string &text() const { return text_; }

private:
    struct Part {
        std::string literal;        // before the number
        std::optional<Var> var;     // none: the end
        unsigned digits = 0;
        unsigned times = 1;         // the number that is written
        int plus = 0;

        std::int64_t written(unsigned n) const { return std::int64_t{n} * times + plus; }
    };

    static std::optional<Part> parse_var(std::string_view name, std::string &why);
    static bool parse_sum(std::string_view text, Part &part, std::string &why);
    std::vector<int> shape() const;

    std::string text_;
    std::vector<Part> parts_;
};

}   // namespace mrcfab
