#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mrcd on every node of a fabric: packets go the way their outer destination
# names, a cut cable heals, an mrcd that is killed is not missed. With the module
# loaded, hosts are complete, too: planes, SIDs, profiles.
#
# timeout: 600

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"
# shellcheck source=../lib/fabric.sh
. "$here/../lib/fabric.sh"

MRCD=${MRCD:-$here/../../build/daemon/mrcd}
INNER=fd0b::	# behind End.DT6: works without the module
tmp=$(mktemp -d)
declare -A pid

launch() {	# NODE
	rm -f "$tmp/$1.ready"
	nsenter --net="/run/netns/$1" -- "$MRCD" -v -c "$tmp/fabric.toml" --name "$1" \
		--ready-file "$tmp/$1.ready" 2>>"$tmp/$1.log" &
	pid[$1]=$!
}

end() {		# NODE SIGNAL
	kill "-$2" "${pid[$1]}" && wait "${pid[$1]}" || true
	unset "pid[$1]"
}

clean() {
	local node
	for node in "${!pid[@]}"; do end "$node" KILL; done
	fabric_destroy
	rm -rf "$tmp"
}

ready() {	# NODE...
	local node
	for node; do
		[ -e "$tmp/$node.ready" ] || return 1
	done
}

ns_has_route() { ip -n "$1" -6 route show proto 217 | grep "^$2 "; }

terminate() {	# HOST: deliver what arrives for its uSIDs
	local p REPLY
	ip -n "h$1" address add "$INNER$1/128" dev lo nodad
	for ((p = 1; p <= FABRIC_P; p++)); do
		fabric_usid_host $p "$1"
		ip -n "h$1" -6 route add "$FABRIC_BLOCK:$REPLY::/48" \
			encap seg6local action End.DT6 table 255 dev "eth$p"
	done
}

direct() {	# FROM TO PLANE T1
	ip -n "h$1" -6 route replace "$INNER$2/128" src "$INNER$1" encap seg6 \
		mode encap.red segs "$(fabric_path "$1" "$2" "$3" "$4")" dev "eth$3"
}

not() { ! "$@"; }
reaches() { fabric_in h1 ping -q -c "${2:-1}" -i 0.01 -W 1 "$INNER$1"; }
received() { ip -n "$1" -j -s link show dev "$2" | jq '.[0].stats64.rx.packets'; }
passes() {	# NODE PORT
	local before
	before=$(received "$1" "$2")
	reaches 2 20 && [ $(($(received "$1" "$2") - before)) -ge 20 ]
}
# Operations only: "waiting" is not one.
planned() { fabric_in "$1" "$MRCD" -c "$tmp/fabric.toml" --name "$1" --dry-run | grep -v '^#'; }
nothing_planned() { [ -z "$(planned "$1")" ]; }

ksft_plan
need_root
need_cmd ip jq ping nsenter
[ -x "$MRCD" ] || ksft_skip_all "needs $MRCD"
ip link add mrcd-probe type dummy 2>/dev/null || ksft_skip_all "needs dummy interfaces: run it in runvm"
ip link del mrcd-probe
module=''
[ -z "${MRC_KO:-}" ] || { modprobe -a ib_core ib_uverbs rdma_cm 2>/dev/null; insmod "$MRC_KO" 2>/dev/null; } || true
[ ! -e /sys/module/mrc ] && ! modprobe mrc 2>/dev/null || module=1
at_exit clean

ksft_test "build 3 hosts, 2 planes, 2 T0, 2 T1" fabric_build 3 2 2 2
fabric_toml 3 2 2 2 >"$tmp/fabric.toml"
mapfile -t nodes <"$FABRIC_DIR/nodes"
switches=() hosts=()
for node in "${nodes[@]}"; do
	case $node in p*) switches+=("$node");; *) hosts+=("$node");; esac
	launch "$node"
done
ksft_test "all switches are ready" wait_until 60 ready "${switches[@]}"
for h in 1 2 3; do
	fabric_host_t0 $h
	fabric_usid_t0 2 "$REPLY"
	ksft_test "h$h has its way to its T0" wait_until 60 ns_has_route "h$h" "$FABRIC_BLOCK:$REPLY::/48"
	terminate $h
done
direct 2 1 1 1
direct 3 1 2 1
for p in 1 2; do
	for t in 1 2; do
		direct 1 2 $p $t
		ksft_test "plane $p crosses T1 $t" wait_until 5 passes "p$p-t1-$t" t0-1
	done
done
direct 1 3 1 0
ksft_test "hosts at one T0 need no T1" reaches 3

direct 1 2 1 2
fabric_cut p1-t0-1 t1-2
ksft_test "a cut cable carries nothing" not reaches 2
direct 1 2 1 1
ksft_test "the other T1 still works" reaches 2
ip -n p1-t0-1 link set t1-2 up
direct 1 2 1 2
ksft_test "up again: mrcd puts the route back" wait_until 5 reaches 2

fabric_in h1 ping -q -i 0.02 -c 200 "${INNER}2" >"$tmp/ping" &
ping=$!
for node in p1-t0-1 p1-t1-2; do
	end $node KILL 2>/dev/null
	mv "$tmp/$node.log" "$tmp/$node.old.log"
done
for node in p1-t0-1 p1-t1-2; do launch $node; done
ksft_test "killed and started again" wait_until 20 ready p1-t0-1 p1-t1-2
wait $ping || true
ksft_test "no packet noticed: $(grep -o '[0-9]* packets.*loss' "$tmp/ping")" grep -q ' 0% packet loss' "$tmp/ping"
ksft_test "nothing was done again" not grep -qE ': (route|addr|link|sysctl) ' "$tmp/p1-t0-1.log"
for node in p1-t0-1 p2-t1-1; do ksft_test "$node: nothing planned" nothing_planned $node; done

if [ -n "$module" ]; then
	ksft_test "all hosts are ready" wait_until 60 ready "${hosts[@]}"
	for node in "${hosts[@]}"; do ksft_test "$node: nothing planned" nothing_planned "$node"; done
	end h1 KILL
	launch h1
	ksft_test "h1 again" wait_until 20 ready h1
	ksft_test "mrc0 carries ordinary IP" fabric_in h1 ping -q -c 3 -i 0.1 -W 2 fd00:6d72:63::2
	ksft_test "and IPv4" fabric_in h1 ping -q -c 3 -i 0.1 -W 2 10.77.0.2
	for _ in 1 2 3 4 5 6; do
		ip -n p2-t0-1 link set h1 down
		sleep 0.2
		ip -n p2-t0-1 link set h1 up
		sleep 0.2
	done
	ksft_test "a flapping plane is damped" wait_until 5 grep -q 'number 2 admin down' "$tmp/h1.log"
else
	ksft_skip "hosts with the module" "the module is not loaded"
fi
ksft_equal "no errors at switches" "" "$(cat "$tmp"/p*.log | grep error || true)"
ksft_finish
