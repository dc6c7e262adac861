// SPDX-License-Identifier: GPL-2.0
//
// terminal.h - redraws a screen in a terminal, and reads single keys. Without a terminal, screens
// are printed one after the other.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include <termios.h>

namespace mrcctl {

class terminal {
  public:
    terminal();
    ~terminal();
    terminal(const terminal &) = delete;
    terminal &operator=(const terminal &) = delete;

    size_t rows() const;
    // Shows a screen, cut to the size of the window, with @footer in the last line.
    void show(const std::string &screen, const std::string &footer) const;
    // Returns a key; 0: none within @limit, or the window changed; 'q' also for a signal that ends
    // programs.
    char wait(std::chrono::milliseconds limit) const;

  private:
    bool screen_ = false, keys_ = false;
    termios before_ = {};
};

} // namespace mrcctl
