// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// usid.cc - see usid.h.
#include "usid.h"

#include <algorithm>
#include <cassert>

namespace mrcfab {

Prefix6 plane_block(const Prefix6 &blocks, unsigned plane)
{
    Prefix6 block{blocks.addr, kUsidBlockLen};

    assert(plane >= 1);
    if (block_per_plane(blocks.len))
        put_bits(block.addr, blocks.len, kUsidBlockLen - blocks.len, plane - 1);
    return block;
}

Ip6 usid_address(const Prefix6 &block, const std::vector<unsigned> &usids)
{
    Ip6 a = block.addr;
    unsigned at = kUsidBlockLen;

    assert(usids.size() <= kUsidsOfAddress);
    for (const unsigned usid : usids) {
        put_bits(a, at, kUsidLen, usid);
        at += kUsidLen;
    }
    return a;
}

Prefix6 usid_locator(const Prefix6 &block, unsigned usid)
{
    return {usid_address(block, {usid}), kLocatorLen};
}

Ip6 usid_shift(const Ip6 &a)
{
    constexpr auto kBlock = kUsidBlockLen / 8, kOne = kUsidLen / 8;
    Ip6 next;

    std::copy_n(a.bytes.begin(), kBlock, next.bytes.begin());
    std::copy(a.bytes.begin() + kBlock + kOne, a.bytes.end(), next.bytes.begin() + kBlock);
    return next;
}

}   // namespace mrcfab
