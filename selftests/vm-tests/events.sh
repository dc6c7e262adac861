#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# What a program is told beside its completions: verbs/mrc_events.c, both of its queue pairs
# on one host.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

ksft_plan
mrc_begin mrc_events
ksft_test "one plane" mrc_one_plane
mrc_ibdev h1
mrc_start events h1 mrc_events -d "$REPLY"
mrc_wait events 150 || true
ksft_test "all cases ran" grep -q '^1\.\.' "$MRC_DIR/events.out"
while read -r verdict _ name; do
	case $verdict in
	ok) ksft_pass "$name";;
	not) ksft_fail "${name#* }";;
	\#) ksft_comment "$name";;
	esac
done <"$MRC_DIR/events.out"
ksft_finish
