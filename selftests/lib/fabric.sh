# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# fabric.sh - a multi-plane two-tier fabric in network namespaces, made of veth.
#
#	        p1-t1-1 ... p1-t1-<NT1>          p2-t1-1 ...
#	           |   \   /   |                    |
#	        p1-t0-1 ... p1-t0-<NT0>          p2-t0-1 ...
#	           |  \                             |   \
#	  eth1 of h1, h<1+NT0>...            eth2 of h1, h<1+NT0>...
#
# Every plane is a separate Clos network; host i is connected to T0 number
# ((i - 1) % NT0) + 1 of each plane by its interface eth<plane>. On a T0,
# h<i> faces host i and t1-<n> faces T1 n; on a T1, t0-<n> faces T0 n. Every
# switch has a dummy device sr0 for its own SID: a seg6local route must name a
# device, and one on a cable would vanish with the cable.
#
# SRv6 uSIDs (F3216, block fcbb:bb00::/32), p = plane:
#	T0 n: p * 0x1000 + n    T1 n: p * 0x1000 + 0x100 + n    host i: p * 0x1000 + 0x200 + i
# FABRIC_ALIKE=1: all planes have the uSIDs of plane 1, so only the interface
# distinguishes them (by hand, not by mrcd). Every cable has the link-local
# addresses fe80::1 at the end nearer to the hosts and fe80::2 at the upper end.
#
# The state is kept in files, so that one process may build a fabric and another
# one may cut it.

FABRIC_BLOCK=fcbb:bb00
FABRIC_DIR=${FABRIC_DIR:-/run/mrc-fabric}

# ------------------------------------------------------------------- names

# These set REPLY: a fork for each number would take seconds per fabric.
fabric_usid_t0() { printf -v REPLY '%x' $((${FABRIC_ALIKE:-$1} * 0x1000 + $2)); }		# PLANE N
fabric_usid_t1() { printf -v REPLY '%x' $((${FABRIC_ALIKE:-$1} * 0x1000 + 0x100 + $2)); }	# PLANE N
fabric_usid_host() { printf -v REPLY '%x' $((${FABRIC_ALIKE:-$1} * 0x1000 + 0x200 + $2)); }	# PLANE HOST
fabric_host_t0() { REPLY=$((($1 - 1) % FABRIC_NT0 + 1)); }			# HOST
fabric_host_addr() { printf -v REPLY 'fd00:6d72:63::%x' "$1"; }		# HOST

# fabric_path A B PLANE T1: the outer destination from host A to host B. Hosts
# at the same T0 need no T1.
fabric_path() {
	local REPLY a b path=$FABRIC_BLOCK
	fabric_host_t0 "$1"; a=$REPLY
	fabric_host_t0 "$2"; b=$REPLY
	fabric_usid_t0 "$3" "$a"; path+=:$REPLY
	if [ "$a" -ne "$b" ]; then
		fabric_usid_t1 "$3" "$4"; path+=:$REPLY
		fabric_usid_t0 "$3" "$b"; path+=:$REPLY
	fi
	fabric_usid_host "$3" "$2"
	echo "$path:$REPLY::"
}

# Calls "$1 p n" for every T0, and "$2 p n" for every T1.
fabric_each_switch() {
	local p n
	for ((p = 1; p <= FABRIC_P; p++)); do
		for ((n = 1; n <= FABRIC_NT0; n++)); do "$1" $p $n; done
		for ((n = 1; n <= FABRIC_NT1; n++)); do "$2" $p $n; done
	done
}

fabric_each_host() {
	local i
	for ((i = 1; i <= FABRIC_H; i++)); do "$1" $i; done
}

# Reads the sizes of the fabric that an earlier process built.
fabric_load() {
	read -r FABRIC_H FABRIC_P FABRIC_NT0 FABRIC_NT1 <"$FABRIC_DIR/size"
}

# ------------------------------------------------------------------ cables

# fabric_in NS CMD...: like "ip netns exec", without its private mounts.
fabric_in() {
	local ns=$1
	shift
	nsenter --net="/run/netns/$ns" -- "$@"
}

# fabric__sysctl NS SCRIPT: runs SCRIPT in net/ipv6/conf. By static busybox,
# because loading programs takes most of the time on an emulated machine. For
# shell builtins only: this shell prefers its own ip and ping to the real ones.
fabric__sysctl() {
	busybox nsenter --net="/run/netns/$1" busybox sh -c "cd /proc/sys/net/ipv6/conf; $2"
}

# fabric__each_node CMD: "CMD NODE" for every node, half of them in parallel with
# the other half.
fabric__each_node() {
	local rc=0
	fabric__nodes "$1" < <(sed -n 'p;n' "$FABRIC_DIR/nodes") &
	fabric__nodes "$1" < <(sed -n 'n;p' "$FABRIC_DIR/nodes") || rc=1
	wait $! || rc=1
	return $rc
}

fabric__nodes() {
	local ns rc=0
	while read -r ns; do
		"$1" "$ns" || rc=1
	done
	return $rc
}

