// SPDX-License-Identifier: GPL-2.0
// event_file.h - a log file with rotation: FILE, then FILE.1 ... FILE.4, the oldest last.
#pragma once

#include <cstddef>
#include <string>

namespace mrcd {

class EventFile {
public:
    static constexpr std::size_t kMost = 16 << 20;   // bytes per file
    static constexpr int kOld = 4;                   // rotated files that are kept

    explicit EventFile(std::string path, std::size_t most = kMost) : path_(std::move(path)), most_(most) {}
    ~EventFile();
    EventFile(const EventFile &) = delete;
    EventFile &operator=(const EventFile &) = delete;

    // 0, or an errno. The next call opens the file again, because it may have been moved away.
    int append(const std::string &line);

private:
    int open_file();
    void close_file();
    void rotate();

    std::string path_;
    std::size_t most_, size_ = 0;
    int fd_ = -1;
};

}   // namespace mrcd
