// SPDX-License-Identifier: GPL-2.0
//
// child.cc - see child.h.
#include "child.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace mrcctl {

namespace {

using clock = std::chrono::steady_clock;

// Reads until the end of the output. False: the time is over.
bool read_all(int fd, child_result &r, size_t bytes, clock::time_point end)
{
    char buffer[65536];
    for (;;) {
        auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - clock::now()).count();
        pollfd p{fd, POLLIN, 0};
        int n = left > 0 ? poll(&p, 1, static_cast<int>(left)) : 0;
        if (n == 0)
            return false;
        if (n < 0 && errno == EINTR)
            continue;
        auto got = read(fd, buffer, sizeof(buffer));
        if (got <= 0)
            return true;
        auto take = std::min(static_cast<size_t>(got), bytes - r.out.size());
        r.out.append(buffer, take);
        r.cut |= take < static_cast<size_t>(got);
    }
}

} // namespace

child_result run_child(const std::vector<std::string> &argv, size_t bytes, unsigned seconds)
{
    child_result r;
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) < 0) {
        r.why = std::strerror(errno);
        return r;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
    posix_spawn_file_actions_adddup2(&actions, fds[1], 2);
    std::vector<char *> args;
    for (auto &a : argv)
        args.push_back(const_cast<char *>(a.c_str()));
    args.push_back(nullptr);
    pid_t pid = 0;
    int bad = posix_spawnp(&pid, args[0], &actions, nullptr, args.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    if (bad) {
        r.why = std::strerror(bad);
        close(fds[0]);
        return r;
    }
    bool ended = read_all(fds[0], r, bytes, clock::now() + std::chrono::seconds(seconds));
    close(fds[0]);
    if (!ended)
        kill(pid, SIGKILL);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (ended && WIFEXITED(status))
        r.status = WEXITSTATUS(status);
    else
        r.why = ended ? "was killed" : "took too long";
    return r;
}

} // namespace mrcctl
