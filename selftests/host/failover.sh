#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The real module in virtual time (bench/failover): the same packets twice, and no time is
# wasted when a port comes back. Without the kernel for it, which takes minutes to
# build and which "make bench-failover" builds, this is skipped.
#
# timeout: 600

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"
export MRC_UML=plain MRC_SEED=1 PYTHONDONTWRITEBYTECODE=1
bench=$MRC_TOP/selftests/bench/failover
out=$MRC_TOP/out/check/failover

# At 40 us, 8 EVs, a fixed window.
failure() {	# CASE PHASES
	rm -rf "${out:?}/$1"
	mkdir -p "$out/$1"
	"$MRC_TOP/selftests/vm/runuml" -d -n -t 900 -m 1000 -o "$out/$1" -- \
		"$bench/guest.sh" 40 10000 8 fixed 245760 "$1" "$2" || return
	python3 "$bench/table.py" measure "$out/$1" 40 8 "$1"
}

# most CASE KEY MAX: in microseconds, in every phase; "never" is more.
most() {
	python3 "$bench/table.py" most "$out/$1" "$2" "$3"
}

again() {
	rm -rf "$out/first"
	mv "$out/black-hole" "$out/first"
	failure black-hole 1 && python3 "$bench/table.py" same "$out/first" "$out/black-hole"
}

ksft_plan
need_root
need_cmd setarch gcc python3
"$MRC_TOP/selftests/vm/uml-build.sh" --kdir >/dev/null ||
	ksft_skip_all "no User-Mode Linux kernel: make bench-failover"
ksft_test "the module for it" "$MRC_TOP/selftests/vm/uml-build.sh" module
ksft_test "a plane dies silently" failure black-hole 1
ksft_test "messages go on within 1 ms" most black-hole gap 1000
ksft_test "the same packets again" again
# One announcement in four would have gone by the port that is not ready yet.
ksft_test "the peer's port, with six seeds" failure peer-port 6
ksft_test "the first word of its return is heard" most peer-port first 150
ksft_finish
