// SPDX-License-Identifier: GPL-2.0
// tracer_none.cc - tracer.h without libbpf.
#include "tracer.h"

#include <cerrno>

namespace mrcctl {

struct tracer::loaded {};
tracer::tracer() = default;
tracer::~tracer() = default;

mrcnl::error tracer::start(const std::vector<program> &, uint32_t)
{
    return {EOPNOTSUPP, "this mrcctl was built without libbpf or clang: it has no histograms; "
                        "the tracepoints mrc:* are there for other tools"};
}

std::vector<histogram> tracer::histograms(const char *) const { return {}; }
std::vector<mrc_recovery> tracer::recoveries() const { return {}; }

} // namespace mrcctl
