#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# shell.sh - a fabric in a virtual machine, and a prompt in it. "make shell" runs this.
#
#	shell.sh		the prompt
#	shell.sh <FILE		without a terminal: runs the commands of FILE, then ends
#
# MRC_LAB=cable|planes|fabric|none   the network at the beginning (fabric)
# MRC_LAB_KERNEL=6.1|6.12            Debian kernel to boot (6.1)

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
top=${here%/selftests/demo}
out=$top/out/shell
kernel=${MRC_LAB_KERNEL:-6.1}
LIMIT=36000	# seconds of the machine's life

# shellcheck disable=SC2034	# for steps.sh
STEPS=5
# shellcheck source=selftests/demo/steps.sh
. "$here/steps.sh"
# shellcheck source=selftests/demo/prepare.sh
. "$here/prepare.sh"

export MRC_LAB=${MRC_LAB:-fabric}
cd "$top"
mkdir -p "$out"
exec 8>"$out/.lock"
flock -n 8 || { echo "shell: another one runs in $out" >&2; exit 1; }
[ -t 0 ] || cat >"$out/commands"
prepare "$kernel" "$out/build.log" >&2
if [ -t 0 ]; then
	echo "  Booting Debian's Linux $kernel; without KVM the fabric takes a few minutes. exit leaves it."
	exec "$top/selftests/vm/runvm" -i -k "$kernel" -t $LIMIT -o "$out" -- "$here/lab_vm.sh"
fi
exec "$top/selftests/vm/runvm" -k "$kernel" -t $LIMIT -o "$out" -- "$here/lab_vm.sh" "$out/commands"
