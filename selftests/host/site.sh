#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: full
# timeout: 600
#
# The handbook as a site: "make docs", its links, and five pages in Chromium on a desk and on a phone. Pictures go to
# MRC_PICTURES, if that is set.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=selftests/lib/lib.sh
. "$here/../lib/lib.sh"
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$here/../lib

ksft_plan
need_cmd mkdocs mandoc python3
tmp=$(mktemp -d)
at_exit rm -rf "$tmp"
html=$MRC_TOP/build/site/html
check() { python3 "$here/../site/check.py" "$@"; }
# A site with a link to nowhere, a missing heading and a picture from elsewhere.
faulty() {
	mkdir -p "$tmp/faulty"
	echo '<a href="gone/">x</a> <a href="#gone">x</a> <img src="https://example.org/x.png">' >"$tmp/faulty/index.html"
	! check links "$tmp/faulty" >"$tmp/faults" && cat "$tmp/faults" && [ "$(grep -c '^index.html' "$tmp/faults")" -eq 3 ]
}

ksft_test "make docs" env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -C "$MRC_TOP" docs
ksft_test "a dead link, a missing heading and a foreign picture are found" faulty
ksft_test "each link leads somewhere, and nothing is loaded from elsewhere" check links "$html"
if command -v chromium >/dev/null; then
	mkdir -p "${MRC_PICTURES:-$tmp}"
	ksft_test "pages fit a desk and a phone, and the search finds" check browse "$html" "${MRC_PICTURES:-$tmp}"
else
	ksft_skip "pages in a browser" "no chromium"
fi
ksft_finish
