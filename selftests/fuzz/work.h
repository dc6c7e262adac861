// SPDX-License-Identifier: GPL-2.0
// work.h - how much one call of the engine may do, in basic blocks: counted by the
// compiler's edge callback, which the Makefile asks for in the engine's objects only.
// Unlike time it is the same on every machine, so "bounded" can be tested.
#pragma once

#include <cstdint>

extern uint64_t work_left; // the engine stops the program when it gets to 0
