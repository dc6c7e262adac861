#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# in_vm.sh - the demonstration, inside the virtual machine; see ../demo.sh.
#
# Builds the fabric, lets mrcd configure all of it, and has a verifying program in each direction
# offer a fixed load, while a plane is cut and restored. What report.py judges is left in $VMOUT; the status here says
# only whether everything could be run to its end.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"
# shellcheck source=../lib/fabric.sh
. "$here/../lib/fabric.sh"
# shellcheck source=steps.sh
. "$here/steps.sh"
trap - EXIT INT TERM	# lib.sh's speak TAP

seconds=${MRC_DEMO_SECONDS:-30}
load=${MRC_DEMO_LOAD:-100}	# messages a second that each host offers,
SIZE=16384			# of so many bytes

PLANE=2				# the one that dies
SWITCH=p$PLANE-t0-1		# where, and
PORT=h1				# at which port
PATIENCE=240			# seconds for whatever is waited for,
TELL=15				# and how often to say so

mrcd=$MRC_TOP/build/daemon/mrcd
mrcctl=$MRC_TOP/build/tools/mrcctl
verify=$MRC_TOP/build/verbs/mrc_verify
plugin=$(echo "$MRC_TOP"/build/lib/libmrc-rdmav*.so)

work=/run/demo
mkdir -p $work/ready $work/log $work/snap

# ------------------------------------------------------------------- telling

# give_up NAME TEXT [LOG]
give_up() {
	printf '  %s %5s  %-9s %s\n' "$(paint '1;31' '     !!')" "$(elapsed)" "$1" "$2"
	[ -z "${3:-}" ] || tail -n 15 "$3" | sed 's/^/     | /'
	exit 1
}

# await NAME CMD...: a slow machine costs patience, not the demonstration. Says so meanwhile.
await() {
	local name=$1 waited=0
	shift
	until wait_until $TELL "$@"; do
		waited=$((waited + TELL))
		[ $waited -lt $PATIENCE ] || return 1
		still "$name" "slow machine, waiting for it: $waited s"
	done
}

keep_results() {
	cp -r $work/log $work/snap "$VMOUT/"
	cp $work/*.json* $work/marks "$VMOUT/" 2>/dev/null || true
}

# ------------------------------------------------------------------- set up

# in_ns NS CMD...: for the background; $! is then the program's own.
in_ns() { exec nsenter --net="/run/netns/$1" -- "${@:2}"; }

build_fabric() {
	fabric_build 2 4 2 2 || give_up fabric "the cables could not be laid"
	fabric_toml 2 4 2 2 >$work/fabric.toml
	mapfile -t nodes <"$FABRIC_DIR/nodes"
	step 6 fabric "2 hosts and 16 switches in namespaces; 4 planes of 2 T0 and 2 T1; 24 cables"
}

load_module() {
	local lib=(/usr/lib/*/libibverbs)
	modprobe ib_uverbs && modprobe rdma_ucm || give_up module "no InfiniBand core"
	load_mrc || give_up module "$MRC_BUILD/mrc.ko cannot be loaded"
	install -m 644 "$plugin" "${lib[0]}/"
	install -m 644 "$MRC_TOP/tools/lib/ibverbs/mrc.driver" /etc/libibverbs.d/
	step 7 module "mrc.ko in Linux $(uname -r); plug-in beside libibverbs's own"
}

ready_count() {
	local ready
	shopt -s nullglob
	ready=("$work"/ready/*)
	shopt -u nullglob
	echo ${#ready[@]}
}
enough_ready() { [ "$(ready_count)" -ge "$1" ]; }

# A few at a time: loading programs is what an emulated machine is slow at.
start_daemons() {
	local node started=0
	for node in "${nodes[@]}"; do
		in_ns "$node" "$mrcd" -c $work/fabric.toml --name "$node" \
			--ready-file "$work/ready/$node" >"$work/log/mrcd-$node" 2>&1 &
		started=$((started + 1))
		await mrcd enough_ready $((started - 3)) || break
	done
	await mrcd enough_ready ${#nodes[@]} || late_daemons
	step 8 mrcd "${#nodes[@]} daemons on one fabric file: everything is in place"
}

late_daemons() {
	local node
	for node in "${nodes[@]}"; do
		[ -e "$work/ready/$node" ] || give_up mrcd "$node is not ready" "$work/log/mrcd-$node"
	done
}

# find_gid ADDRESS: sets ibdev and gid_index. RDMA devices have one name space, so
# the mrc0 of h2 is not called mrc0 there.
find_gid() {
	local dev path gid want
	printf -v want 'fd00:6d72:0063:0000:0000:0000:0000:%04x' "0x${1##*:}"
	for dev in /sys/class/infiniband/*; do
		for ((gid_index = 0; gid_index < 16; gid_index++)); do
			path=$dev/ports/1/gids/$gid_index
			read -r gid 2>/dev/null <"$path" || continue
			ibdev=${dev##*/}
			[ "$gid" != "$want" ] || return 0
		done
	done
	return 1
}

