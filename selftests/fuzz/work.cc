// SPDX-License-Identifier: GPL-2.0
// work.cc - see work.h. libFuzzer has callbacks of these names that do nothing
// useful; the linker's --wrap gives us ours.
#include "work.h"

#include <cstdio>
#include <cstdlib>

uint64_t work_left = ~0ull;

extern "C" void __wrap___sanitizer_cov_trace_pc_guard(uint32_t *)
{
    if (--work_left)
        return;
    std::fputs("too much work in one call\n", stderr);
    std::abort();
}

extern "C" void __wrap___sanitizer_cov_trace_pc_guard_init(uint32_t *, uint32_t *) {}
