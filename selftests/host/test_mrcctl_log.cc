// SPDX-License-Identifier: GPL-2.0
// test_mrcctl_log.cc - moments as people write them, and names of what the module remembers.
#include <cstdlib>
#include <ctime>

#include <linux/mrc.h>

#include "../../tools/lib/words/log_words.h"
#include "../../tools/mrcctl/since.h"
#include "../../tools/mrcctl/values.h"
#include "../../tools/mrcctl/words.h"
#include "test_mrcctl.h"

using namespace mrcctl;
using words::log_cause_name;
using words::log_kind_name;

namespace {

constexpr uint64_t s = 1000000000;
constexpr uint64_t noon = 1795953600 * s; // 2026-11-29T12:00:00Z

std::string since(const char *word)
{
    try {
        return format_moment(parse_since(word, noon), false);
    } catch (const bad_value &bad) {
        return bad.what();
    }
}

void zone(const char *name)
{
    setenv("TZ", name, 1);
    tzset();
}

void test_since()
{
    zone("UTC");
    equal("ten minutes ago", since("10m"), "2026-11-29T11:50:00.000000Z");
    equal("half a second ago", since("500ms"), "2026-11-29T11:59:59.500000Z");
    equal("two days ago", since("2d"), "2026-11-27T12:00:00.000000Z");
    equal("a time of today", since("09:03"), "2026-11-29T09:03:00.000000Z");
    equal("with seconds", since("9:03:11"), "2026-11-29T09:03:11.000000Z");
    equal("one that is not over is yesterday's", since("12:03"), "2026-11-28T12:03:00.000000Z");
    equal("a day", since("2026-11-28"), "2026-11-28T00:00:00.000000Z");
    equal("ISO", since("2026-11-28T23:59:01"), "2026-11-28T23:59:01.000000Z");
    equal("without seconds", since("2026-11-28T23:59"), "2026-11-28T23:59:00.000000Z");
    zone("EST5");
    equal("of a day in local time", since("06:30"), "2026-11-29T11:30:00.000000Z");
    equal("ISO in local time", since("2026-11-28T10:00"), "2026-11-28T15:00:00.000000Z");
    equal("ISO in UTC", since("2026-11-28T10:00Z"), "2026-11-28T10:00:00.000000Z");
    equal("shown in local time", format_moment(noon + 5000, true), "2026-11-29T07:00:00.000005-0500");
    zone("UTC");
    for (const char *word : {"", "10", "m", "-10m", "10y", "24:00", "12:60", "12:3 ", " 12:03", "2026-13-01", "2026-02-30",
                             "2026-11-29T", "2026-11-29T12", "+9:03", "12:-3", "soon", "9999999999s", "12:03Z"})
        check(fmt::format("\"{}\" is not a time", word), since(word).find("is not a time") != std::string::npos, since(word));
}

void test_log_names()
{
    equal("the first kind", std::string(log_kind_name(MRC_LOG_PLANE_DOWN)), "plane-down");
    equal("the last kind", std::string(log_kind_name(MRC_LOG_PROBES_RESUMED)), "probes-resumed");
    equal("a kind of a newer module", std::string(log_kind_name(MRC_LOG_PROBES_RESUMED + 1)), "unknown");
    equal("a cause of planes", std::string(log_cause_name(MRC_WHY_NO_CARRIER)), "no-carrier");
    equal("a cause of EVs", std::string(log_cause_name(MRC_WHY_FLOOR)), "floor");
    equal("the first hint", std::string(log_cause_name(MRC_WHY_ICRC)), "icrc");
    equal("the last", std::string(log_cause_name(MRC_WHY_AVOIDED)), "avoided");
    equal("a cause of a newer module", std::string(log_cause_name(MRC_WHY_AVOIDED + 1)), "unknown");
    auto all = all_words();
    for (unsigned i = 0; i <= MRC_WHY_AVOIDED; i++) {
        bool found = false;
        for (auto &w : all)
            found |= w.name == log_cause_name(i);
        check(fmt::format("{} is explained", log_cause_name(i)), found);
    }
}

} // namespace

void test_log()
{
    test_since();
    test_log_names();
}
