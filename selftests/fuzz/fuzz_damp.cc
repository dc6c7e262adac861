// SPDX-License-Identifier: GPL-2.0
// fuzz_damp.cc - flap damping: failures act at once, a first one is never damped, and a
// port that stays up is believed again, by the deadline that was promised.
#include "bytes.h"

extern "C" {
#include "peer/mrc_damp.h"
}

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    bytes in(data, size);
    mrc_damp_cfg k = {};
    mrc_damp d;
    u64 now = in.below(2) ? 0 : in.any<u32>();
    u32 failed_before = 0;

    k.half_life_ns = in.below(2) ? 0 : in.extreme<u32>();
    k.suppress = in.below(2) ? 0 : in.extreme<u32>();
    k.reuse = in.below(2) ? 0 : in.extreme<u32>();
    k.max_ns = in.below(2) ? 0 : in.extreme<u64>();
    k.off = in.one_in(8);
    mrc_damp_init(&d, &k, in.any<u32>());
    for (u32 i = 0; i < 300 && in.more(); i++) {
        now += in.below(2) ? in.below(1000) * 1000 : in.any<u32>();
        if (in.one_in(4)) {
            REQUIRE(!(mrc_damp_poll(&d, now) & ~d.up));
            continue;
        }
        u32 up = in.below(2) ? d.up ^ 1u << in.below(32) : in.extreme<u32>(), was = d.up;
        u32 told = mrc_damp_set(&d, up, now);
        u32 failing = was & ~up;

        REQUIRE(!(told & ~up)); // down is believed at once
        REQUIRE(!k.off || told == up);
        // Ports that never failed before, or have not come back yet, are not held.
        REQUIRE((up & ~failed_before & ~told) == 0);
        failed_before |= failing;
    }
    // Left alone, with all ports up, the word is believed in the end.
    u32 told = mrc_damp_set(&d, ~0u, now);
    for (u32 i = 0; told != ~0u; i++) {
        u64 at = mrc_damp_deadline_ns(&d);

        REQUIRE(i < 64 && at != MRC_TIME_NEVER);
        now = now > at ? now : at;
        u32 then = mrc_damp_poll(&d, now);
        REQUIRE(then != told); // at its deadline somebody returns
        told = then;
    }
    REQUIRE(mrc_damp_deadline_ns(&d) == MRC_TIME_NEVER);
    return 0;
}
