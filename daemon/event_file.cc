// SPDX-License-Identifier: GPL-2.0
// event_file.cc - see event_file.h.
#include "event_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace mrcd {

EventFile::~EventFile() { close_file(); }

void EventFile::close_file()
{
    if (fd_ >= 0)
        close(fd_);
    fd_ = -1;
}

int EventFile::open_file()
{
    struct stat st;

    fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0640);
    if (fd_ < 0)
        return errno;
    if (fstat(fd_, &st) < 0 || !S_ISREG(st.st_mode)) {
        close_file();
        return EINVAL;
    }
    size_ = static_cast<std::size_t>(st.st_size);
    return 0;
}

void EventFile::rotate()
{
    close_file();
    for (int i = kOld; i > 1; i--)
        (void)std::rename(fmt::format("{}.{}", path_, i - 1).c_str(), fmt::format("{}.{}", path_, i).c_str());
    (void)std::rename(path_.c_str(), (path_ + ".1").c_str());
}

int EventFile::append(const std::string &line)
{
    const auto text = line + "\n";
    int code = fd_ < 0 ? open_file() : 0;

    if (!code && size_ && size_ + text.size() > most_) {
        rotate();
        code = open_file();
    }
    if (code)
        return code;
    const auto n = write(fd_, text.data(), text.size());
    if (n == static_cast<ssize_t>(text.size())) {
        size_ += text.size();
        return 0;
    }
    code = n < 0 ? errno : ENOSPC;
    close_file();
    return code;
}

}   // namespace mrcd
