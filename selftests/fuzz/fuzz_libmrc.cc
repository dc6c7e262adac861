// SPDX-License-Identifier: GPL-2.0
// fuzz_libmrc.cc - the bytes are a program on mrc.h and mrc_ctl.h, and what the kernel makes of it:
// calls of both halves in any order, with handles that are NULL, foreign or of another kind, masks and values at
// random, and a kernel that refuses, changes meanwhile and answers nonsense. libmrc/ has the rest.
#include <unistd.h>

#include "libmrc/app.h"

extern "C" int LLVMFuzzerInitialize(int *, char ***)
{
    setenv("MRC_DEBUG", "1", 1); // what it would say is made, and nobody hears it
    return 0;
}

// CAP_NET_ADMIN or not: capget(2), of controller.cc.
extern "C" long fuzz_syscall(long, void *, uint32_t *caps)
{
    caps[0] = the_world->admin ? ~0u : 0;
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    bytes in(data, size);
    world w(in);
    program p(w);

    // Most of what there is needs one.
    if (auto *ctx = mrc_create_context(&w.ctx[0], nullptr))
        p.contexts.push_back(ctx);
    for (int calls = 0; in.more() && calls < 60; calls++)
        p.act();
    p.end();
    return 0;
}
