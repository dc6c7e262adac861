// SPDX-License-Identifier: GPL-2.0
// test_mrcctl.h - TAP lines of mrcctl's unit tests, which are in several files.
#pragma once

#include <string>

#include <fmt/format.h>

inline int failed, count;

inline void check(const std::string &name, bool ok, const std::string &why = "")
{
    fmt::print("{} {} {}\n", ok ? "ok" : "not ok", ++count, name);
    if (!ok) {
        failed++;
        fmt::print("# {}\n", why);
    }
}

inline void equal(const std::string &name, const std::string &got, const std::string &want)
{
    check(name, got == want, fmt::format("got \"{}\", want \"{}\"", got, want));
}

void test_module();
void test_doctor();
void test_words();
void test_status();
void test_log();
void test_names();
void test_report();
