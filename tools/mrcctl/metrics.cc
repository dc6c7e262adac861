// SPDX-License-Identifier: GPL-2.0
// metrics.cc - see metrics.h.
#include "metrics.h"

#include <fmt/format.h>

#include "../lib/health/exposition.h"
#include "replace.h"
#include "values.h"

namespace mrcctl {

using mrcnl::error;

error metrics(context &ctx, const arguments &args)
{
    if (ctx.opt.as_json)
        throw bad_value("metrics have Prometheus' text format; mrcctl -j status is JSON");
    auto opened = ctx.connect();
    auto m = health::measure(ctx.nl, opened);
    std::string text = health::exposition(m, MRC_VERSION);
    if (auto path = args.get("to")) {
        if (auto e = replace_file(*path, text))
            return e;
    } else {
        fmt::print("{}", text);
    }
    return m.trouble; // the metrics have it, too
}

} // namespace mrcctl
