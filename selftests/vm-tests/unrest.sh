#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
# kernels: full
#
# mrcd in unrest: its file is edited in ten ways while data flows, daemons are killed at random
# while a plane flaps, sysctls are reset on a switch, the module goes and comes under it. What is
# there at the end is what the file says, and no connection was lost for what did not concern it.
#
#	h1, h2: mrc0 = 2 planes, each T0 - 2 T1 - T0, SRv6	by mrcd

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

ROUNDS=${MRC_N:-12}
file=$FABRIC_DIR/fabric.toml

# at_rest [NODE...]: mrcd of these has nothing to do; default all.
at_rest() {
	local node
	for node in "${@:-${nodes[@]}}"; do
		fabric_in "$node" mrcd --check "$file" -n "$node" || { echo "on $node"; return 1; }
	done
}
rests() { mrc_until 60 at_rest "$@" || at_rest "$@"; }

change() { sed -i -E "$1" "$file"; }
restore() { cp "$MRC_DIR/right.toml" "$file"; }
tell() { local node; for node; do kill -HUP "${MRC_PID[mrcd-$node]}"; done; }

# edited NAME CMD...: the file is, and all daemons are told. $waits: a node that will not be at rest.
waits=
edited() {
	local name=$1 node some=()
	shift
	"$@"
	tell "${nodes[@]}"
	for node in "${nodes[@]}"; do
		[ "$node" = "$waits" ] || some+=("$node")
	done
	ksft_test "$name: done" rests "${some[@]}"
	ksft_test "$name: data flows" mrc_flows 60
}

host3() {
	cat >>"$file" <<-TOML

		[[host]]
		name = "h3"
		index = 3
		device = "mrc0"
		addresses = ["fd00:6d72:63::3/64"]
		[[host.port]]
		plane = 1
		netdev = "eth1"
		switch = "p1-t0-1"
		switch_port = "h3"
	TOML
}

has_profile() { profiles | jq -e --arg dst "$1" 'any(.dst == $dst)'; }
not() { ! "$@"; }
profiles() { mrcctl -n h1 -d -j profile show; }
said() { grep -F "$1" "$MRC_DIR/mrcd-h1.out"; }
qpn() { mrc_qp_of h1 qpn; }

ksft_plan
mrc_begin mrcd mrcctl mrc_verify
ksft_test "two planes by mrcd" mrc_fabric_mrcd 2 2 2 2
mapfile -t nodes <"$FABRIC_DIR/nodes"
ksft_test "nothing is left to do" rests

# ------------------------------------------------- ten edits while data flows
ksft_test "a connection" mrc_verify_start -o mix -s 65536 -t 3600
ksft_test "that works" mrc_flows 60
qp=$(qpn)
edited "fewer EVs" change 's/^evs_per_plane = .*/evs_per_plane = 4/'
ksft_equal "so they are fewer" 8 "$(profiles | jq '.[0].ev | length')"
edited "more EVs" change 's/^evs_per_plane = .*/evs_per_plane = 16/'
edited "a bound of usable ones" change 's/^(evs_per_plane = .*)/\1\nmin_active = 3/'
ksft_equal "is there" 3 "$(profiles | jq '.[0].min_active')"
edited "another bound" change 's/^min_active = 3/min_active = 2/'
edited "another profile" change 's/^id = 1$/id = 7/'
ksft_equal "which is the only one" 7 "$(profiles | jq -r 'map(.id) | unique | join(" ")')"
ksft_equal "and the default" 7 "$(mrcctl -n h1 -j dev show | jq '.[0].profile')"
cp "$file" "$MRC_DIR/right.toml"
edited "one more address of h2" change 's,"10.77.0.2/24",&\, "10.77.0.22/24",'
ksft_test "has a profile" has_profile ::ffff:10.77.0.22
edited "and one less" restore
ksft_test "its profile is gone" not has_profile ::ffff:10.77.0.22
waits=p1-t0-1
edited "a host that is not there yet" host3
waits=
ksft_test "has a profile" has_profile fd00:6d72:63::3
before=$(profiles)
truncate -s -9 "$file"
tell h1
ksft_test "a file cut short is refused" mrc_until 60 said "fabric.toml:"
ksft_test "data flows" mrc_flows 60
ksft_equal "and changes nothing" "$before" "$(profiles)"
edited "the file of before" restore
ksft_equal "all on one QP" "$qp" "$(qpn)"

# ------------------------------- daemons die at random while a plane flaps
RANDOM=$$
flap=(down up)
for ((i = 0; i < ROUNDS; i++)); do
	node=${nodes[RANDOM % ${#nodes[@]}]}
	mrc_kill "mrcd-$node"
	ip -n p2-t0-1 link set t1-1 "${flap[i % 2]}"
	mrc_sleep "0.$((RANDOM % 9 + 1))"
	mrc_mrcd "$node"
done
ip -n p2-t0-1 link set t1-1 up
ksft_test "$ROUNDS daemons killed at random: all come to rest" rests
ksft_test "data flows" mrc_flows 60
ksft_equal "still on that QP" "$qp" "$(qpn)"

# -------------------------------------------------- somebody else's hands
ip netns exec p1-t1-1 sysctl -qw net.ipv6.conf.all.forwarding=0
ksft_test "sysctls reset on a switch come back" mrc_until 60 at_rest p1-t1-1
ksft_test "data flows" mrc_flows 60
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60

# ------------------------------------------------- the module goes and comes
ksft_test "no program holds it" mrc_until 60 mrc_no_resources
ksft_test "the module goes" mrc_until 60 rmmod mrc
ksft_test "mrcd says what it waits for" mrc_until 60 said "link add mrc0 type mrc: "
load_mrc
ksft_test "the module comes: all is there again" rests
ksft_test "its devices, too" mrc_wait_devices
ksft_test "and the paths work" mrc_verify 60 -o mix -n 20
ksft_finish
