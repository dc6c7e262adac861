# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# lanes.sh - tests that run beside each other: two lanes of this machine's, and one for each kernel.
#
# A lane runs its tests one after the other and prints events (report.sh). An emulated machine
# keeps less than one processor busy, so two of them and this machine's tests fill two. More machines
# than processors wait for each other (slots_open): their tests' limits are for as many. This machine's tests end
# last, and most of them keep one busy: so there are two lanes of them.

# runvm's status when QEMU ran code that the kernel had replaced (vm/console.sh).
EMULATOR_DIED=87

# What results are of: the commit, what differs from it, and what tests go by. Fails outside of git.
tree_now() {
	git rev-parse HEAD 2>/dev/null || return
	git status --porcelain
	git diff HEAD
	git ls-files -z -o --exclude-standard | xargs -0 -r sha256sum
	echo "MRC_FULL=${MRC_FULL:-} MRC_HOSTS=${MRC_HOSTS:-}"
}

# lane_begins FOLDER: for its results. It is empty, or a run goes on and it has those of the same tree.
lane_begins() {
	local now
	now=$(tree_now) || now=''
	[ -n "${continues:-}" ] && [ -n "$now" ] && [ "$now" = "$(cat "$1/tree" 2>/dev/null)" ] || rm -rf "$1"
	mkdir -p "$1"
	echo "$now" >"$1/tree"
}

# This machine's tests give way to the virtual ones: nothing there waits for them.
lane_host() {
	# shellcheck disable=SC2034  # of one.sh
	local test log gives_way=1
	renice -n 10 -p "$BASHPID" >/dev/null
	for test; do
		# shellcheck disable=SC2154  # of run.sh
		log=$out/host/$(basename "$test" .sh).tap
		[ -s "$log.status" ] || run_one "$test" "$log"
		echo "test host $test $log"
	done
}

# lane_vm KERNEL TEST...
lane_vm() {
	local kernel=$1 dir=$out/$1 boot test rc left
	shift
	# Leaks are looked for when it ends.
	[ "$kernel" != uml ] || [ -s "$dir/status" ] || rm -rf "$dir"
	lane_begins "$dir"
	had_ended "$kernel" "$dir" "$@"
	mapfile -t left < <(not_ended "$dir" "$@")
	# shellcheck disable=SC2154  # of run.sh
	# The one with checkers is made here, once.
	[ "$kernel" != uml ] || "$here/vm/uml-build.sh" || return
	rc=0
	for boot in 1 2 3; do
		[ ${#left[@]} -gt 0 ] || break
		machine "$kernel" "$dir" "${left[@]}" || rc=$?
		mapfile -t left < <(not_ended "$dir" "$@")
		[ $rc -eq $EMULATOR_DIED ] && [ $boot -lt 3 ] || break
		once_more "$kernel" "$dir" $boot "${left[@]}"
		rc=0
	done
	# The machine died or hung before these.
	for test in "${left[@]}"; do
		echo "test $kernel $test $dir/$(basename "$test" .sh).tap"
	done
	[ $rc -eq 0 ] || vm_failed "$kernel" "$dir" $rc
	judge_afterwards "$kernel" "$dir" "$@"
}

# slots_open N: no more machines than that at once. Each takes a byte of this pipe, and gives it back.
slots_open() {
	exec {slots}<> <(:)
	printf 'x%.0s' $(seq "$1") >&"$slots"
}

# machine KERNEL FOLDER TEST...: one boot, when its turn has come; its status is runvm's.
machine() {
	local rc=0
	[ -z "${slots:-}" ] || read -rN 1 -u "$slots" _
	boot "$@" || rc=$?
	[ -z "${slots:-}" ] || printf x >&"$slots"
	return $rc
}

# boot KERNEL FOLDER TEST...
boot() {
	local kernel=$1 dir=$2 limit=60 test word runner
	shift 2
	for test; do
		limit=$((limit + $(limit_of "$test") + 10))
	done
	# All of them beside each other take three hours; one that hangs must not hold up the rest all day.
	[ $limit -lt 18000 ] || limit=18000
	runner=("$here/vm/runvm" -k "$kernel")
	[ "$kernel" != uml ] || runner=("$here/vm/runuml")
	"${runner[@]}" -t "$limit" -o "$dir" -- "$here/run.sh" --guest "$@" 2>>"$dir/runvm.log" |
		while read -r word test; do
			[ "$word" = "done" ] || continue
			echo "$test" >>"$dir/ended"
			echo "test $kernel $test $dir/$(basename "$test" .sh).tap"
		done
	return "${PIPESTATUS[0]}"
}

# had_ended KERNEL FOLDER TEST...: in the run that goes on, its machine's failure too. Of one that was interrupted
# nobody has judged the console yet.
had_ended() {
	local kernel=$1 dir=$2 test
	shift 2
	touch "$dir/ended"
	for test; do
		! grep -qxF "$test" "$dir/ended" || echo "test $kernel $test $dir/$(basename "$test" .sh).tap"
	done
	if [ -s "$dir/failed" ]; then
		echo "failed $dir/failed"
	elif [ ! -s "$dir/status" ] && grep -qE "$SPLAT" "$dir/console" 2>/dev/null; then
		vm_failed "$kernel" "$dir" "interrupted, a splat on its console"
	fi
	[ ! -e "$dir/console" ] || mv "$dir/console" "$dir/console.before"
}

# not_ended FOLDER TEST...
not_ended() {
	local dir=$1
	shift
	printf '%s\n' "$@" | grep -vxFf "$dir/ended"
}

# once_more KERNEL FOLDER BOOT TEST...: what it died of is said and kept.
once_more() {
	local kernel=$1 dir=$2 boot=$3
	shift 3
	mv "$dir/console" "$dir/console.$boot"
	{
		echo "$kernel: the emulator died, which is no failure: $(tail -n 1 "$dir/runvm.log")"
		echo "    console: $dir/console.$boot; booted again for $# tests"
	} >"$dir/again.$boot"
	echo "said $dir/again.$boot"
}

# judge_afterwards KERNEL FOLDER TEST...
judge_afterwards() {
	local kernel=$1 dir=$2 test script log
	shift 2
	for test; do
		script=$(sed -nE 's/^# afterwards: (.*)/\1/p' "$test" | head -n 1)
		[ -n "$script" ] || continue
		script=$here/$script
		log=$dir/$(basename "$script" .sh).tap
		run_one "$script" "$log" "$dir"
		echo "test $kernel $script $log"
	done
}

# One more failure, for the machine itself.
vm_failed() {
	local culprit
	culprit=$(awk '/mrc-test: / { name = $NF } /BUG|WARNING|Oops|Call Trace/ { print name; exit }' \
		"$2/console" "$2/dmesg" 2>/dev/null || true)
	{
		echo "$1: not ok - the virtual machine ends well (status $3)"
		[ -z "$culprit" ] || echo "    during: $culprit"
		sed 's/^/    /' "$2/runvm.log"
	} >"$2/failed"
	echo "failed $2/failed"
}

# Inside the virtual machine: results go to $VMOUT, one line for the host to
# report each as it ends, and marks into the kernel log.
run_guest() {
	local test name
	for test; do
		name=$(basename "$test" .sh)
		echo "mrc-test: $name" >/dev/kmsg
		run_one "$test" "$VMOUT/$name.tap"
		echo "done $test"
	done
}
