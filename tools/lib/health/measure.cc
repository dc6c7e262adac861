// SPDX-License-Identifier: GPL-2.0
// measure.cc - see measure.h.
#include "measure.h"

#include <fstream>

#include <linux/mrc.h>

namespace health {

namespace {

using mrcnl::error;
using mrcnl::table;

error read_counters(mrcnl::genl_socket &nl, measurement &m)
{
    mrcnl::request rq(MRC_CMD_STATS_GET);
    return nl.dump(rq, [&](const mrcnl::message &message) {
        table t(message.attrs);
        for (auto a : t[MRC_A_STATS].nested())
            if (a.type() == MRC_A_STAT) {
                table counter(a);
                m.counters[std::string(counter[MRC_A_STAT_NAME].str())] += counter[MRC_A_STAT_VALUE].num();
            }
    });
}

} // namespace

measurement measure(mrcnl::genl_socket &nl, const error &opened)
{
    measurement m;
    m.at = std::chrono::system_clock::now();
    std::ifstream("/sys/module/" MRC_GENL_NAME "/version") >> m.module_version;
    m.trouble = opened;
    if (!m.trouble && !(m.trouble = take_snapshot(nl, {}, m.now)))
        m.trouble = read_counters(nl, m);
    return m;
}

} // namespace health
