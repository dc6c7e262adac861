#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Our small kselftest_harness.h and the kernel's agree about what passes: the same tests, compiled
# with each, have the same verdicts. And no two of our programs have one name: they lie in one folder
# (build/verbs), where the one built last would be both.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"

ours=$here/../lib/harness
theirs=${MRC_CACHE:-$HOME/.cache/mrc}/uml/source/tools/testing/selftests
work=$(mktemp -d)
at_exit rm -rf "$work"

cat >"$work/sample.c" <<'CODE'
#include "kselftest_harness.h"
FIXTURE(box) { int x; };
FIXTURE_SETUP(box) { self->x = 3; }
FIXTURE_TEARDOWN(box) { printf("# torn down\n"); }
TEST(good) { EXPECT_EQ(1, 1); }
TEST(expect_goes_on) { EXPECT_EQ(1, 2) { TH_LOG("handler"); } printf("# went on\n"); }
TEST(assert_stops) { ASSERT_STREQ("a", "b"); printf("# wrong\n"); }
TEST_F(box, asserts) { ASSERT_EQ(4, self->x); printf("# wrong\n"); }
TEST_F(box, is_set_up) { ASSERT_LT(2, self->x); EXPECT_NE(4, self->x); }
TEST(skipped) { SKIP(return, "no reason"); }
TEST(crashes) { *(volatile int *)0 = 1; }
TEST_F_TIMEOUT(box, hangs, 1) { for (;;) pause(); }
TEST_HARNESS_MAIN
CODE

# verdicts DIR: "ok NAME" and "not ok NAME", sorted, and what the tests printed.
verdicts() {
	gcc -std=gnu11 -D_GNU_SOURCE -Wall -isystem "$1" -o "$work/sample" "$work/sample.c" || return
	"$work/sample" >"$work/tap" 2>&1 || echo "status $?"
	sed -nE 's/^((not )?ok) [0-9]+ ([a-z._]+)( # SKIP)?.*/\1 \3\4/p; /^# (went on|torn down|wrong|.*handler)$/s/.*[ :]([a-z]+)$/\1/p' \
		"$work/tap" | sort
}

expected='handler
not ok box.asserts
not ok box.hangs
not ok global.assert_stops
not ok global.crashes
not ok global.expect_goes_on
ok box.is_set_up
ok global.good
ok global.skipped # SKIP
on
down
down'

ksft_plan
need_cmd gcc
ksft_equal "our header" "$(sort <<<"status 1
$expected")" "$(verdicts "$ours" | sort)"
if [ -e "$theirs/kselftest_harness.h" ]; then
	ksft_equal "the kernel's" "$(sort <<<"status 1
$expected")" "$(verdicts "$theirs" | sort)"
else
	ksft_skip "the kernel's" "no kernel source: make check-debug fetches it"
fi
ksft_equal "each program has a name of its own" "" \
	"$(find "$here/.." -name 'mrc_*.c' -o -name 'mrc_*.cc' | sed -E 's|.*/||; s|\.cc?$||' | sort | uniq -d)"
ksft_finish
