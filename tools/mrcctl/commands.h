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
    int status = 0; // to exit with where nothing was refused
};

// @dev, where it is given. Throws bad_value for what is no name of a network device.
void put_dev(mrcnl::request &rq, const arguments &args);
// Connects first: words are judged before the kernel is asked, and only then is it needed.
mrcnl::error call(context &ctx, mrcnl::request &rq);

// Throws bad_value for words that make no sense; returns what the kernel said.
mrcnl::error run(const command &c, context &ctx);

} // namespace mrcctl
