# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# lab.sh - what can be typed in "make shell" and in the lessons, besides the programs of this machine.
#
#	lab cable|planes|fabric		build one of three networks
#	NODE COMMAND...			run COMMAND on that node, such as "h1 ping ..."
#	cut p2, hole p2, heal p2	break plane 2, in two ways, and mend it
#	server, traffic, shares, await	programs in the background, and what to look at
#
# Every node is a network namespace (fabric.sh); a function of its name enters it.

# shellcheck source=selftests/lib/lib.sh
. "$MRC_LAB_TOP/selftests/lib/lib.sh"
trap - EXIT INT TERM	# lib.sh's speak TAP
# shellcheck source=selftests/lib/fabric.sh
. "$MRC_LAB_TOP/selftests/lib/fabric.sh"
# shellcheck source=selftests/lib/mrc.sh
. "$MRC_LAB_TOP/selftests/lib/mrc.sh"

LAB_KIND=

help() {
	cat <<-'TEXT'
	The network (it takes the place of the one before):
	  lab cable     h1 and h2, one cable between them, nothing configured
	  lab planes    h1 and h2, two planes: an Ethernet switch each, nothing configured
	  lab fabric    h1 and h2, four planes of two T0 and two T1 switches, configured by mrcd
	  nodes         their names

	Programs:
	  server h2 COMMAND    in the background on h2; returns when it listens
	  traffic       h1 writes to h2 from now on, every byte checked
	  shares h1     which planes carry h1's next packets
	  await TEXT COMMAND   again and again, until it prints TEXT

	On a node:
	  h1 COMMAND    such as: h1 mrcctl plane show, h2 ip -6 address, p2-t0-1 ip -6 route
	  h1            a shell on h1; exit leaves it

	Failures of plane 2 (or p1, p3, p4):
	  cut p2        the switch shuts its port to h1: h1 sees the link go down
	  hole p2       the switch drops everything, in silence: no link goes down
	  hole p2-t0-1 t1-1    one cable drops everything, in silence
	  heal p2       everything of plane 2 works again

	Good to know: mrcctl, ip, tc, rdma, ibv_devinfo, ib_write_bw, ibv_rc_pingpong, ping, tcpdump.
	exit ends the machine. Lessons: Documentation/tutorial.
	TEXT
}

lab__welcome() {
	[ "$LAB_KIND" = fabric ] || { echo "help lists what can be typed here."; return; }
	cat <<-'TEXT'

	h1 and h2 are hosts, with four planes between them. Try:
	  h1 mrcctl plane show
	  h1 ping -c 3 fd00:6d72:63::2
	  help

	TEXT
}

lab__module() {
	mkdir -p "$MRC_DIR"
	[ -p "$MRC_DIR/never" ] || mkfifo "$MRC_DIR/never"
	mrc_setup_plugin || { echo "the plug-in is missing: make shell builds it" >&2; return 1; }
	modprobe ib_uverbs && modprobe rdma_ucm && load_mrc
}

# ---------------------------------------------------------------- networks

lab() {
	case ${1:-} in
	cable|planes|fabric) ;;
	*) echo "lab: cable, planes or fabric?" >&2; return 2;;
	esac
	lab__end
	# In a subshell, for an interactive one names each program that it starts.
	(
		mrc_clear || { echo "lab: the devices before do not end" >&2; exit 1; }
		"lab__$1" || { echo "lab: $1 could not be built" >&2; exit 1; }
		declare -p MRC_PID | sed 's/^declare -A/declare -gA/' >"$MRC_DIR/programs"
	) || return
	. "$MRC_DIR/programs"
	fabric_load
	LAB_KIND=$1
	lab__names
}

# Daemons, and what the person has left running.
lab__end() {
	local job
	mrc_stop_all 2>/dev/null
	for job in $(jobs -p); do
		kill -KILL -- "$job" 2>/dev/null
		wait "$job" 2>/dev/null
	done
}

lab__cable() { mrc_cable && lab__hosts_up; }

# Two Ethernet switches, so that a cut is seen by one end only and no address goes with it.
lab__planes() {
	local p i
	mkdir -p "$FABRIC_DIR"
	printf '%s\n' h1 h2 p1 p2 >"$FABRIC_DIR/nodes"
	echo "2 2 0 0" >"$FABRIC_DIR/size"
	fabric_load
	sed 's/^/netns add /' "$FABRIC_DIR/nodes" | ip -b - || return
	fabric__no_dad h1
	fabric__no_dad h2
	for p in 1 2; do
		echo "link add sw netns p$p mtu 9000 type bridge"
		for i in 1 2; do
			fabric__cable h$i eth$p p$p h$i
		done
	done | ip -b - || return
	for p in 1 2; do
		printf 'link set %s\n' "h1 master sw" "h2 master sw" "sw up" "h1 up" "h2 up" |
			ip -n p$p -b - || return
	done
	lab__hosts_up
}

lab__hosts_up() {
	local i p
	for ((i = 1; i <= FABRIC_H; i++)); do
		ip -n h$i link set lo up
		for ((p = 1; p <= FABRIC_P; p++)); do
			printf '%s\n' "link set eth$p up" "address replace fe80::$i/64 dev eth$p nodad"
		done | ip -n h$i -b - || return
	done
}

lab__fabric() {
	mrc_fabric_mrcd 2 4 2 2 && cp "$FABRIC_DIR/fabric.toml" .
}

nodes() { paste -sd ' ' "$FABRIC_DIR/nodes" | fold -s -w 76; }

