#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
#
# Two machines of different kernels, joined by four cables: what the ordinary user has.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")

dir=$(mktemp -d)
pids=()
# shellcheck disable=SC2317
stop() {
	touch "$dir"/[12]/stop
	kill "${pids[@]}" 2>/dev/null || :
	wait
	rm -rf "$dir"
}
trap stop EXIT

machine() {	# KERNEL SIDE
	mkdir -p "$dir/$2"
	"$here/../vm/runvm" -k "$1" -c 1 -m 1024 -t 3000 -w "$dir:$2" -o "$dir/$2" -- \
		"$here/../pair/guest.sh" "$2" >"$dir/$2.out" 2>"$dir/$2.err" &
	pids+=($!)
}

machine 6.12 2
machine 6.1 1
# What side 1 wants done to a cable.
while kill -0 "${pids[1]}" 2>/dev/null; do
	if [ -s "$dir/1/cable" ]; then
		read -r what number <"$dir/1/cable"
		"$here/../pair/cable.py" "$what" "$number" "$dir"/qmp.[12] >&2 || break
		rm "$dir/1/cable"
		touch "$dir/1/done"
	fi
	sleep 0.2
done
rc=0
[ ! -s "$dir/1/cable" ] || kill "${pids[1]}"
wait "${pids[1]}" || rc=$?
touch "$dir/2/stop"
other=0
wait "${pids[0]}" || other=$?
cat "$dir/1.out"
case $rc:$other in
[01]:0) ;;
*)	cat "$dir"/[12].err "$dir/2.out" >&2
	echo "not ok - both machines end well ($rc, $other)"
	exit 1;;
esac
exit $rc
