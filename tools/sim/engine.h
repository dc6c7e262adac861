// SPDX-License-Identifier: GPL-2.0
// engine.h - the engine's C headers for C++ files of the simulator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// struct mrc_conn_info and the function of that name live together in C.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" {
#include "conn/mrc_conn.h"
#include "peer/mrc_port.h"
#include "peer/mrc_damp.h"
#include "peer/mrc_incast.h"
}
#pragma GCC diagnostic pop