find_devices() {
	local REPLY
	fabric_host_addr 1; addr1=$REPLY
	fabric_host_addr 2; addr2=$REPLY
	await mrc0 find_gid "$addr1" || give_up mrc0 "h1 has no GID $addr1"
	find_gid "$addr1"; ibdev1=$ibdev gid1=$gid_index
	await mrc0 find_gid "$addr2" || give_up mrc0 "h2 has no GID $addr2"
	find_gid "$addr2"; ibdev2=$ibdev gid2=$gid_index
	ctl h1 plane show >$work/planes.json
	ctl h1 -d profile show >$work/profiles.json
	jq -e 'length == 4 and all(.up)' $work/planes.json >/dev/null ||
		give_up mrc0 "not all planes of h1 are up" $work/planes.json
	evs=$(jq --arg dst "$addr2" '[.[] | select(.dst == $dst) | .ev | length] | add // 0' \
		$work/profiles.json)
	[ "$evs" -ge 16 ] || give_up paths "only $evs EVs from h1 to h2" $work/profiles.json
	step 9 paths "$evs EVs from h1 to h2, such as $(jq -r --arg dst "$addr2" \
		'[.[] | select(.dst == $dst) | .ev[].value] | unique | .[0]' $work/profiles.json)"
}

ctl() { "$mrcctl" -n "$1" -j "${@:2}" 2>>$work/log/mrcctl; }

# ------------------------------------------------------- ordinary programs

try_ping() {
	fabric_in h1 ping -c 4 -i 0.2 -W 30 "$addr2" >$work/log/ping 2>&1 ||
		give_up ping "h2 does not answer" $work/log/ping
}

say_hello() {
	local answer
	answer=$(echo "Hello h2" | fabric_in h1 nc -N -w 10 "$addr2" 7777) && [ "$answer" = "Hello h1" ]
}

try_tcp() {
	echo "Hello h1" | in_ns h2 timeout $PATIENCE nc -N -l "$addr2" 7777 >$work/log/tcp 2>&1 &
	local server=$!
	await TCP say_hello || give_up TCP "no connection from h1 to h2" $work/log/tcp
	wait $server || true
	[ "$(cat $work/log/tcp)" = "Hello h2" ] || give_up TCP "h2 heard otherwise" $work/log/tcp
}

# Debian's own. The timeout of -u is 1 s: an emulated processor stands still for longer than the
# default of 67 ms.
try_write_bw() {
	local args=(-s 65536 -n 100 -F -u 18) server
	in_ns h2 ib_write_bw -d "$ibdev2" -x "$gid2" "${args[@]}" >$work/log/write_bw-server 2>&1 &
	server=$!
	await ib_write_bw listens h2 18515 || give_up ib_write_bw "no server" $work/log/write_bw-server
	fabric_in h1 ib_write_bw -d "$ibdev1" -x "$gid1" "${args[@]}" 10.77.0.2 \
		>$work/log/write_bw-client 2>&1 || give_up ib_write_bw "it failed" $work/log/write_bw-client
	wait $server || give_up ib_write_bw "its server failed" $work/log/write_bw-server
}

listens() {
	local hex
	printf -v hex ':%04X 0' "$2"
	fabric_in "$1" grep -qE "$hex" /proc/net/tcp /proc/net/tcp6
}

# ------------------------------------------------------------- the transfer

mark() { echo "$EPOCHREALTIME $*" >>$work/marks; }

# after SECONDS: since the start. From a pipe into which nobody writes, because to
# start sleep(1) takes a good part of a second on a busy machine.
exec {silence}<> <(:)
after() {
	local left=$((start_us + $1 * 1000000 - ${EPOCHREALTIME/./})) wait
	[ $left -gt 0 ] || return 0
	printf -v wait '%d.%06d' $((left / 1000000)) $((left % 1000000))
	read -r -t "$wait" -u "$silence" || true
}

snapshot() {
	local host object
	for host in h1 h2; do
		for object in stats peer; do
			ctl $host $object show >$work/snap/"$1-$host-$object.json" || true
		done
	done
}

# Who acts and measures comes first, then the kernel's threads, then who transfers.
set_priorities() {
	renice -n -5 $$ >/dev/null
	gently=(nice -n 10)
}

# start_verify NAME FROM TO: sets verify_server, verify_client.
start_verify() {
	local from_dev=$ibdev1 from_gid=$gid1 to_dev=$ibdev2 to_gid=$gid2 to_addr=$addr2 port=18600
	if [ "$2" = h2 ]; then
		from_dev=$ibdev2 from_gid=$gid2 to_dev=$ibdev1 to_gid=$gid1 to_addr=$addr1 port=18601
	fi
	in_ns "$3" "${gently[@]}" "$verify" -e -d "$to_dev" -g "$to_gid" -p $port \
		>"$work/log/$1-server" 2>&1 &
	verify_server=$!
	in_ns "$2" "${gently[@]}" "$verify" -e -d "$from_dev" -g "$from_gid" -p $port -P -o write \
		-s $SIZE -R "$load" -q 8 -t $((seconds * 4)) "$to_addr" >"$work/log/$1-client" 2>&1 &
	verify_client=$!
}

