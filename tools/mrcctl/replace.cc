// SPDX-License-Identifier: GPL-2.0
// replace.cc - see replace.h.
#include "replace.h"

#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mrcctl {

using mrcnl::error;

namespace {

bool write_all(int fd, std::string_view text)
{
    while (!text.empty()) {
        ssize_t n = write(fd, text.data(), text.size());
        if (n < 0 && errno != EINTR)
            return false;
        text.remove_prefix(n < 0 ? 0 : static_cast<size_t>(n));
    }
    return true;
}

} // namespace

// O_EXCL: a file or link under the temporary name belongs to somebody else.
error replace_file(const std::string &path, const std::string &text)
{
    std::string first = fmt::format("{}.{}", path, getpid());
    int fd = open(first.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return error::make(errno, first);
    bool written = write_all(fd, text) && fchmod(fd, 0644) == 0;
    if ((close(fd) == 0) & written && rename(first.c_str(), path.c_str()) == 0)
        return {};
    auto e = error::make(errno, path);
    unlink(first.c_str());
    return e;
}

} // namespace mrcctl
