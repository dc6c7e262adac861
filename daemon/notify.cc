// SPDX-License-Identifier: GPL-2.0
// notify.cc - see notify.h.
#include "notify.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace mrcd {

void notify_manager(const std::string &state)
{
    const char *path = std::getenv("NOTIFY_SOCKET");
    sockaddr_un to{};

    if (!path || (path[0] != '/' && path[0] != '@') || std::strlen(path) >= sizeof(to.sun_path))
        return;
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, path, std::strlen(path));
    if (path[0] == '@')   // an abstract socket
        to.sun_path[0] = '\0';
    const auto len = offsetof(sockaddr_un, sun_path) + std::strlen(path);
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    (void)sendto(fd, state.data(), state.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr *>(&to), static_cast<socklen_t>(len));
    close(fd);
}

std::chrono::microseconds watchdog_period()
{
    const char *usec = std::getenv("WATCHDOG_USEC");
    const char *pid = std::getenv("WATCHDOG_PID");

    if (!usec || (pid && std::atol(pid) != getpid()))
        return {};
    return std::chrono::microseconds(std::atoll(usec) / 2);
}

bool touch(const std::string &path)
{
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);

    if (fd < 0)
        return false;
    close(fd);
    return true;
}

void untouch(const std::string &path)
{
    struct stat st;

    if (lstat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode))
        unlink(path.c_str());
}

}   // namespace mrcd
