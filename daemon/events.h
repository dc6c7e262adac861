// SPDX-License-Identifier: GPL-2.0
// events.h - forwards records of the module's log (mrcctl log) to the journal, with fields, and to
// a file of JSON lines.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "../tools/lib/nl/attr.h"
#include "event_file.h"
#include "journal.h"
#include "log.h"

namespace mrcd {

struct Event {
    std::string dev, kind, cause, peer;   // peer "": no peer, or many
    std::uint64_t id = 0, boot_ns = 0, last_ns = 0, real_ns = 0, count = 0;
    unsigned plane = 0;                   // from 1; 0: none
    bool has_ev = false;
    std::uint32_t ev = 0, entropy = 0;
};

// Parses a message of the group "log".
Event parse_event(const mrcnl::table &t);
// "mrc0: plane-down: plane 2: no-carrier"
std::string event_text(const Event &e);
JournalFields event_fields(const Event &e);
// The JSON of `mrcctl -j log`.
std::string event_json(const Event &e);

class Events {
public:
    // @path "": no file.
    Events(const std::string &path, const Log &log);

    void take(const mrcnl::table &t);
    // Writes a line about something else.
    void write(const JournalFields &fields, const std::string &json);
    // Netlink dropped records: reports the gap.
    void lost();

private:
    const Log &log_;
    Journal journal_;
    std::string path_;
    std::unique_ptr<EventFile> file_;
    int failed_ = 0;   // errno that was reported last
};

}   // namespace mrcd
