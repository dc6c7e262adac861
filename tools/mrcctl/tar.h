// SPDX-License-Identifier: GPL-2.0
// tar.h - a tar archive in memory, in the ustar format of POSIX.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mrcctl {

class tar {
  public:
    explicit tar(uint64_t mtime) : mtime_(mtime) {}

    // @name: at most 99 characters.
    void add(std::string_view name, std::string_view text);
    std::string whole() const;

  private:
    uint64_t mtime_;
    std::string bytes_;
};

} // namespace mrcctl
