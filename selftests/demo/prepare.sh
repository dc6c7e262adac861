# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# prepare.sh - what demonstration and lab need: packages, one kernel's module, plug-in, mrcd,
# mrcctl, the verifying program, the kernel of the virtual machine. Steps 1 to 5.

# shellcheck disable=SC2154	# "top" is the sourcing script's

# working NAME UNIT TOTAL COUNT... -- CMD...: runs CMD, whose output goes to the log, and tells
# meanwhile what COUNT prints, of TOTAL at most: in place on a terminal, else each half minute.
working() {
	local name=$1 unit=$2 total=$3 count=() pid waited=0 rc=0
	shift 3
	while [ "$1" != -- ]; do
		count+=("$1")
		shift
	done
	shift
	"$@" >>"$prepare_log" 2>&1 </dev/null &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		sleep 1
		waited=$((waited + 1))
		if [ -t 1 ]; then
			printf '\r%s' "$(still "$name" "$("${count[@]}") of $total $unit at most ")"
		elif [ $((waited % 30)) -eq 0 ]; then
			still "$name" "$("${count[@]}") of $total $unit at most"
		fi
	done
	[ ! -t 1 ] || printf '\r\033[K'
	wait $pid || rc=$?
	[ $rc -eq 0 ] || prepare_failed "$name"
}

prepare_failed() {
	echo "  $1 failed; the end of ${prepare_log#"$top"/}:" >&2
	tail -n 15 "$prepare_log" | sed 's/^/     | /' >&2
	exit 1
}

# Made since the beginning.
objects() { find "$@" -name '*.o' -newer "$prepare_began" 2>/dev/null | wc -l; }

prepare_packages() {
	local want
	want=$("$top/selftests/vm/deps.sh" -n -d) && { step 1 packages "all that is needed is installed"; return; }
	still packages "$(wc -l <<<"$want") are missing; with what they need:"
	"$top/selftests/vm/deps.sh" -d 2>>"$prepare_log" | sed -u "s/^deps: /$(printf '%27s' '')/" ||
		prepare_failed packages
	step 1 packages "installed"
}

# Linked or compiled: a source file is one object, and so is each part of the module.
prepare_build() {
	local kernel=$1 build=$top/build jobs
	jobs=$(nproc)
	working module files "$(find "$top/kernel" -name '*.c' | wc -l)" objects "$build/$kernel/kernel" -- \
		make -C "$top" -j"$jobs" KVERS="$kernel" "$build/$kernel/mrc.ko"
	step 2 module "mrc.ko for Debian's Linux $kernel"
	working tools files 105 objects "$build/tools" "$build/daemon" "$build/lib" -- \
		make -C "$top" -j"$jobs" tools/lib/ibverbs daemon tools/mrcctl
	step 3 tools "mrcd, mrcctl, plug-in of libibverbs"
	working verifier files 3 objects "$build/verbs" -- \
		make -C "$top/selftests/verbs" OUT="$build/verbs" "$build/verbs/mrc_verify"
	step 4 verifier "a program that checks every byte"
}

# prepare KERNEL LOG
prepare() {
	prepare_log=$2
	mkdir -p "$(dirname "$prepare_log")"
	prepare_began=$prepare_log.began
	: >"$prepare_log"
	: >"$prepare_began"
	prepare_packages
	prepare_build "$1"
	"$top/selftests/vm/kernels.sh" "$1" >>"$prepare_log" 2>&1 || prepare_failed kernel
	step 5 kernel "Debian's Linux $1, for the virtual machine only"
}
