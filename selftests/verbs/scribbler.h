/* SPDX-License-Identifier: GPL-2.0 */
/* scribbler.h - a thread that writes random words into all that is mapped of RDMA devices. */
#ifndef SCRIBBLER_H
#define SCRIBBLER_H

#include <stdint.h>

/* What this process has mapped so far is no longer mapped: a child lets go of its parent's. */
void scribbler_let_go(void);
/*
 * It never ends; the program may die of what it reads then. A fault of any other thread ends the program with
 * status 0: that is how it hurts itself.
 */
void scribbler_begin(uint64_t seed);

#endif
