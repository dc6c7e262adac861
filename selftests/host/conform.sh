#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# mrc-conform: each of its rules is broken by some capture, and that is caught; golden captures break none.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"
golden=$here/../conformance/golden
kit=$MRC_TOP/tools/conform/mrc-conform

# judged FILE [OPTION]...: nothing is broken, and nothing disputed.
judged() {
	local file=$1
	shift
	"$kit" --planes 2 "$@" "$golden/$file" | tee /dev/stderr | grep -q " 0 BROKEN, 0 disputed"
}

ksft_plan
ksft_test "types" judged types.pcap
ksft_test "types-srh" judged types-srh.pcap
ksft_test "types-ipv6" judged types-ipv6.pcap
ksft_test "types-ipv4" judged types-ipv4.pcap
ksft_test "mrc-h" judged mrc-h.pcap --plain
for story in holes wrapped window probed endpoints immediates refused silence failed; do
	ksft_test "mrc-h-$story" judged mrc-h-$story.pcap --plain
done
ksft_test "trimmed" judged trimmed.pcap
ksft_test "no-receive" judged no-receive.pcap
ksft_test "port-down" judged port-down.pcap
ksft_test "plane-dies" judged plane-dies.pcap
ksft_test "self-probes" judged self-probes.pcap
ksft_relay < <(/usr/bin/python3 -I "$here/../conformance/mutate_rules.py" "${MRC_SEED:-1}")
ksft_finish
