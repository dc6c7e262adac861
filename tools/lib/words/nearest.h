// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
//
// nearest.h - "did you mean": finds the known name that is closest to a mistyped word.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace words {

// Letters that were added, left out, changed, or swapped with their neighbour (optimal string alignment).
inline size_t distance(std::string_view a, std::string_view b)
{
    std::vector<size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
    for (size_t j = 0; j <= b.size(); j++)
        last[j] = j;
    for (size_t i = 1; i <= a.size(); i++) {
        now[0] = i;
        for (size_t j = 1; j <= b.size(); j++) {
            now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = std::min(now[j], before[j - 2] + 1);
        }
        before.swap(last);
        last.swap(now);
    }
    return last[b.size()];
}

// The name of @names, a range of things that a string_view is made of, that differs from @word in no more than
// a third of its letters; "" if there is none.
template <class Names>
std::string nearest(std::string_view word, const Names &names)
{
    constexpr size_t longest = 64; // the work is the product of both lengths
    std::string_view best;
    size_t least = word.size() > longest ? 0 : std::max<size_t>(1, word.size() / 3) + 1;
    for (std::string_view name : names) {
        size_t d = least && name.size() <= longest ? distance(word, name) : least;
        if (d < least) {
            least = d;
            best = name;
        }
    }
    return std::string(best);
}

} // namespace words
