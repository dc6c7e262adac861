#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# size.sh KERNEL - what the number of hosts costs: mrcd for one node of 131,072 hosts x 8 planes,
# the walk along sampled EVs, and in a virtual machine 4,096 profiles and 4,096 peers: time of
# requests (all of it under RTNL, at most), memory.
set -euo pipefail
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=${here%/*/*}
file=$(mktemp)
trap 'rm -f "$file"' EXIT

cat >"$file" <<-'TOML'
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
TOML

# costs TEXT CMD...: processor time, memory.
costs() {
	python3 - "$@" <<-'PY'
		import resource, subprocess, sys
		subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		r = resource.getrusage(resource.RUSAGE_CHILDREN)
		print("%-48s %6.2f s %8.1f MiB" % (sys.argv[1], r.ru_utime + r.ru_stime, r.ru_maxrss / 1024))
	PY
}

for node in h512-256 p8-t0-512 p8-t1-256; do
	costs "mrcd, $node of 131,072 hosts x 8 planes" \
		"$top/build/daemon/mrcd" -c "$file" --name $node --dry-run
done
costs "mrcctl fabric check, sampled pairs" "$top/build/tools/mrcctl" fabric check "$file"
for test in manyprofiles templates; do
	MRC_N=4096 "$top/selftests/vm/runvm" -k "$1" -t 600 -- "$top/selftests/vm-tests/$test.sh" 2>/dev/null |
		grep -E '^# (.* ms|.* took|memory)' || echo "$test: did not end"
done
