// SPDX-License-Identifier: GPL-2.0
// journal.cc - see journal.h.
#include "journal.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

namespace mrcd {

std::string journal_entry(const JournalFields &fields)
{
    std::string out;

    for (const auto &[name, value] : fields) {
        out += name;
        if (value.find('\n') == std::string::npos) {
            out += '=';
        } else {
            out += '\n';
            for (int i = 0; i < 8; i++)   // 64 bits, little-endian
                out += static_cast<char>(static_cast<std::uint64_t>(value.size()) >> (8 * i) & 0xff);
        }
        out += value + '\n';
    }
    return out;
}

Journal::Journal(const char *path)
    : path_(path), fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))
{
}

Journal::~Journal()
{
    if (fd_ >= 0)
        close(fd_);
}

bool Journal::send(const JournalFields &fields) const
{
    const auto entry = journal_entry(fields);
    sockaddr_un to{};

    if (fd_ < 0 || path_.size() >= sizeof(to.sun_path))
        return false;
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, path_.c_str(), path_.size() + 1);
    return sendto(fd_, entry.data(), entry.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr *>(&to),
                  sizeof(to)) == static_cast<ssize_t>(entry.size());
}

}   // namespace mrcd
