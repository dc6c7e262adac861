#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# timeout: 600
#
# Configurations for switches by "mrcctl fabric export", against the rules of the systems that take them.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"

ksft_plan ""
make -s -C "$MRC_TOP/tools/mrcctl" >/dev/null
while IFS= read -r line; do
	case $line in
	"ok - "*)	ksft_pass "${line#ok - }" ;;
	"not ok - "*)	ksft_fail "${line#not ok - }" ;;
	*)		echo "# ${line#\# }" ;;
	esac
done < <("$here/../switches/test_switches.py" "$MRC_TOP/build/tools/mrcctl" 2>&1 || echo "not ok - status $?")
ksft_finish
