// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// common.h - what most tests include, compiled once and put in front of each (no guard:
// nothing includes it). Each test still says what it needs.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