# A function for each node. Names of switches have hyphens, which bash allows.
lab__names() {
	local node
	while read -r node; do
		eval "$node() { lab__on $node \"\$@\"; }"
	done <"$FABRIC_DIR/nodes"
}

lab__on() {
	local node=$1
	shift
	if [ $# -gt 0 ]; then
		nsenter --net="/run/netns/$node" -- "$@"
	else
		MRC_LAB_NODE=$node nsenter --net="/run/netns/$node" -- \
			bash --rcfile "$MRC_LAB_TOP/selftests/demo/node.rc"
	fi
}

# ---------------------------------------------------------------- programs

# await TEXT COMMAND...: until it prints TEXT; then shows all that it printed. A slow machine takes longer.
await() {
	local text=$1 out end=$((SECONDS + 600))
	shift
	until out=$("$@" 2>&1); [[ $out = *$text* ]]; do
		[ $SECONDS -lt $end ] || { printf '%s\nawait: no "%s" in ten minutes\n' "$out" "$text" >&2; return 1; }
		mrc_sleep 0.3
	done
	printf '%s\n' "$out"
}

# In a subshell, for an interactive one tells of each program that it starts.
lab__start() {	# NAME NODE COMMAND...
	local name=$1 node=$2
	shift 2
	MRC_PID[$name]=$(
		nsenter --net="/run/netns/$node" -- "$@" >"$name.log" 2>&1 </dev/null &
		echo $!
	)
}

# server NODE COMMAND...: in the background, and returns when it listens.
server() {
	lab__start server "$@"
	mrc_until 60 mrc_listens server 18515 || { cat server.log >&2; return 1; }
	echo "$2 waits on $1; its output goes to server.log"
}

# traffic: from h1 to h2 until the next lab.
traffic() {
	local dev
	mrc_ibdev h2 && dev=$REPLY || { echo "h2 has no device with address fd00:6d72:63::2" >&2; return 1; }
	lab__start server h2 mrc_verify -e -T 600 -d "$dev" -p 18515
	mrc_until 60 mrc_listens server 18515 || { cat server.log >&2; return 1; }
	mrc_ibdev h1 || return
	lab__start client h1 mrc_verify -e -T 600 -d "$REPLY" -p 18515 -o write -s 16384 -q 8 -R 100 \
		-u 20 -t 86400 -P fd00:6d72:63::2
	mrc_until 60 mrc__has_qp h1 || { cat client.log >&2; return 1; }
	echo "h1 writes to h2: 100 messages of 16 KiB a second, every byte checked"
}

# shares NODE: which planes carry its next few hundred packets; a plane with less than a fifth of an equal
# share is quiet: probes and neighbour discovery.
shares() {
	local p sum=0 before=() now=() end=$((SECONDS + 600))
	lab__counters "$1" before
	while [ $sum -lt 400 ] && [ $SECONDS -lt $end ]; do
		mrc_sleep 0.5
		lab__counters "$1" now
		sum=0
		for ((p = 1; p <= FABRIC_P; p++)); do sum=$((sum + now[p] - before[p])); done
	done
	for ((p = 1; p <= FABRIC_P; p++)); do
		if [ $(((now[p] - before[p]) * FABRIC_P * 5)) -gt $sum ]; then
			echo "plane $p carries $(((now[p] - before[p]) * 100 / sum)) %"
		else
			echo "plane $p quiet"
		fi
	done
}

lab__counters() {	# NODE ARRAY: packets sent by each eth<plane>
	local line fields
	local -n counts=$2
	while read -r line; do
		[[ $line = eth* ]] || continue
		read -ra fields <<<"${line#*:}"
		line=${line%%:*}
		# shellcheck disable=SC2034	# a reference
		counts[${line#eth}]=${fields[9]}
	done < <(nsenter --net="/run/netns/$1" cat /proc/net/dev)
}

# ---------------------------------------------------------------- failures

# lab__ends PLANE: "NODE PORT" lines, every port of the switch that h1 hangs off; the first
# one leads to h1.
lab__ends() {
	case $LAB_KIND in
	planes) printf '%s\n' "$1 h1" "$1 h2";;
	fabric) printf '%s\n' "$1-t0-1 h1" "$1-t0-1 t1-1" "$1-t0-1 t1-2";;
	*) echo "there are no planes to break: lab planes, or lab fabric" >&2; return 1;;
	esac
}

lab__plane() {
	[[ ${1:-} =~ ^p[1-9]$ ]] && [ "${1#p}" -le "${FABRIC_P:-0}" ] ||
		{ echo "which plane? p1 to p${FABRIC_P:-?}" >&2; return 2; }
}

cut() {
	local ends node port
	# Programs and completions mean cut(1).
	[[ ${1:-} = p[1-9]* ]] || { command cut "$@"; return; }
	lab__plane "$1" && ends=$(lab__ends "$1") || return
	read -r node port <<<"$ends"
	fabric_cut "$node" "$port" && echo "$node shuts its port to $port: $port sees the link go down"
}

hole() {
	local ends node port
	if [ $# -eq 2 ]; then
		fabric_blackhole "$1" "$2" && echo "$1 drops what it should send to $2; no link goes down"
		return
	fi
	lab__plane "$1" && ends=$(lab__ends "$1") || return
	while read -r node port; do
		fabric_blackhole "$node" "$port" || return
	done <<<"$ends"
	read -r node port <<<"$ends"
	echo "$node drops everything; no link goes down"
}

heal() {
	local ends node port
	lab__plane "$1" && ends=$(lab__ends "$1") || return
	while read -r node port; do
		fabric_heal "$node" "$port"
		ip -n "$node" link set "$port" up
	done <<<"$ends"
	echo "plane ${1#p} works again"
}
