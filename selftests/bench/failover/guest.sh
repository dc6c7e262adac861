#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# guest.sh - inside User-Mode Linux: one failure, at several phases of the traffic.
#
#	guest.sh RTT_US RATE_MBIT EVS CC WINDOW CASE PHASES
#
#	      p1: 10 Gb/s and half of the round trip, either way
#	    /    \
#	h1 -- p2 -- h2		what fails is p2 or its cables
#	   \- p3 -/		p<n> routes by SRv6 uSIDs, one per EV of a host
#	    \ p4 /
#
# CC is fixed or nscc, WINDOW its bytes. From one phase to the next the failure comes
# 0.317 round trips later, the module's random numbers begin elsewhere (MRC_SEED is the
# first phase's), and the devices are new, so that none knows of the one before. Packets
# and messages go to $VMOUT/<phase>.trace and .log.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../../lib/lib.sh"
. "$here/../../lib/fabric.sh"
. "$here/../../lib/mrc.sh"

RTT=$1 RATE=$2 EVS=$3 CC=$4 WINDOW=$5 CASE=$6 PHASES=$7
DIR=$MRC_DIR
SIZE=65536

# ------------------------------------------------------------------- fabric

# p<plane> has one uSID per EV; a T1 of a real fabric would have one of each plane.
sid() { printf -v REPLY '%x' $(($1 * 0x1000 + $2 + 1)); }	# PLANE EV

cable() {	# HOST PLANE
	echo "link add eth$2 netns h$1 address 02:00:00:0$1:0$2:01 mtu 9000 type veth peer" \
		"name h$1 netns p$2 address 02:00:00:0$1:0$2:02 mtu 9000"
}

# What a node loses with its link, as a batch for ip; neighbours are known, so that
# their discovery is not what is measured.
host_link() {	# HOST PLANE
	local e REPLY
	echo "address replace fe80::1/64 dev eth$2 nodad"
	echo "neigh replace fe80::2 lladdr 02:00:00:0$1:0$2:02 dev eth$2 nud permanent"
	for ((e = 0; e < EVS; e++)); do
		sid "$2" $e
		echo "route replace $FABRIC_BLOCK:$REPLY::/48 via fe80::2 dev eth$2"
	done
}

plane_link() {	# HOST PLANE
	local REPLY
	fabric_usid_host "$2" "$1"
	echo "address replace fe80::2/64 dev h$1 nodad"
	echo "neigh replace fe80::1 lladdr 02:00:00:0$1:0$2:01 dev h$1 nud permanent"
	echo "route replace $FABRIC_BLOCK:$REPLY::/48 via fe80::1 dev h$1"
}

plane_sids() {	# PLANE FIRST_EV
	local e REPLY
	for ((e = $2; e < EVS; e++)); do
		sid "$1" $e
		echo "route replace $FABRIC_BLOCK:$REPLY::/48 encap seg6local action End" \
			"flavors next-csid lblen 32 nflen 16 dev sr0"
	done
}

blackhole_sids() {	# PLANE FIRST_EV
	plane_sids "$@" | sed 's/route replace \([^ ]*\) .*/route replace blackhole \1/'
}

netem() {	# HOST LOSS: the plane's queue towards it
	echo "dev h$1 root netem delay $((RTT / 2))us rate ${RATE}mbit limit 1000000 loss $2%"
}

make_plane() {	# PLANE
	local host
	{
		echo "link set lo up"
		echo "link add sr0 type dummy"
		echo "link set sr0 up"
		for host in 1 2; do
			echo "link set h$host up"
			plane_link $host "$1"
		done
		plane_sids "$1" 0
	} | ip -n "p$1" -b -
	for host in 1 2; do
		echo "qdisc replace $(netem $host 0)"
	done | tc -n "p$1" -b -
}

