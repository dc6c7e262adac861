// SPDX-License-Identifier: GPL-2.0
// fuzz_dup.cc - the filter of datagrams that come twice, beside a model that forgets nothing: no datagram is
// delivered twice in its time, and no original is refused unless its like was delivered.
#include "bytes.h"

#include <map>
#include <memory>

extern "C" {
#include "peer/mrc_dup.h"
}

extern "C" int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    auto t = std::make_unique<mrc_dup>();
    std::map<u64, std::pair<u64, bool>> delivered; // digest -> when, and was it the copy
    bytes in(data, size);
    u64 now = in.below(2) ? 0 : in.any<u64>() >> 1;
    const u64 sets = 1 + in.below(3), tick = 1ull << MRC_DUP_SHIFT;

    while (in.more()) {
        const u64 digest = in.one_in(16) ? in.any<u64>() : in.below(64) | u64{in.below(static_cast<u32>(sets))} << 32;
        const bool copy = in.below(2);

        now += in.one_in(8) ? in.below(2) * MRC_DUP_NS / (1 + in.below(4)) : in.below(1000) * 1000;
        const u64 word = digest ? digest : 1; // one to the filter
        const auto before = delivered.find(word);
        const u64 age = before == delivered.end() ? ~0ull : now - before->second.first;
        const bool taken = mrc_dup_take(t.get(), digest, copy, now);

        if (taken && age < MRC_DUP_NS) // two originals: the first may have passed without a trace
            REQUIRE(!copy && !before->second.second);
        if (!taken && !copy)
            REQUIRE(age < MRC_DUP_NS + tick);
        if (!taken)
            continue;
        if (in.one_in(8))
            mrc_dup_untake(t.get(), digest);
        else
            delivered[word] = {now, copy};
    }
    return 0;
}