fabric__node() { echo "$1" >>"$FABRIC_DIR/nodes"; }
fabric__t0() { fabric__node "p$1-t0-$2"; }
fabric__t1() { fabric__node "p$1-t1-$2"; }
fabric__host() { fabric__node "h$1"; }

# fabric__cable LOWER_NS LOWER_IF UPPER_NS UPPER_IF
fabric__cable() {
	echo "link add $2 netns $1 mtu 9000 type veth peer name $4 netns $3 mtu 9000"
}

fabric__t0_cables() {
	local p=$1 n=$2 i t
	for ((i = n; i <= FABRIC_H; i += FABRIC_NT0)); do
		fabric__cable "h$i" "eth$p" "p$p-t0-$n" "h$i"
	done
	for ((t = 1; t <= FABRIC_NT1; t++)); do
		fabric__cable "p$p-t0-$n" "t1-$t" "p$p-t1-$t" "t0-$n"
	done
}

# fabric_build HOSTS PLANES T0S T1S: cables only, all links up; addresses and
# routes are mrcd's, or fabric_program_static's.
fabric_build() {
	FABRIC_H=$1 FABRIC_P=$2 FABRIC_NT0=$3 FABRIC_NT1=$4
	local ns

	fabric_destroy
	mkdir -p "$FABRIC_DIR"
	echo "$*" >"$FABRIC_DIR/size"
	: >"$FABRIC_DIR/nodes"
	fabric_each_host fabric__host
	fabric_each_switch fabric__t0 fabric__t1

	sed 's/^/netns add /' "$FABRIC_DIR/nodes" | ip -b - || return
	fabric__each_node fabric__no_dad || return
	fabric_each_switch fabric__t0_cables : | ip -b - || return
	fabric__each_node fabric__links_up
}

# Before links exist, because they inherit the defaults: duplicate address
# detection would delay every address by a second or two.
fabric__no_dad() {
	fabric__sysctl "$1" 'echo 0 >all/accept_dad; echo 0 >default/accept_dad'
}

fabric__links_up() {
	local link
	{
		case $1 in
		p*) echo "link add sr0 type dummy";;
		esac
		echo "link set lo up"
		for link in $(fabric_links "$1"); do
			echo "link set $link up"
		done
	} | ip -n "$1" -b -
}

# The interfaces of a node, by its name: a query of the kernel costs a process
# each.
fabric_links() {
	local i tier n
	case $1 in
	h*)
		for ((i = 1; i <= FABRIC_P; i++)); do echo "eth$i"; done
		return;;
	esac
	IFS=- read -r _ tier n <<<"$1"
	echo sr0
	if [ "$tier" = t0 ]; then
		for ((i = n; i <= FABRIC_H; i += FABRIC_NT0)); do echo "h$i"; done
		for ((i = 1; i <= FABRIC_NT1; i++)); do echo "t1-$i"; done
	else
		for ((i = 1; i <= FABRIC_NT0; i++)); do echo "t0-$i"; done
	fi
}

fabric_destroy() {
	[ -e "$FABRIC_DIR/nodes" ] || return 0
	sed 's/^/netns del /' "$FABRIC_DIR/nodes" | ip -force -b - 2>/dev/null
	rm -rf "$FABRIC_DIR"
}

# ---------------------------------------------------------------- failures
# All take NS IF, and act on that end of the cable.

# Sets the port down: both ends lose the carrier, and this end loses its routes.
fabric_cut() { ip -n "$1" link set "$2" down; }

fabric_restore() {
	ip -n "$1" link set "$2" up || return
	[ ! -e "$FABRIC_DIR/$1.static" ] || ip -n "$1" -force -b "$FABRIC_DIR/$1.static"
}

# Packets sent here are lost, and neither end notices.
fabric_blackhole() { tc -n "$1" qdisc replace dev "$2" root netem loss 100%; }

# fabric_degrade NS IF NETEM_ARGS...: such as "loss 1%" or "delay 1ms limit 10000".
fabric_degrade() {
	local ns=$1 link=$2
	shift 2
	tc -n "$ns" qdisc replace dev "$link" root netem "$@"
}

fabric_heal() { tc -n "$1" qdisc del dev "$2" root 2>/dev/null || true; }

