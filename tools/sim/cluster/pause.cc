// SPDX-License-Identifier: GPL-2.0
// pause.cc - see pause.h.
#include "pause.h"

namespace sim {

// One in each period, wholly within it.
void pauses::draw(const pause_spec &x, u64 key, u64 limit)
{
    u64 until = std::min(x.until_us ? x.until_us : limit, limit);

    for (u64 k = 0, begin = x.at_us; begin + x.every_us <= until; k++, begin += x.every_us) {
        u64 a = mix64(key ^ 2 * k), b = mix64(key ^ (2 * k + 1));
        u64 spread = (x.max_us - x.min_us) * ps_per_us;
        u64 length = x.min_us * ps_per_us + (spread ? a % (spread + 1) : 0);
        u64 from = begin * ps_per_us + b % (x.every_us * ps_per_us - length);

        list_.push_back({from, from + length});
    }
}

void pauses::merge()
{
    std::vector<span> out;

    std::sort(list_.begin(), list_.end(), [](const span &a, const span &b) {
        return a.from != b.from ? a.from < b.from : a.until < b.until;
    });
    for (const span &x : list_)
        if (!out.empty() && x.from <= out.back().until)
            out.back().until = std::max(out.back().until, x.until);
        else
            out.push_back(x);
    list_.swap(out);
}

pauses::pauses(const scenario &s, u32 host)
{
    for (size_t i = 0; i < s.pause.size(); i++) {
        const pause_spec &x = s.pause[i];

        if (x.host != none32 && x.host != host)
            continue;
        if (x.for_us)
            list_.push_back({x.at_us * ps_per_us, (x.at_us + x.for_us) * ps_per_us});
        else
            draw(x, mix64(mix64(s.run.seed << 32 | host) ^ i), s.run.limit_us);
    }
    merge();
}

u64 pauses::total_ps(u64 end) const
{
    u64 sum = 0;

    for (const span &x : list_)
        if (x.from < end)
            sum += std::min(x.until, end) - x.from;
    return sum;
}

u64 pauses::started(u64 end) const
{
    return static_cast<u64>(std::count_if(list_.begin(), list_.end(),
                                          [&](const span &x) { return x.from < end; }));
}

} // namespace sim
