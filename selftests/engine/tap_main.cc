// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// tap_main.cc - main() of every engine test: GoogleTest results as TAP lines.
//
// Lines carry no numbers and there is no plan: run.sh adds both, because it
// joins many programs and must also report one that died half way.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace {

class tap_listener : public testing::EmptyTestEventListener {
    void OnTestPartResult(const testing::TestPartResult &r) override
    {
        if (r.passed())
            return;
        std::printf("# %s:%d: ", r.file_name() ? r.file_name() : "?", r.line_number());
        for (char c : std::string(r.message())) {
            std::putchar(c);
            if (c == '\n')
                std::fputs("# ", stdout);
        }
        std::putchar('\n');
    }

    void OnTestEnd(const testing::TestInfo &t) override
    {
        const testing::TestResult &r = *t.result();

        std::printf("%s - %s.%s%s\n", r.Failed() ? "not ok" : "ok", t.test_suite_name(),
                    t.name(), r.Skipped() ? " # SKIP" : "");
        std::fflush(stdout);
    }
};

} // namespace

int main(int argc, char **argv)
{
    testing::InitGoogleTest(&argc, argv);
    testing::TestEventListeners &l = testing::UnitTest::GetInstance()->listeners();
    delete l.Release(l.default_result_printer());
    l.Append(new tap_listener);
    return RUN_ALL_TESTS();
}