make_fabric() {
	local node host plane
	for node in h1 h2 p1 p2 p3 p4; do echo "netns add $node"; done | ip -b -
	for node in h1 h2 p1 p2 p3 p4; do
		# shellcheck disable=SC2016
		fabric__sysctl $node 'for i in all default; do
			echo 0 >$i/accept_dad; echo 0 >$i/router_solicitations
			echo 1 >$i/seg6_enabled; done
			case '$node' in p*) echo 1 >all/forwarding;; esac'
	done
	for host in 1 2; do
		for plane in 1 2 3 4; do cable $host $plane; done
	done | ip -b -
	for plane in 1 2 3 4; do make_plane $plane; done
	for host in 1 2; do
		host_link $host 2 >"$DIR/h$host.eth2"
		plane_link $host 2 >"$DIR/p2.h$host"
	done
	plane_sids 2 $((EVS / 2)) >"$DIR/p2.sids"
	blackhole_sids 2 $((EVS / 2)) >"$DIR/p2.nosids"
}

# -------------------------------------------------------------------- hosts

make_host() {	# HOST
	local plane REPLY
	{
		echo "link set lo up"
		echo "link add mrc0 type mrc"
		for plane in 1 2 3 4; do
			echo "link set eth$plane up"
			echo "link set eth$plane master mrc0"
			host_link "$1" $plane
		done
		fabric_host_addr "$1"
		echo "address add $REPLY/64 dev mrc0 nodad"
		echo "link set mrc0 up"
	} | ip -n "h$1" -b -
	for plane in 1 2 3 4; do
		fabric_usid_host $plane "$1"
		mrcctl -n "h$1" plane set dev mrc0 plane $plane sid "$FABRIC_BLOCK:$REPLY::"
	done
	settings "$1"
}

settings() {	# HOST
	local plane e host evs=() REPLY
	if [ "$CC" = nscc ]; then
		mrcctl -n "h$1" cc set dev mrc0 id 1 algorithm nscc base-rtt $((RTT * 1000)) \
			window "$WINDOW" max-cwnd $((WINDOW * 3 / 2))
		mrcctl -n "h$1" dev set dev mrc0 cc-profile 1
	else
		mrcctl -n "h$1" dev set dev mrc0 cwnd "$WINDOW"
	fi
	for plane in 1 2 3 4; do
		fabric_usid_host $plane $((3 - $1))
		host=$REPLY
		for ((e = 0; e < EVS; e++)); do
			sid $plane $e
			evs+=(ev "$plane" "$FABRIC_BLOCK:$REPLY:$host::")
		done
	done
	fabric_host_addr $((3 - $1))
	mrcctl -n "h$1" profile set dev mrc0 id 1 dst "$REPLY" fmt srv6 mode exp "${evs[@]}"
}

hosts_ready() {
	local i
	for i in 1 2; do
		mrc_gid_index h$i v6 || return
		[[ $(<"/sys/class/infiniband/${MRC_IBDEV[h$i]}/ports/1/state") = *ACTIVE ]] || return
	done
}

make_hosts() {	# SEED
	load_mrc "seed=$1"
	make_host 1
	make_host 2
	mrc_until 20 hosts_ready
}

# The 10 Gb/s are the hosts' ports' then, and the planes have the delay alone.
queues_in_hosts() {
	local plane
	for plane in 1 2 3 4; do
		tc -n h1 qdisc replace dev eth$plane root netem rate "${RATE}mbit" limit 1000000
		tc -n p$plane qdisc replace dev h2 root netem delay $((RTT / 2))us limit 1000000
	done
}

# With the module, which begins its random numbers anew.
unmake_hosts() {
	local i
	for i in 1 2; do ip -n h$i link del mrc0; done
	MRC_IBDEV=()
	mrc_until 20 rmmod mrc
}

# -------------------------------------------------------------------- cases
# broken_CASE and mended_CASE print TOOL:NETNS:LINES, what to tell ip or tc there.

