#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The documents: length of sentences, dates, links, the index, and pictures as their script makes them.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"
export PYTHONDONTWRITEBYTECODE=1

ksft_plan
ksft_test "the linter finds each kind of fault, and no other" python3 "$here/../text/test_lint.py"
ksft_test "lessons: true output is told from wrong" python3 "$here/../text/test_lesson.py"
ksft_test "the pictures are as their script makes them" python3 "$MRC_TOP/Documentation/pictures/draw.py" --check
ksft_test "the site's menu has each page" python3 "$here/../site/check.py" menu "$MRC_TOP"
clean() {	# PAGE...: mandoc finds nothing, not even of style
	! mandoc -T lint "$@" | grep .
}
if command -v mandoc >/dev/null; then
	ksft_test "mandoc finds nothing wrong with the manual pages" clean "$MRC_TOP"/Documentation/reference/man/*.[1-8]
else
	ksft_skip "manual pages" "no mandoc"
fi
ksft_relay < <(python3 "$here/../text/lint.py" "$MRC_TOP")
ksft_finish
