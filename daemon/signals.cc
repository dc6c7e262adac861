// SPDX-License-Identifier: GPL-2.0
// signals.cc - see signals.h.
#include "signals.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

namespace mrcd {

Signals::Signals()
{
    sigset_t set;

    sigemptyset(&set);
    for (const int signal : {SIGHUP, SIGTERM, SIGINT})
        sigaddset(&set, signal);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    fd_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd_ < 0)
        throw std::system_error(errno, std::generic_category(), "signalfd");
}

Signals::~Signals() { close(fd_); }

bool Signals::pending() const
{
    pollfd p{fd_, POLLIN, 0};

    return poll(&p, 1, 0) > 0;
}

int Signals::take()
{
    signalfd_siginfo info;

    return read(fd_, &info, sizeof(info)) == sizeof(info) ? static_cast<int>(info.ssi_signo) : 0;
}

}   // namespace mrcd
