// SPDX-License-Identifier: GPL-2.0
// require.h - what must hold for any input: else the fuzzer stops and keeps it.
#pragma once

#include <cstdio>
#include <cstdlib>

#define REQUIRE(cond)                                                                              \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #cond);         \
            std::abort();                                                                          \
        }                                                                                          \
    } while (0)
