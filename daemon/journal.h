// SPDX-License-Identifier: GPL-2.0
// journal.h - entries with fields for systemd's journal, by its native protocol, one datagram each.
//
// No library is needed. Without a journal the entries are dropped.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mrcd {

using JournalFields = std::vector<std::pair<std::string, std::string>>;

// "NAME=value" lines. A value with a line break is preceded by its length.
std::string journal_entry(const JournalFields &fields);

class Journal {
public:
    explicit Journal(const char *path = "/run/systemd/journal/socket");
    ~Journal();
    Journal(const Journal &) = delete;
    Journal &operator=(const Journal &) = delete;

    // False: there is no journal, or it accepts nothing now. Never blocks.
    bool send(const JournalFields &fields) const;

private:
    std::string path_;
    int fd_ = -1;
};

}   // namespace mrcd
