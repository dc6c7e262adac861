# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# one.sh - one test: where it runs, its limit, its output, its status.

# head_says KEY TEST: REPLY is what follows "# KEY: " in the test's head comment, or nothing. Without a process: run.sh asks
# each test several times.
head_says() {
	local line
	REPLY=''
	while IFS= read -r line; do
		case $line in
		"# $1: "*) REPLY=${line#"# $1: "}; return;;
		'#'* | '') ;;
		*) return;;
		esac
	done <"$2"
}

# Three times what it says: other lanes run beside it, or every checker is on. A net only.
limit_of() {
	local limit
	limit=$(sed -nE 's/^# timeout: ([0-9]+).*/\1/p' "$1" | head -n 1)
	echo $((3 * ${limit:-120}))
}

# set_ends KERNEL...: oldest and newest of Debian's for this architecture.
set_ends() {
	local kernel
	oldest='' newest=''
	for kernel; do
		[[ $kernel = [0-9]* && $kernel != *-* ]] || continue
		oldest=${oldest:-$kernel} newest=$kernel
	done
}

# runs_on KERNEL TEST: it says so itself; with run.sh -a what runs on one of Debian's runs on each, and
# what runs on none ("full"). KERNEL "host": a test of this machine.
runs_on() {
	local on is=" $1 "
	head_says kernels "$2"
	on=" ${REPLY:-old new host} "
	case $1 in
	*-arm64*) [[ $on = *" arm64 "* ]]; return;;
	uml) [[ $on = *" uml "* ]]; return;;
	"$oldest") is+="old ";;&
	"$newest") is+="new ";;&
	host) is+="host ";;
	esac
	[ -z "${MRC_FULL:-}" ] || is+="old new full "
	for is in $is; do
		[[ $on != *" $is "* ]] || return 0
	done
	return 1
}

# of_lane N: of this machine's tests on standard input those of its lane N. Tests that build in one folder are of
# one lane.
of_lane() {
	local test
	while read -r test; do
		head_says lane "$test"
		[ "${REPLY:-1}" != "$1" ] || echo "$test"
	done
}

# Of what its processors had nothing to do, this machine's ticks since it was started.
idle_ticks() {
	local idle
	read -r _ _ _ _ idle _ </proc/stat
	echo "$idle"
}

# within SECS COMMAND...: as timeout(1), but a second in which this machine had no time left counts a tenth:
# who gives way to other tests may have had none of it.
within() {
	local limit=$1 tenths=$((10 * $1)) idle was pid rc=0
	shift
	timeout -k 10 $((10 * limit)) "$@" &
	pid=$!
	trap 'kill "$pid" 2>/dev/null; exit 143' TERM
	was=$(idle_ticks)
	while sleep 0.5 && kill -0 "$pid" 2>/dev/null; do
		idle=$(idle_ticks)
		tenths=$((tenths - (idle - was > 2 ? 5 : 1)))
		was=$idle
		[ $tenths -gt 0 ] || kill "$pid" 2>/dev/null || true
	done
	wait "$pid" || rc=$?
	trap - TERM
	[ $tenths -gt 0 ] || rc=124
	return $rc
}

# used: REPLY, seconds of processor: all that this machine was busy for; where other lanes are, what ended children had.
used() {
	local stat
	if [ -z "${gives_way:-}" ]; then
		read -ra stat </proc/stat
		REPLY=$(((stat[1] + stat[2] + stat[3] + stat[6] + stat[7]) / 100))
	else
		read -ra stat <"/proc/$BASHPID/stat"
		REPLY=$(((stat[15] + stat[16]) / 100))
	fi
}

# run_one TEST LOG [ARG...]: its output to LOG; its status, duration and seconds of processor to LOG.status.
run_one() {
	local test=$1 log=$2 rc=0 start=$SECONDS was limited=(timeout -k 10)
	shift 2
	used
	was=$REPLY
	[ -z "${gives_way:-}" ] || limited=(within)
	"${limited[@]}" "$(limit_of "$test")" "$test" "$@" </dev/null >"$log" 2>&1 || rc=$?
	used
	echo "$rc $((SECONDS - start)) $((REPLY - was))" >"$log.status"
}
