// SPDX-License-Identifier: GPL-2.0
// signals.h - SIGHUP, SIGTERM and SIGINT as a file descriptor, for the loop and for checks between
// operations of a long run.
#pragma once

namespace mrcd {

class Signals {
public:
    Signals();   // blocks the signals; throws std::system_error
    ~Signals();
    Signals(const Signals &) = delete;
    Signals &operator=(const Signals &) = delete;

    int fd() const { return fd_; }
    bool pending() const;
    int take();   // the next signal; 0: none

private:
    int fd_;
};

}   // namespace mrcd
