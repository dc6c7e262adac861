#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mrcd and fabric files of any size: one node of 131,072 hosts x 8 planes within 200 MB, and
# nonsense is refused within them. Bounds are on memory; times are only told.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"

MRCD=${MRCD:-$here/../../build/daemon/mrcd}
MEMORY=200000	# KiB of address space
tmp=$(mktemp -d)
at_exit rm -rf "$tmp"

cat >"$tmp/whole.toml" <<'EOF'
[fabric]
block = "fcbb:bb00::/29"
prefix = "fd00:6d72:63::/64"
[planes]
count = 8
[profile]
id = 1
evs_per_plane = 2
[topology]
t0s = 512
t1s = 256
hosts_per_t0 = 256
ipv4 = "10.0.0.0/8"
[topology.missing]
nodes = ["h3-7", "p2-t1-9"]
EOF

bounded() {	# FILE NAME: mrcd with little memory, its output to $tmp/out
	(ulimit -v $MEMORY; exec "$MRCD" -c "$1" --name "$2" --dry-run) >"$tmp/out" 2>"$tmp/err"
}

node() {	# NAME WHAT IT MUST HAVE
	bounded "$tmp/whole.toml" "$1" && grep -q -- "$2" "$tmp/out"
}

refused() {	# FILE TEXT
	local rc=0
	bounded "$1" h1-1 || rc=$?
	head -c 300 "$tmp/err"
	[ $rc -eq 2 ] && grep -q -- "$2" "$tmp/err" && [ "$(wc -c <"$tmp/err")" -lt 1000 ]
}

# FILE BYTES TEXT: nonsense of that length.
nonsense() {
	yes "$3" | head -c "$2" >"$1" || true
}

ksft_plan ""
for name in h1-1 h512-256; do
	ksft_test "$name of 131,072 hosts in 200 MB" node $name "fd00:6d72:63::/64 fmt srv6 mode gen"
done
ksft_test "a T0 of theirs" node p8-t0-512 "there is no interface t1-256"
ksft_test "a T1 of theirs" node p1-t1-1 "there is no interface t0-512"
if [ -x /usr/bin/time ]; then
	/usr/bin/time -f '# h512-256: %e s, %M KiB' "$MRCD" -c "$tmp/whole.toml" --name h512-256 \
		--dry-run 2>&1 >/dev/null | tail -n 1
fi

truncate -s 200M "$tmp/hole"
ksft_test "200 MB of nothing" refused "$tmp/hole" "bytes are no fabric file"
nonsense "$tmp/long" 200000000 'a = ['
ksft_test "200 MB of nonsense" refused "$tmp/long" "bytes are no fabric file"
ksft_test "a directory" refused "$tmp" "it is a directory"
ksft_test "a device" refused /dev/zero "it is no regular file"
nonsense "$tmp/deep" 1000000 '[['
ksft_test "brackets without an end" refused "$tmp/deep" "$tmp/deep:1:"
nonsense "$tmp/key" 1000000 'k'
ksft_test "words without a meaning" refused "$tmp/key" "$tmp/key:1:"
tr '\n' 'k' <"$tmp/key" >"$tmp/word"
ksft_test "a very long word" refused "$tmp/word" "$tmp/word:1:"
for ((i = 0; i < 60000; i++)); do echo "k$i = $i"; done >"$tmp/keys"
ksft_test "keys without number" refused "$tmp/keys" "unknown key \"k0\" in the file.* and 59992 more"
head -c 1000000 /dev/urandom >"$tmp/random"
ksft_test "noise" refused "$tmp/random" "$tmp/random:"
ksft_finish