broken_own-link() { echo "ip:h1:link set eth2 down"; }
mended_own-link() { echo "ip:h1:link set eth2 up"; cat "$DIR/h1.eth2"; }
# The same with the ports' queues in the host, so that some packets die there.
broken_own-queue() { broken_own-link; }
mended_own-queue() { mended_own-link; }
broken_own-carrier() { echo "ip:p2:link set h1 down"; }
mended_own-carrier() { echo "ip:p2:link set h1 up"; cat "$DIR/p2.h1"; }
broken_peer-port() { echo "ip:h2:link set eth2 down"; }
mended_peer-port() { echo "ip:h2:link set eth2 up"; cat "$DIR/h2.eth2"; }
ways() {	# LOSS HOST...: of p2, towards these
	local loss=$1 host
	shift
	printf 'tc:p2:'
	for host; do echo "qdisc change $(netem "$host" "$loss")"; done
}
broken_black-hole() { ways 100 1 2; }
mended_black-hole() { ways 0 1 2; }
broken_forward() { ways 100 2; }
mended_forward() { ways 0 2; }
broken_reverse() { ways 100 1; }
mended_reverse() { ways 0 1; }
broken_half-evs() { printf 'ip:p2:'; cat "$DIR/p2.nosids"; }
mended_half-evs() { printf 'ip:p2:'; cat "$DIR/p2.sids"; }

# ARGS: what mrc_failover gets for CASE; times in microseconds, 0 is the failure.
arguments() {
	local hole=$((50 * RTT)) i
	# Long round trips have many packets, and little else happens in so many.
	[ $RTT -lt 1000 ] || [ "$CASE" = reverse ] || hole=$((25 * RTT))
	case $CASE in
	none)
		ARGS=(-e $((50 * RTT)))
		;;
	flap)	# the own carrier goes for 2 ms, comes for 20 ms
		ARGS=(-e 132000)
		for ((i = 0; i < 6; i++)); do
			ARGS+=(-c "$((i * 22000)):$(broken_own-carrier)"
				-c "$((i * 22000 + 2000)):$(mended_own-carrier)")
		done
		;;
	lone)	# a small message each ms; p2 does not come back
		ARGS=(-s 4096 -d 64 -i 1000 -e 300000 -c "0:$(broken_black-hole)")
		;;
	hole-*)
		hole=$((${CASE#hole-} * 1000))
		ARGS=(-e $((2 * hole + 20000 + 5 * RTT)) -c "0:$(broken_black-hole)"
			-c "$hole:$(mended_black-hole)")
		;;
	*)
		# Acknowledgements are looked at for longer.
		[ "$CASE" != reverse ] || [ $hole -gt 60000 ] || hole=60000
		ARGS=(-e $((3 * hole)) -c "0:$("broken_$CASE")"
			-c "$hole:$("mended_$CASE")")
		;;
	esac
}

one_phase() {	# NUMBER
	local depth=$((2 * WINDOW / SIZE + 2)) warm=$((25 * RTT)) ns ARGS=()
	[ $warm -ge 5000 ] || warm=5000
	warm=$((warm * 1000 + $1 * 317 * RTT))
	printf -v ns '%03d' $((warm % 1000))
	make_hosts $((MRC_SEED + $1))
	arguments
	mrc_failover -a "${MRC_IBDEV[h1]}" -b "${MRC_IBDEV[h2]}" -p 4 -o "$VMOUT/$1" \
		-s $SIZE -d $depth -w $((warm / 1000)).$ns "${ARGS[@]}" || return
	unmake_hosts
}

[ -e "$MRC_BUILD/mrc.ko" ] || { echo "no $MRC_BUILD/mrc.ko" >&2; exit 3; }
trap - EXIT
mkdir -p "$DIR"
[ -p "$DIR/never" ] || mkfifo "$DIR/never"
mrc_setup_plugin
modprobe ib_uverbs
make_fabric
[ "$CASE" != own-queue ] || queues_in_hosts
for ((phase = 0; phase < PHASES; phase++)); do
	one_phase $phase
done
