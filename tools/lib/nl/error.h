// SPDX-License-Identifier: GPL-2.0
// error.h - the error of a netlink request: code and text.
#pragma once

#include <string>
#include <string_view>

namespace mrcnl {

// False when all is well. `text` is the kernel's own if it sent one.
struct error {
    int code = 0; // positive errno
    std::string text;
    bool from_kernel = false; // a refusal, not trouble on the way
    explicit operator bool() const { return code != 0; }

    static error make(int code, std::string_view what);
};

} // namespace mrcnl
