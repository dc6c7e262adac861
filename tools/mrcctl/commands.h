// SPDX-License-Identifier: GPL-2.0
//
// commands.h - the functions behind the verbs. The printer makes text or JSON.
#pragma once

#include <functional>

#include "../lib/nl/genl.h"
#include "grammar.h"
#include "printer.h"

namespace mrcctl {

struct context {
    std::function<mrcnl::error()> connect; // opens nl
    mrcnl::genl_socket &nl;
    printer &out;
    print_options opt;
    int status = 0; // exit status if there is no error
};

// Adds the name of the device, if it is given. Throws bad_value if it cannot be the name of a
// network device.
void put_dev(mrcnl::request &rq, const arguments &args);
// Connects, then calls the kernel. Words are checked before, so that a bad command needs no kernel.
mrcnl::error call(context &ctx, mrcnl::request &rq);

// Throws bad_value for invalid words; returns the kernel's error.
mrcnl::error run(const command &c, context &ctx);

} // namespace mrcctl
