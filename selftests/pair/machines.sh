# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154  # here: the script's own folder
#
# machines.sh - two machines of different kernels, joined by four cables.
#
#	. "$here/../pair/machines.sh"
#	machines guest.sh 1024		# each runs pair/guest.sh SIDE; MB of memory each
#
# Prints what side 1 said, which is TAP, and returns its status; what else went wrong is one more
# "not ok". Side 1 may want cables pulled: pair/lib.sh.

MACHINES_DIR=$(mktemp -d)
MACHINES_PID=()
# shellcheck disable=SC2317
machines_stop() {
	touch "$MACHINES_DIR"/[12]/stop
	kill "${MACHINES_PID[@]}" 2>/dev/null || :
	wait
	rm -rf "$MACHINES_DIR"
}
trap machines_stop EXIT

machines_boot() {	# KERNEL SIDE GUEST MB
	local dir=$MACHINES_DIR
	mkdir -p "$dir/$2"
	"$here/../vm/runvm" -k "$1" -c 1 -m "$4" -t 3000 -w "$dir:$2" -o "$dir/$2" -- \
		"$here/../pair/$3" "$2" >"$dir/$2.out" 2>"$dir/$2.err" &
	MACHINES_PID+=($!)
}

# "sleep SIDE SECONDS", or what cable.py does to a cable.
machines_do() {
	local dir=$MACHINES_DIR
	if [ "$1" = sleep ]; then
		"$here/../pair/cable.py" stop "$dir/qmp.$2" && sleep "$3" &&
			"$here/../pair/cable.py" cont "$dir/qmp.$2"
	else
		"$here/../pair/cable.py" "$1" "$2" "$dir"/qmp.[12]
	fi
}

# What side 1 wants done to a cable or a machine, until it ends.
machines_cables() {
	local dir=$MACHINES_DIR what
	while kill -0 "${MACHINES_PID[1]}" 2>/dev/null; do
		if [ -s "$dir/1/cable" ]; then
			read -ra what <"$dir/1/cable"
			machines_do "${what[@]}" >&2 || break
			rm "$dir/1/cable"
			touch "$dir/1/done"
		fi
		# Side 2 ends when it is told to: sooner, and side 1 would wait for it.
		kill -0 "${MACHINES_PID[0]}" 2>/dev/null || { kill "${MACHINES_PID[1]}"; break; }
		sleep 0.2
	done
	[ ! -s "$dir/1/cable" ] || kill "${MACHINES_PID[1]}"
}

machines() {
	local dir=$MACHINES_DIR rc=0 other=0
	machines_boot 6.12 2 "$@"
	machines_boot 6.1 1 "$@"
	machines_cables
	wait "${MACHINES_PID[1]}" || rc=$?
	touch "$dir/2/stop"
	wait "${MACHINES_PID[0]}" || other=$?
	cat "$dir/1.out"
	case $rc:$other in
	[014]:0) return $rc;;
	esac
	cat "$dir"/[12].err "$dir/2.out" >&2
	echo "not ok - both machines end well ($rc, $other)"
	return 1
}
