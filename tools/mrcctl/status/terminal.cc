// SPDX-License-Identifier: GPL-2.0
// terminal.cc - see terminal.h.
#include "terminal.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <sstream>

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace mrcctl {

namespace {

volatile sig_atomic_t ended;

void end(int)
{
    ended = 1;
}

void nothing(int) // the signal only wakes poll()
{
}

winsize window()
{
    winsize w = {};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) || !w.ws_row || !w.ws_col)
        w = {.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    return w;
}

// At most @columns of a line; colours have no width.
std::string cut(const std::string &line, size_t columns)
{
    std::string out;
    size_t width = 0;
    for (size_t i = 0; i < line.size(); i++) {
        if (line[i] == '\033') {
            size_t last = std::min(line.find('m', i), line.size() - 1);
            out += line.substr(i, last + 1 - i);
            i = last;
        } else if (width++ < columns) {
            out += line[i];
        }
    }
    return out;
}

} // namespace

terminal::terminal()
{
    struct sigaction sa = {};
    sa.sa_handler = end;
    for (int sig : {SIGINT, SIGTERM, SIGHUP})
        sigaction(sig, &sa, nullptr);
    sa.sa_handler = nothing;
    sigaction(SIGWINCH, &sa, nullptr);
    screen_ = isatty(STDOUT_FILENO);
    keys_ = screen_ && tcgetattr(STDIN_FILENO, &before_) == 0;
    if (keys_) {
        termios raw = before_;
        raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    if (screen_)
        fmt::print("\033[?1049h\033[?25l"); // alternate screen, no cursor
}

terminal::~terminal()
{
    if (screen_)
        fmt::print("\033[?25h\033[?1049l");
    std::fflush(stdout);
    if (keys_)
        tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

size_t terminal::rows() const
{
    return window().ws_row;
}

void terminal::show(const std::string &screen, const std::string &footer) const
{
    if (!screen_) {
        fmt::print("{}\n", screen);
        std::fflush(stdout);
        return;
    }
    winsize w = window();
    std::istringstream lines(screen);
    std::string line, out = "\033[H";
    for (unsigned row = 1; row < w.ws_row && std::getline(lines, line); row++)
        out += cut(line, w.ws_col) + "\033[K\r\n";
    out += fmt::format("\033[J\033[{};1H{}\033[K", w.ws_row, cut(footer, w.ws_col));
    fmt::print("{}", out);
    std::fflush(stdout);
}

char terminal::wait(std::chrono::milliseconds limit) const
{
    pollfd p{STDIN_FILENO, POLLIN, 0};
    int n = poll(&p, keys_ ? 1 : 0, static_cast<int>(limit.count()));
    char key = 0;
    if (ended)
        return 'q';
    if (n > 0 && read(STDIN_FILENO, &key, 1) != 1)
        return 'q'; // the terminal is gone
    return n > 0 ? key : 0;
}

} // namespace mrcctl
