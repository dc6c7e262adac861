// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// pattern.h - names by rule: "p{plane}-t0-{t0}" makes a name of numbers, and numbers of a name.
//
// {t0:3} has three digits at least. A name has one reading only: between two numbers stands
// something that is no digit, and numbers are written in one way.
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
    const std::string &text() const { return text_; }

private:
    struct Part {
        std::string literal;        // before the number
        std::optional<Var> var;     // none: the end
        unsigned digits = 0;
    };

    static std::optional<Part> parse_var(std::string_view name, std::string &why);
    std::vector<int> shape() const;

    std::string text_;
    std::vector<Part> parts_;
};

}   // namespace mrcfab
