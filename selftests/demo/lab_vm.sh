#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# lab_vm.sh - the lab, inside the virtual machine; see shell.sh.
#
#	lab_vm.sh		an interactive shell on this terminal
#	lab_vm.sh FILE		runs the commands of FILE, and prints each before its output

here=$(dirname "$(readlink -f "$0")")
export MRC_LAB_TOP=${here%/selftests/demo}

echo "The machine is up. Loading the module ..."
if [ $# -eq 0 ]; then
	exec bash --rcfile "$here/lab.rc" -i
fi

# shellcheck source=selftests/demo/lab.sh
. "$here/lab.sh"
set +eu
lab__module || exit

# complete TEXT: whether bash would take that as whole commands, or wait for more lines.
complete() { ! bash -n <<<"$1" 2>&1 | grep -qE 'unexpected (EOF|end of file)|delimited by end-of-file'; }

# run TEXT: as a person would see it.
run() {
	printf 'lab# %s\n' "$1"
	eval "$1"
	[[ $1 != *\& ]] || echo "[1] $!"
}

cd /root || exit
[ "${MRC_LAB:-}" = none ] || lab "${MRC_LAB:-fabric}"
text=
while IFS= read -r line <&9 || [ -n "$line" ]; do
	text+=${text:+$'\n'}$line
	complete "$text" || continue
	run "$text"
	text=
done 9<"$1"
lab__end
exit 0
