#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# kernels: new arm64
#
# rdma-core's own tests, which Debian has in python3-pyverbs, on a device with an IPv6 GID. What may
# be skipped, and why, is in verbs/pyverbs.skips: one more skip, or one that runs now, fails.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

tests=/usr/share/doc/rdma-core/tests
preload=$MRC_TOP/build/verbs/pyverbs_dmabuf.so
ksft_plan
[ -d $tests ] || ksft_skip_all "no tests of python3-pyverbs here"
mrc_begin python3
modprobe rdma_ucm || ksft_skip_all "needs rdma_ucm"
echo 8 >/proc/sys/vm/nr_hugepages
ksft_test "one plane" mrc_one_plane
skips=$MRC_DIR/pyverbs.skips known=126
cp "${PYVERBS_SKIPS:-$here/../verbs/pyverbs.skips}" "$skips"
if ! grep -qE '^Hugepagesize: +2048 kB' /proc/meminfo; then
	echo "test_parent_domain.*huge_page*: with pages of 16 KiB huge ones are not of 2 MiB" >>"$skips"
	known=125
fi
mrc_gid_index h1 v6
mrc_start pyverbs h1 env PYVERBS_ONLY="${PYVERBS_ONLY:-}" LD_PRELOAD="$preload" python3 "$here/../verbs/mrc_pyverbs.py" $tests \
	"$skips" --dev "${MRC_IBDEV[h1]}" --port 1 --gid "$REPLY"
mrc_wait pyverbs 1800 || true
out=$MRC_DIR/pyverbs.out
[ -z "${VMOUT:-}" ] || cp "$out" "$VMOUT/"
while read -r verdict rest; do
	rest=${rest#ok }
	case $verdict in
	ok) [[ $rest = *"# SKIP"* ]] || ksft_pass "${rest#* }";;
	not) ksft_fail "${rest#* }" "$(grep -F -A 12 "$rest" "$out" | sed -n '/^#/p' | tail -n 4)";;
	esac
done < <(grep -E '^(not )?ok ' "$out")
totals=$(grep '^# Totals' "$out" || true)
ksft_comment "${totals:-no totals: $(tail -n 3 "$out")}"
ksft_test "all ran, and the list of skips is of today" grep -q ' 0 bad, 0 patterns unused' <<<"$totals"
# rxe: 86 on 6.1. Of the others the list of skips tells.
ksft_test "as many as we know of passed" [ "$(sed -E 's/^# Totals: ([0-9]+) ok.*/\1/' <<<"$totals")" -ge $known ]
ksft_finish