# fabric_tap NS IF PEER_NS PEER_IF: leads that cable through the namespace
# "tap", whose ends of it are "left" and "right". A program there passes frames
# on: checksums are complete and packets are not merged. Call it before any
# address is given.
fabric_tap() {
	ip netns add tap && ip -n "$1" link del "$2" || return
	fabric__sysctl tap 'echo 1 >all/disable_ipv6; echo 1 >default/disable_ipv6'
	{
		fabric__cable "$1" "$2" tap left
		fabric__cable "$3" "$4" tap right
	} | ip -b - || return
	ip -n tap link set left up && ip -n tap link set right up || return
	while [ $# -gt 0 ]; do
		ip -n "$1" link set "$2" up || return
		fabric_in "$1" ethtool -K "$2" tx off tso off gso off tx-gso-list off >/dev/null || return
		shift 2
	done
}

# ------------------------------------------------- SRv6 by hand, with ip(8)

fabric__sid() {		# USID
	echo "route replace $FABRIC_BLOCK:$1::/48 encap seg6local action End" \
		"flavors next-csid lblen 32 nflen 16 dev sr0"
}

fabric__route() {	# USID GATEWAY DEVICE
	echo "route replace $FABRIC_BLOCK:$1::/48 via fe80::$2 dev $3"
}

fabric__address() {	# DEVICE NUMBER
	echo "address replace fe80::$2/64 dev $1 nodad"
}

fabric__program_host() {	# HOST
	local i=$1 p t0 REPLY
	fabric_host_t0 "$i"
	t0=$REPLY
	for ((p = 1; p <= FABRIC_P; p++)); do
		fabric__address "eth$p" 1
		fabric_usid_t0 $p "$t0"
		fabric__route "$REPLY" 2 "eth$p metric $((1024 + p))"	# or the next plane's alike replaces it
	done
}

fabric__program_t0() {		# PLANE N
	local p=$1 n=$2 i REPLY
	fabric_usid_t0 "$p" "$n"
	fabric__sid "$REPLY"
	for ((i = n; i <= FABRIC_H; i += FABRIC_NT0)); do
		fabric__address "h$i" 2
		fabric_usid_host "$p" $i
		fabric__route "$REPLY" 1 "h$i"
	done
	for ((i = 1; i <= FABRIC_NT1; i++)); do
		fabric__address "t1-$i" 1
		fabric_usid_t1 "$p" $i
		fabric__route "$REPLY" 2 "t1-$i"
	done
}

fabric__program_t1() {		# PLANE N
	local p=$1 n=$2 i REPLY
	fabric_usid_t1 "$p" "$n"
	fabric__sid "$REPLY"
	for ((i = 1; i <= FABRIC_NT0; i++)); do
		fabric__address "t0-$i" 2
		fabric_usid_t0 "$p" $i
		fabric__route "$REPLY" 1 "t0-$i"
	done
}

# The configuration of a node is kept, for fabric_restore.
fabric__program() {
	local ns=$1 plane tier n
	IFS=- read -r plane tier n <<<"$ns"
	case $tier in
	t0) fabric__program_t0 "${plane#p}" "$n";;
	t1) fabric__program_t1 "${plane#p}" "$n";;
	*) fabric__program_host "${ns#h}";;
	esac >"$FABRIC_DIR/$ns.static"
	# shellcheck disable=SC2016
	fabric__sysctl "$ns" 'echo 1 >all/forwarding; for i in *; do echo 1 >$i/seg6_enabled; done'
	ip -n "$ns" -b "$FABRIC_DIR/$ns.static"
}

fabric_program_static() {
	fabric_load
	fabric__each_node fabric__program
}

# --------------------------------------------------------- mrcd's description

fabric__toml_switch() {	# TIER PLANE INDEX
	printf '\n[[switch]]\nname = "p%d-t%d-%d"\ntier = %d\nplane = %d\nindex = %d\n' \
		"$2" "$1" "$3" "$1" "$2" "$3"
}

fabric__toml_t0() {
	local t
	fabric__toml_switch 0 "$1" "$2"
	for ((t = 1; t <= FABRIC_NT1; t++)); do
		printf '[[switch.link]]\nport = "t1-%d"\npeer = "p%d-t1-%d"\npeer_port = "t0-%d"\n' \
			$t "$1" $t "$2"
	done
}

fabric__toml_t1() { fabric__toml_switch 1 "$1" "$2"; }

fabric__toml_host() {
	local i=$1 p REPLY
	printf '\n[[host]]\nname = "h%d"\nindex = %d\ndevice = "mrc0"\n' "$i" "$i"
	fabric_host_addr "$i"
	printf 'addresses = ["%s/64", "10.77.0.%d/24"]\n' "$REPLY" "$i"
	fabric_host_t0 "$i"
	for ((p = 1; p <= FABRIC_P; p++)); do
		printf '[[host.port]]\nplane = %d\nnetdev = "eth%d"\n' $p $p
		printf 'switch = "p%d-t0-%d"\nswitch_port = "h%d"\n' $p "$REPLY" "$i"
	done
}

# fabric_toml HOSTS PLANES T0S T1S [EVS_PER_PLANE]
fabric_toml() {
	local FABRIC_H=$1 FABRIC_P=$2 FABRIC_NT0=$3 FABRIC_NT1=$4
	cat <<-TOML
		[fabric]
		block = "$FABRIC_BLOCK::/32"
		prefix = "fd00:6d72:63::/64"

		[usid]
		plane_stride = 0x1000
		t0_base = 0x000
		t1_base = 0x100
		host_base = 0x200

		[planes]
		count = $FABRIC_P

		[profile]
		id = 1
		evs_per_plane = ${5:-4}
	TOML
	fabric_each_switch fabric__toml_t0 fabric__toml_t1
	fabric_each_host fabric__toml_host
}
