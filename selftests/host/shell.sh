#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every shell script of the tree is clean for shellcheck and names its licence.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"

scripts() {
	git -C "$MRC_TOP" ls-files -co --exclude-standard | sort | while read -r file; do
		case $file in
		*.sh) echo "$file";;
		*) [ ! -x "$MRC_TOP/$file" ] || ! head -n 1 "$MRC_TOP/$file" | grep -qE '^#!/bin/(ba)?sh' || echo "$file";;
		esac
	done
}

ksft_plan
need_cmd shellcheck git
cd "$MRC_TOP"
for file in $(scripts); do
	# Followed sources are checked by themselves; infos are matters of taste.
	ksft_test "shellcheck $file" shellcheck -S warning "$file"
	ksft_test "licence of $file" grep -q '^# SPDX-License-Identifier:' "$file"
done
ksft_finish
