// SPDX-License-Identifier: GPL-2.0
// device.h - mrcsim's foreign peer as a device that a conformance kit may play with: tools/conform/README.md.
//
// One connection at a time. What a program does beside the foreign receiver is here: memory and its bounds, receives.
#pragma once

#include "../foreign/receiver.h"
#include "../foreign/sender.h"
#include "frame.h"

#include <deque>
#include <memory>

namespace sim::stranger {

struct sent_frame {
    u64 ns;
    bytes raw;
};

class device {
public:
    device(const host &own, const host &peer, const tunnel &way, const foreign_habits &habits)
        : own_(own), peer_(peer), way_(way), habits_(habits)
    {
    }

    void take(const bytes &frame, u64 now_ns);
    // Timers that are due by then. False: nothing leaves by then.
    bool run(u64 until_ns, sent_frame *out);
    // "ok ..." or "no ...".
    std::string ask(const std::string &line);

private:
    struct connection {
        connection(const foreign_habits &h, u32 kit_qpn, u32 rq_psn, u32 sq_psn, u32 mtu);

        foreign_receiver rx;
        foreign_sender tx;
        u32 kit_qpn;
        std::vector<u8> region;
        std::vector<u32> from; // of each WRITE: where in the source
        std::vector<u32> received;
        u32 sent = 0, receives = 0;
        bool failed = false, refused = false;
    };

    std::string open_connection(const std::string &line);
    std::string write(const std::string &line);
    std::string state();
    void take_data(const foreign_packet &f, const u8 *payload, u64 now_ns);
    void refuse(const foreign_packet &f, u8 syndrome);
    void endpoint(const bytes &body, u32 ev);
    void talk();
    void emit(foreign_packet p, u32 from);
    void push(const envelope &e, const bytes &body);

    host own_, peer_;
    tunnel way_;
    foreign_habits habits_;
    std::unique_ptr<connection> c_;
    std::deque<sent_frame> out_;
    u64 now_ns_ = 0;
    u32 qpn_ = 0x200;
};

} // namespace sim::stranger
