#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# timeout: 300
#
# One version: of the changelog, the module, the daemon, mrcctl and the packages.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/lib/lib.sh
. "$here/../lib/lib.sh"

ksft_plan ""
cd "$MRC_TOP"
version=$(sed -n 's/^MRC_VERSION := //p' kernel/version.mk)
ksft_test "it is three numbers" grep -qxE '[0-9]+\.[0-9]+\.[0-9]+' <<<"$version"
ksft_equal "the changelog begins with it" "$version" \
	"$(sed -nE 's/^## ([0-9.]+).*/\1/p' CHANGELOG.md | head -n 1)"

for program in daemon tools/mrcctl; do
	make -s -C $program >/dev/null
done
ksft_equal "mrcd says it" "mrcd $version" "$(build/daemon/mrcd -V)"
ksft_equal "mrcctl says it" "mrcctl $version, netlink family mrc version 1" "$(build/tools/mrcctl -V | head -n 1)"
for ko in build/6.*/mrc.ko build/7.*/mrc.ko; do
	[ ! -e "$ko" ] || ksft_equal "the module for $(basename "${ko%/*}") says it" "$version" "$(/sbin/modinfo -F version "$ko")"
done
ksft_finish
