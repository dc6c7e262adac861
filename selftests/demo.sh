#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# demo.sh - one RDMA transfer over four SRv6 planes, one of which dies meanwhile.
#
# "make demo" runs this. It installs and builds what the demonstration needs and no more, boots
# one virtual machine with a fabric of 18 network namespaces, and prints the table; chart and
# numbers are written to
#
#   out/demo.svg  out/demo.json  out/demo/ (samples, logs of every program, dmesg)
#
# Exit status 0 only if every byte arrived right, traffic left the dead plane and came
# back, and the kernel had nothing to complain about.
#
# MRC_DEMO_KERNEL=6.1|6.12   stock Debian kernel to boot (6.1)
# MRC_DEMO_SECONDS=N         length of the transfer (30); cut at one third, restored at two
# MRC_DEMO_LOAD=N            messages of 16 KiB a second that each host offers (100)

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
top=${here%/*}
out=$top/out
results=$out/demo
kernel=${MRC_DEMO_KERNEL:-6.1}
export MRC_DEMO_SECONDS=${MRC_DEMO_SECONDS:-30}
LIMIT=$((1200 + MRC_DEMO_SECONDS))	# of the machine's life, from power-on; it ends when it is done
log=$results/build.log

# shellcheck source=selftests/demo/steps.sh
. "$here/demo/steps.sh"
# shellcheck source=selftests/demo/prepare.sh
. "$here/demo/prepare.sh"

colour=()
[ -z "${MRC_DEMO_COLOUR:-}" ] || colour=(--colour)

finish() {
	local rc=0
	"$here/demo/report.py" "$results" "$out" --vm-status "$1" "${colour[@]}" || rc=1
	echo
	[ ! -s "$out/demo.svg" ] || echo "  Chart: out/demo.svg   numbers: out/demo.json   logs: out/demo/"
	if [ "$1" -ne 0 ] || [ $rc -ne 0 ]; then
		echo "  Not all is well (status of the machine $1): the logs are in out/demo/."
		return 1
	fi
	cat <<-TEXT
	  All is well, after $(elapsed) minutes. What next:

	    make shell                                 the same fabric, and a prompt: break it yourself
	    less Documentation/tutorial/README.md      four lessons of ten minutes
	    less Documentation/concepts.md             how it works, in two pages
	TEXT
}

main() {
	local vm=0
	cd "$top"
	export PYTHONDONTWRITEBYTECODE=1
	rm -rf "$results" "$out/demo.svg" "$out/demo.json"
	mkdir -p "$results"

	echo
	echo "  MRC for Linux: one RDMA transfer, four planes, and plane 2 dies meanwhile"
	echo "  Packages if any are missing, a build, a virtual machine: 3 to 20 minutes on two processors."
	echo
	prepare "$kernel" "$log"
	still boot "Debian's Linux $kernel in a virtual machine; without KVM the rest is emulated, and slow"
	"$here/vm/runvm" -k "$kernel" -t $LIMIT -o "$results" -- "$here/demo/in_vm.sh" || vm=$?
	step 12 verdict "of what was counted:"
	finish $vm
}

main
