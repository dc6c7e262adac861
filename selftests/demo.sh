#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# demo.sh - one RDMA transfer over four SRv6 planes, one of which dies meanwhile.
#
# "make demo" builds and runs this. One virtual machine, with a fabric of 18 network
# namespaces; the table is printed, chart and numbers are written to
#
#   out/demo.svg  out/demo.json  out/demo/ (samples, logs of every program, dmesg)
#
# Exit status 0 only if every byte arrived right, traffic left the dead plane and came
# back, and the kernel had nothing to complain about.
#
# MRC_DEMO_KERNEL=6.1|6.12   stock Debian kernel to boot (6.12)
# MRC_DEMO_SECONDS=N         length of the transfer (30); cut at one third, restored at two
# MRC_DEMO_SIZE=BYTES        of ib_write_bw's messages (65536)

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
top=${here%/*}
out=$top/out
results=$out/demo
kernel=${MRC_DEMO_KERNEL:-6.12}
export MRC_DEMO_SECONDS=${MRC_DEMO_SECONDS:-30}
LIMIT=$((1200 + MRC_DEMO_SECONDS))	# of the machine's life, from power-on; it ends when it is done

colour=()
if [ -t 1 ] && [ "${TERM:-dumb}" != dumb ] && [ -z "${NO_COLOR:-}" ]; then
	export MRC_DEMO_COLOUR=1
	colour=(--colour)
fi

cd "$top"
export PYTHONDONTWRITEBYTECODE=1
make -s -C selftests/verbs OUT="$top/build/verbs" "$top/build/verbs/mrc_verify"
rm -rf "$results" "$out/demo.svg" "$out/demo.json"
mkdir -p "$results"

echo
echo "  MRC for Linux: one RDMA transfer, four planes, and plane 2 dies meanwhile"
echo "  Booting Debian's Linux $kernel in a virtual machine ..."
echo
began=$SECONDS
vm=0
"$here/vm/runvm" -k "$kernel" -t $LIMIT -o "$results" -- "$here/demo/in_vm.sh" || vm=$?

rc=0
"$here/demo/report.py" "$results" "$out" --vm-status $vm "${colour[@]}" || rc=1
echo
[ ! -s "$out/demo.svg" ] || echo "  Chart: out/demo.svg   numbers: out/demo.json   logs: out/demo/"
if [ $vm -eq 0 ] && [ $rc -eq 0 ]; then
	echo "  All is well, after $((SECONDS - began)) s."
else
	echo "  Not all is well (status of the machine $vm): the logs are in out/demo/."
	exit 1
fi
