// SPDX-License-Identifier: GPL-2.0
// histogram.cc - see histogram.h.
#include "histogram.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace mrcctl {

void histogram::add(const mrc_hist &part)
{
    sum_.count += part.count;
    sum_.sum += part.sum;
    sum_.max = std::max(sum_.max, part.max);
    sum_.least = std::max(sum_.least, part.least);
    for (unsigned i = 0; i < MRC_HIST_SLOTS; i++)
        sum_.slot[i] += part.slot[i];
}

uint64_t slot_begin(unsigned i)
{
    if (i < MRC_HIST_EXACT)
        return i;
    unsigned n = (i - MRC_HIST_EXACT) / 4 + 3, quarter = (i - MRC_HIST_EXACT) % 4;
    return (4ull + quarter) << (n - 2);
}

uint64_t histogram::quantile(double share) const
{
    double left = share * static_cast<double>(sum_.count);
    for (auto &s : steps()) {
        double n = static_cast<double>(s.count);
        if (left <= n) {
            double at = static_cast<double>(s.from) +
                        static_cast<double>(s.to - s.from - 1) * std::max(left, 0.0) / n;
            return std::clamp(static_cast<uint64_t>(at), min(), max());
        }
        left -= n;
    }
    return max();
}

std::vector<histogram::step> histogram::steps() const
{
    std::vector<step> out;
    for (unsigned i = 0; i < MRC_HIST_SLOTS; i++)
        if (sum_.slot[i])
            out.push_back({slot_begin(i), slot_begin(i + 1), sum_.slot[i]});
    return out;
}

std::vector<histogram::step> histogram::doublings() const
{
    std::vector<step> out;
    for (auto &s : steps()) {
        uint64_t from = std::bit_floor(s.from), to = from ? 2 * from : 1;
        // Empty steps in between show the distance.
        while (!out.empty() && out.back().to < from)
            out.push_back({out.back().to, std::max<uint64_t>(2 * out.back().to, 1), 0});
        if (!out.empty() && out.back().from == from)
            out.back().count += s.count;
        else
            out.push_back({from, to, s.count});
    }
    return out;
}

std::string draw(const std::vector<histogram::step> &steps,
                 const std::function<std::string(uint64_t)> &number)
{
    constexpr uint64_t width = 50;
    uint64_t most = 1;
    for (auto &s : steps)
        most = std::max(most, s.count);
    std::string out;
    for (auto &s : steps) {
        // Rounded up: no count is invisible.
        auto bar = static_cast<size_t>((s.count * width + most - 1) / most);
        out += fmt::format("{}{:>10} ... {:>8} {:>10} {}", out.empty() ? "" : "\n", number(s.from),
                           number(s.to), s.count, std::string(bar, '#'));
        while (out.back() == ' ')
            out.pop_back();
    }
    return out;
}

std::string format_ns(uint64_t ns)
{
    static const struct {
        const char *name;
        double size;
    } units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}};

    for (auto &u : units) {
        double v = static_cast<double>(ns) / u.size;
        if (v >= 0.9995)
            return fmt::format("{:.{}f}{}", v, v < 9.995 ? 2 : v < 99.95 ? 1 : 0, u.name);
    }
    return fmt::format("{}ns", ns);
}

} // namespace mrcctl