# delivered DEVICE BYTES: payload its QPs have accepted by now.
accepted() { cat "/sys/class/infiniband/$1/ports/1/hw_counters/rx_bytes"; }
delivered() { [ "$(accepted "$1")" -ge "$2" ]; }

start_transfer() {
	local colours=()
	[ -z "${MRC_DEMO_COLOUR:-}" ] || colours=(--colour)
	: >$work/marks
	: >$work/log/events
	set_priorities
	in_ns h1 "$mrcctl" monitor dev mrc0 >$work/log/events 2>$work/log/monitor &
	events=$!
	chrt -f 1 "$here/sampler.py" --host "h1=$ibdev1" --host "h2=$ibdev2" --planes 4 \
		--watch $SWITCH=$PORT "${colours[@]}" --marks $work/marks \
		--out $work/samples.jsonl 2>$work/log/sampler &
	sampler=$!
	await sampler test -s $work/samples.jsonl || give_up sampler "no samples" $work/log/sampler
	snapshot start
	before1=$(accepted "$ibdev1") before2=$(accepted "$ibdev2")
	start_verify verify21 h2 h1; v21s=$verify_server v21c=$verify_client
	await mrc_verify delivered "$ibdev1" $((before1 + 8 * SIZE)) ||
		give_up mrc_verify "nothing arrives" $work/log/verify21-client
	start_verify verify12 h1 h2; v12s=$verify_server v12c=$verify_client
	await mrc_verify delivered "$ibdev2" $((before2 + 8 * SIZE)) ||
		give_up mrc_verify "nothing arrives" $work/log/verify12-client
}

# expect SECONDS: sampling is fine when it happens, and before.
expect() {
	after $(($1 - 1))
	mark look
	after "$1"
}

# What a person would see on h1 after the cut: the beginning of each line, and the event of the plane.
show_planes() {
	{
		echo
		echo "h1# mrcctl plane show"
		"$mrcctl" -n h1 plane show
		echo "h1# mrcctl monitor"
		grep 'event plane' $work/log/events | tail -n 1
		echo
	} | sed 's/ held .*/ .../; s/^./      &/'
}

cut_and_restore() {
	local third=$((seconds / 3))
	start_us=${EPOCHREALTIME/./}
	mark start
	after $((third - 4)); snapshot before &
	expect $third; fabric_cut $SWITCH $PORT
	after $((third + 2)); show_planes
	after $((2 * third - 4)); snapshot during &
	expect $((2 * third)); fabric_restore $SWITCH $PORT
	after $((3 * third - 4)); snapshot after &
	last_snapshot=$!
	after $((3 * third))
	mark end
}

gone() { ! kill -0 "$1" 2>/dev/null; }

# reap NAME PID: its status into status.jsonl; 124 if it had to be killed.
reap() {
	local rc=0
	if ! await "$1" gone "$2"; then
		kill -KILL "$2" 2>/dev/null || true
		wait "$2" 2>/dev/null || true
		rc=124
	else
		wait "$2" || rc=$?
	fi
	echo "{\"program\": \"$1\", \"status\": $rc}" >>$work/status.jsonl
}

finish_transfer() {
	kill -INT "$v12c" "$v21c" "$events" 2>/dev/null || true
	reap sampler "$sampler"
	wait "$last_snapshot"
	reap verify12-client "$v12c"
	reap verify12-server "$v12s"
	reap verify21-client "$v21c"
	reap verify21-server "$v21s"
}

# ------------------------------------------------------------------------

main() {
	trap keep_results EXIT
	build_fabric
	load_module
	start_daemons
	find_devices
	try_ping
	try_tcp
	try_write_bw
	step 10 programs "ping, TCP and Debian's ib_write_bw between the two mrc0"
	echo
	echo "          Now $load messages of $((SIZE / 1024)) KiB a second each way, for $seconds s; every byte is checked."
	echo "          In $((seconds / 3)) s plane $PLANE is cut, after $((seconds * 2 / 3)) s restored." \
		"MB/s that arrive, packets that leave by each plane:"
	echo
	start_transfer
	cut_and_restore
	finish_transfer
	echo
	step 11 transfer "the programs have ended"
	jq -n --arg kernel "$(uname -r)" --argjson size $SIZE --argjson load "$load" --argjson plane $PLANE \
		'{kernel: $kernel, size: $size, load: $load, plane: $plane, planes: 4}' >$work/run.json
}

main
