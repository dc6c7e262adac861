# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# mrc.sh - MRC devices in the namespaces of a fabric, and programs over them.
#
#	. "$here/../lib/lib.sh"
#	. "$here/../lib/fabric.sh"
#	. "$here/../lib/mrc.sh"
#	mrc_begin                       # plug-in, module; undone at exit
#	mrc_one_plane                   # h1 -- h2, "rdma link add" on both ends
#	mrc_fabric_by_hand 2 4 2 2      # or: ip and mrcctl
#	mrc_fabric_mrcd 2 4 2 2         # or: one mrcd per node
#	mrc_verify 60 -o write -n 100   # h1 to h2, both ends must succeed
#
# Host i is namespace h<i>, with the addresses fd00:6d72:63::<i> and 10.77.0.<i>. Functions that
# find a value set REPLY and do not print it: every process costs tens of milliseconds on an
# emulated machine. For the same reason counters are read from sysfs and /proc where possible.

MRC_DIR=${MRC_DIR:-/run/mrc-test}
MRC_EVS=${MRC_EVS:-8}			# EVs per plane: each path through a T1 several times
MRC_PROFILE=1
MRC_PERF_TO=10.77.0.2			# where perftest's server is asked for, by TCP
MRC_STALL=60				# mrc_verify gives up after so many seconds of nothing
# The RDMA device of each namespace: names of RDMA devices are global.
declare -A MRC_IBDEV=()
declare -A MRC_PID=()			# of mrc_start's programs, by name

. "$MRC_TOP/selftests/lib/why.sh"
PATH=$MRC_TOP/build/daemon:$MRC_TOP/build/tools:$MRC_TOP/build/verbs:$PATH

# ---------------------------------------------------------------- beginning

# mrc_begin [PROGRAM...]: checks the needs of every test, and the named programs; loads plug-in and
# module.
mrc_begin() {
	need_root
	need_cmd ip tc rdma nsenter jq "$@"
	mkdir -p "$MRC_DIR"
	[ -p "$MRC_DIR/never" ] || mkfifo "$MRC_DIR/never"
	mrc_setup_plugin || ksft_skip_all "needs the plug-in in $MRC_TOP/build/lib"
	at_exit mrc_unload
	need_mrc
	modprobe ib_uverbs
	at_exit mrc_cleanup
}

# Installs the plug-in where Debian's libibverbs looks for it. The machine's root is an overlay that
# is thrown away.
mrc_setup_plugin() {
	local so dir
	for so in "$MRC_TOP"/build/lib/libmrc-rdmav*.so; do
		[ -e "$so" ] || return 1
		for dir in /usr/lib/*/libibverbs; do
			[ ! -d "$dir" ] || cp -u "$so" "$dir/"
		done
	done
	mkdir -p /etc/libibverbs.d
	echo "driver mrc" >/etc/libibverbs.d/mrc.driver
}

# ib_core releases the module when the last program has closed its device.
mrc_unload() {
	[ -d /sys/module/mrc ] || return 0
	wait_until 10 rmmod mrc
}

# mrc_force_out: unloads the module although QPs of programs hold it, in the documented way: without
# devices there are no QPs. rmmod may still be refused for a moment.
mrc_force_out() {
	local host REPLY
	! rmmod mrc || return
	for host in h1 h2; do
		mrc_ibdev $host || return
		ip -n $host link del mrc0 2>/dev/null || fabric_in $host rdma link delete "$REPLY" || return
	done
	mrc_until 300 rmmod mrc
}

mrc_cleanup() {
	mrc_stop_all
	fabric_destroy
	MRC_IBDEV=()
}

# mrc_sleep SECS: sleeps without a process.
mrc_sleep() { local REPLY; read -rt "$1" <>"$MRC_DIR/never" || :; }

# mrc_until SECS CMD...: as wait_until, but without a process per round.
mrc_until() {
	local end=$((${EPOCHREALTIME/[.,]/} + $1 * KSFT_PATIENCE * 1000000))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "${EPOCHREALTIME/[.,]/}" -lt $end ] || return 1
		mrc_sleep 0.1
	done
}

# ----------------------------------------------------------------- devices

# mrc_clear: removes the fabric before this one, and its devices. These end a little later and have
# the same GIDs.
mrc_clear() {
	fabric_destroy || :
	MRC_IBDEV=()
	mrc_until 60 mrc_no_devices
}

mrc_no_devices() { ! compgen -G '/sys/class/infiniband/mrc*'; }

# mrc_cable: h1 and h2 with a veth pair between their eth1, and nothing on it.
mrc_cable() {
	mrc_clear || return
	mkdir -p "$FABRIC_DIR"
	printf 'h1\nh2\n' >"$FABRIC_DIR/nodes"
	echo "2 1 1 1" >"$FABRIC_DIR/size"
	fabric_load
	sed 's/^/netns add /' "$FABRIC_DIR/nodes" | ip -b - || return
	fabric__no_dad h1
	fabric__no_dad h2
	fabric__cable h1 eth1 h2 eth1 | ip -b -
}

# mrc_one_plane: mrc_cable, and each eth1 has the addresses of its device itself, as with rxe.
mrc_one_plane() {
	local i
	mrc_cable || return
	for i in 1 2; do
		fabric_host_addr $i
		ip -n h$i -b - <<-BATCH || return
			link set lo up
			link set eth1 up
			address add $REPLY/64 dev eth1 nodad
			address add 10.77.0.$i/24 dev eth1
		BATCH
		fabric_in h$i rdma link add "mrc$i" type mrc netdev eth1 || return
	done
	mrc_wait_devices && mrc_neighbours
}

# mrc_neighbours: waits until h1 and h2 have resolved each other. At RTR, ib_core gives the
# neighbour discovery one second, which the first one over a new cable may need.
mrc_neighbours() {
	mrc_until 20 fabric_in h1 ping -q -c 1 -W 2 fd00:6d72:63::2 &&
		mrc_until 20 fabric_in h2 ping -q -c 1 -W 2 fd00:6d72:63::1 &&
		mrc_until 20 fabric_in h1 ping -q -c 1 -W 2 10.77.0.2
}

# mrc_qp_of HOST KEY: sets REPLY to the value of KEY of its first QP that sends.
mrc_qp_of() {
	mrcctl -n "$1" -j qp show |
		jq "[.[] | select(.state == \"rts\" or .state == \"RTS\")][0].$2"
}

# mrc_fabric_by_hand HOSTS PLANES T0S T1S
mrc_fabric_by_hand() {
	mrc_clear && fabric_build "$@" || return
	fabric_program_static || return
	fabric_each_host mrc_host_by_hand || return
	mrc_wait_devices
}

# mrc_host_by_hand HOST: does by ip and mrcctl what mrcd would do.
mrc_host_by_hand() {
	local i=$1 p REPLY
	{
		echo "link add mrc0 type mrc"
		for ((p = 1; p <= FABRIC_P; p++)); do
			echo "link set eth$p master mrc0"
		done
		fabric_host_addr "$i"
		echo "address add $REPLY/64 dev mrc0 nodad"
		echo "address add 10.77.0.$i/24 dev mrc0"
		echo "link set mrc0 up"
	} | ip -n "h$i" -b - || return
	for ((p = 1; p <= FABRIC_P; p++)); do
		fabric_usid_host $p "$i"
		mrcctl -n "h$i" plane set dev mrc0 plane $p sid "$FABRIC_BLOCK:$REPLY::" || return
	done
	for ((p = 1; p <= FABRIC_H; p++)); do
		[ $p -eq "$i" ] || mrc_profiles_by_hand "$i" $p || return
	done
}

# mrc_profiles_by_hand FROM TO: sets the same EVs for both GIDs of the other host. MRC_FOR_ANY=1
# (two hosts only): sets one profile for any destination, the only kind in mrc_ctl.h.
mrc_profiles_by_hand() {
	local from=$1 to=$2 p e evs=() REPLY
	for ((p = 1; p <= FABRIC_P; p++)); do
		for ((e = 0; e < MRC_EVS; e++)); do
			evs+=(ev "$p" "$(fabric_path "$from" "$to" $p $((e % FABRIC_NT1 + 1)))")
		done
	done
	if [ "${MRC_FOR_ANY:-0}" = 1 ]; then
		mrcctl -n "h$from" profile set dev mrc0 id $MRC_PROFILE fmt srv6 mode exp "${evs[@]}"
		return
	fi
	fabric_host_addr "$to"
	for e in "$REPLY" "10.77.0.$to"; do
		mrcctl -n "h$from" profile set dev mrc0 id $MRC_PROFILE dst "$e" \
			fmt srv6 mode exp "${evs[@]}" || return
	done
}

# mrc_fabric_mrcd HOSTS PLANES T0S T1S: cables only; everything else is mrcd's.
mrc_fabric_mrcd() {
	local ns
	mrc_clear && fabric_build "$@" || return
	fabric_toml "$@" "$MRC_EVS" >"$FABRIC_DIR/fabric.toml"
	while read -r ns; do
		mrc_mrcd "$ns"
	done <"$FABRIC_DIR/nodes"
	mrc_until 120 mrc__all_ready || { mrc__not_ready; return 1; }
	mrc_wait_devices
}

# mrc_mrcd NODE: starts or restarts its daemon.
mrc_mrcd() {
	rm -f "$FABRIC_DIR/$1.ready"
	mrc_start "mrcd-$1" "$1" mrcd -c "$FABRIC_DIR/fabric.toml" -n "$1" \
		--ready-file "$FABRIC_DIR/$1.ready"
}

mrc_mrcd_ready() { [ -e "$FABRIC_DIR/$1.ready" ]; }

mrc__all_ready() {
	local ns
	while read -r ns; do
		mrc_mrcd_ready "$ns" || return
	done <"$FABRIC_DIR/nodes"
}

mrc__not_ready() {
	local ns
	while read -r ns; do
		mrc_mrcd_ready "$ns" && continue
		echo "mrcd of $ns is not ready: $(tail -n 5 "$MRC_DIR/mrcd-$ns.out")"
	done <"$FABRIC_DIR/nodes"
}

# Work items register devices and add GIDs, after the commands that cause it.
mrc_wait_devices() { mrc_until 20 mrc__devices; }

mrc__devices() {
	local i
	for ((i = 1; i <= FABRIC_H; i++)); do
		mrc_gid_index "h$i" v6 && mrc_gid_index "h$i" v4 || return
		[[ $(<"/sys/class/infiniband/${MRC_IBDEV[h$i]}/ports/1/state") = *ACTIVE ]] || return
	done
}

# mrc_gid_index HOST v6|v4: REPLY is the index of its GID; notes the device, too.
mrc_gid_index() {
	local want file gid dev
	case $2 in
	v6) printf -v want 'fd00:6d72:0063:0000:0000:0000:0000:%04x' "${1#h}";;
	v4) printf -v want '0000:0000:0000:0000:0000:ffff:0a4d:%04x' "${1#h}";;
	esac
	for dev in /sys/class/infiniband/*; do
		for file in "$dev"/ports/1/gids/{0..9}; do
			read -r gid 2>/dev/null <"$file" || continue
			[ "$gid" = "$want" ] || continue
			MRC_IBDEV[$1]=${dev##*/}
			REPLY=${file##*/}
			return
		done
	done
	return 1
}

# mrc_ibdev HOST: REPLY is the RDMA device of the namespace.
mrc_ibdev() { mrc_gid_index "$1" v6 && REPLY=${MRC_IBDEV[$1]}; }

# mrc_profiles_again HOST: creates its profiles again from the words that show them, and compares.
mrc_profiles_again() {
	local words dst all same
	while read -ra words; do
		words[3]=99	# dev DEV id ID
		mrcctl -n "$1" profile set "${words[@]}" || return
	done < <(mrcctl -n "$1" -d profile show)
	all=$(mrcctl -n "$1" -j profile show)
	same=$(jq '[(map(select(.id == 99)), map(select(.id != 99))) | map(del(.id)) | sort] | .[0] == .[1]' <<<"$all")
	for dst in $(jq -r '.[] | select(.id == 99) | .dst // "any"' <<<"$all"); do
		words=(dst "$dst")
		[ "$dst" != any ] || words=()
		mrcctl -n "$1" profile del dev mrc0 id 99 "${words[@]}" || return
	done
	[ "$same" = true ]
}

# ---------------------------------------------------------------- counters

# mrc_stat HOST COUNTER: sets REPLY to the device's counter, which is at most 10 ms old.
mrc_stat() { read -r REPLY <"/sys/class/infiniband/${MRC_IBDEV[$1]}/ports/1/hw_counters/$2"; }

# mlx5's names for counters that also have our names.
MRC_STATS_TWICE=" duplicate_request local_ack_timeout_err np_ecn_marked_roce_packets out_of_buffer \
packet_seq_err resp_remote_access_errors rnr_nak_retry_err rx_icrc_encapsulated lifespan "

# mrc_stats HOST: sets REPLY to all counters, each once, as "NAME VALUE" lines.
mrc_stats() {
	local file value all=''
	for file in "/sys/class/infiniband/${MRC_IBDEV[$1]}/ports/1/hw_counters"/*; do
		[[ $MRC_STATS_TWICE != *" ${file##*/} "* ]] || continue
		read -r value <"$file"
		all+="${file##*/} $value"$'\n'
	done
	REPLY=$all
}

# mrc_stats_diff OLD NEW: REPLY is "NAME+DELTA ..." of what changed.
mrc_stats_diff() {
	local name old new diff=''
	while read -r name old && read -r _ new <&3; do
		[ "$old" = "$new" ] || diff+="${diff:+ }$name+$((new - old))"
	done <<<"${1%$'\n'}" 3<<<"${2%$'\n'}"
	REPLY=$diff
}

# mrc_retransmitted HOST: REPLY is the sum over all reasons.
mrc_retransmitted() {
	local why sum=0
	for why in rack nack trim rto plane rnr sleek; do
		mrc_stat "$1" rtx_$why
		sum=$((sum + REPLY))
	done
	REPLY=$sum
}

# mrc_lost FROM TO: sets REPLY to the number of packets lost on the way. A spurious retransmission,
# because the emulated machine stood still, is no loss. Neither is a first copy that arrives when
# its successor has used the memory (rx_bad_icrc). The last of these may meet a QP that is gone, so
# a few remain even without any loss.
mrc_lost() {
	local lost
	mrc_retransmitted "$1"
	lost=$REPLY
	mrc_stat "$2" rx_dup
	lost=$((lost - REPLY))
	mrc_stat "$2" rx_bad_icrc
	REPLY=$((lost - REPLY))
}

# mrc_still HOST: no counter of it moves.
mrc_still() {
	local before
	mrc_stats "$1"
	before=$REPLY
	mrc_sleep 0.5
	mrc_stats "$1"
	[ "$before" = "$REPLY" ]
}

# Counters of drops that stay 0 in a correct run. (Not rx_unknown_qp: the last SACK may arrive when
# its QP is gone.)
MRC_BAD_COUNTERS="rx_malformed rx_bad_icrc rx_wrong_source rx_bad_sid rx_bad_pkey
	rx_bad_resp rx_bad_ack rx_place_failed naks_access naks_invalid tx_errors tx_too_long
	cq_overruns"

# mrc_backlog_drops: sets REPLY to the number of packets that this kernel's receive backlog dropped
# since boot: on a slow machine a veth delivers faster than softirqs process.
mrc_backlog_drops() {
	local fields
	REPLY=0
	while read -ra fields; do
		REPLY=$((REPLY + 16#${fields[1]}))
	done </proc/net/softnet_stat
}

# mrc_expect_clean [EXCEPT...]: succeeds if these counters are 0 on all hosts.
mrc_expect_clean() {
	local i name bad='' backlog except=" $* "
	mrc_backlog_drops
	backlog=$REPLY
	for ((i = 1; i <= FABRIC_H; i++)); do
		for name in $MRC_BAD_COUNTERS; do
			[[ $except != *" $name "* ]] || continue
			mrc_stat h$i "$name" || return
			[ "$name" != tx_errors ] || [ "$REPLY" -gt "$backlog" ] || continue
			[ "$REPLY" -eq 0 ] || bad+=" h$i:$name=$REPLY"
		done
	done
	[ -z "$bad" ] || { echo "counted:$bad"; return 1; }
}

# mrc_plane_pkts NAME PLANE tx|rx: sets REPLY to the packets through eth<plane> of the namespace in
# which the program NAME runs; 0 for a deleted plane. Fails as long as the program is not there yet:
# 0 for all planes would make earlier packets look like its own.
mrc_plane_pkts() {
	local line fields there=1
	while read -r line; do
		[[ $line != eth* ]] || there=0
		[[ $line = "eth$2:"* ]] || continue
		read -ra fields <<<"${line#*:}"
		[ "$3" = tx ] && REPLY=${fields[9]} || REPLY=${fields[1]}
		return
	done <"/proc/${MRC_PID[$1]}/net/dev"
	REPLY=0
	return $there
}

# mrc_plane_rates NAME tx|rx [SECS]: sets REPLY to the packets per plane in that time, "N1 N2 ...".
mrc_plane_rates() {
	local p before=() rates=
	for ((p = 1; p <= FABRIC_P; p++)); do
		mrc_plane_pkts "$1" $p "$2" || return
		before[p]=$REPLY
	done
	mrc_sleep "${3:-1}"
	for ((p = 1; p <= FABRIC_P; p++)); do
		mrc_plane_pkts "$1" $p "$2" || return
		rates+="$((REPLY - before[p])) "
	done
	REPLY=$rates
}

# Packets per second on a plane: at most this many without traffic (router solicitations, probes),
# and at least this many with traffic.
MRC_IDLE=12

# mrc_plane_used NAME PLANE tx|rx / mrc_plane_unused: by the rates of half a second. A plane counts
# as unused only if the others have more than twice MRC_IDLE on average: of few packets, each plane
# gets few.
mrc_plane_used() {
	local rates
	mrc_plane_rates "$1" "$3" 0.5 || return
	read -ra rates <<<"$REPLY"
	echo "packets per plane: $REPLY"
	[ "${rates[$2 - 1]}" -gt $MRC_IDLE ]
}

mrc_plane_unused() {
	local rates p sum=0
	mrc_plane_rates "$1" "$3" 0.5 || return
	read -ra rates <<<"$REPLY"
	echo "packets per plane: $REPLY"
	for ((p = 0; p < FABRIC_P; p++)); do
		[ $p -eq $(($2 - 1)) ] || sum=$((sum + rates[p]))
	done
	[ "${rates[$2 - 1]}" -le $MRC_IDLE ] && [ $sum -gt $((MRC_IDLE * 2 * (FABRIC_P - 1))) ]
}

# mrc_evs HOST STATE: REPLY is how many EVs of its path sets are good, skip,
# assumed-bad or denied.
mrc_evs() { REPLY=$(mrcctl -n "$1" -j ev show state "$2" | jq length); }

mrc_evs_are() {		# HOST STATE -eq|-gt|... NUMBER
	mrc_evs "$1" "$2"
	echo "$2: $REPLY, expected $3 $4"
	test "$REPLY" "$3" "$4"
}

# ---------------------------------------------------------------- programs

# mrc_start NAME NS CMD...: starts CMD in the background; output to $MRC_DIR/NAME.out.
mrc_start() {
	local name=$1 ns=$2
	shift 2
	: >"$MRC_DIR/$name.out"		# whoever waits for words of it sees none of an earlier one
	nsenter --net="/run/netns/$ns" -- "$@" >"$MRC_DIR/$name.out" 2>&1 </dev/null &
	MRC_PID[$name]=$!
}

# mrc_alive NAME: succeeds if the program has not ended.
mrc_alive() {
	local stat
	read -r stat 2>/dev/null <"/proc/${MRC_PID[$1]}/stat" || return
	[[ ${stat##*) } != [ZX]* ]]
}

mrc__ended() { ! mrc_alive "$1"; }

# mrc_wait NAME SECS: returns its exit status; kills it and returns 124 if it takes much longer.
mrc_wait() {
	local rc=0 pid=${MRC_PID[$1]}
	if mrc_until "$2" mrc__ended "$1"; then
		wait "$pid" || rc=$?
	else
		kill -KILL "$pid"
		wait "$pid" 2>/dev/null || rc=124
	fi
	unset "MRC_PID[$1]"
	return $rc
}

# mrc_fails NAME SECS: succeeds if the program ends by itself with an error.
mrc_fails() {
	local rc=0
	mrc_wait "$1" "$2" || rc=$?
	echo "status $rc: $(mrc_why_out "$1")"
	[ $rc -ne 0 ] && [ $rc -ne 124 ]
}

# mrc_kill NAME [SIGNAL]: kills the program and waits for its end.
mrc_kill() {
	local pid=${MRC_PID[$1]:-}
	[ -n "$pid" ] || return 0
	kill "-${2:-KILL}" "$pid" 2>/dev/null || :
	wait "$pid" 2>/dev/null || :
	unset "MRC_PID[$1]"
}

mrc_stop_all() {
	local name
	for name in "${!MRC_PID[@]}"; do
		kill -CONT "${MRC_PID[$name]}" 2>/dev/null
		kill -KILL "${MRC_PID[$name]}" 2>/dev/null
	done
	for name in "${!MRC_PID[@]}"; do
		wait "${MRC_PID[$name]}" 2>/dev/null
	done
	MRC_PID=()
}

mrc_out() { tail -n "${2:-8}" "$MRC_DIR/$1.out"; }

# mrc_why_out NAME: likewise, of a program that failed. What it says on its error output comes first, because the other
# is buffered.
mrc_why_out() { awk '{ l[NR] = $0 } END { for (i = 1; i <= NR; i++) if (i <= 4 || i > NR - 8) print l[i] }' "$MRC_DIR/$1.out"; }

# mrc_listens NAME PORT: succeeds if a program listens on TCP in the namespace of NAME.
mrc_listens() {
	local hex local_address state file
	printf -v hex '%04X' "$2"
	for file in tcp tcp6; do
		while read -r _ local_address _ state _; do
			[ "${local_address##*:}" != "$hex" ] || [ "$state" != 0A ] || return 0
		done <"/proc/${MRC_PID[$1]}/net/$file"
	done
	return 1
}

# mrc_pair SECS PORT SERVER [ARG...] -- CLIENT [ARG...]: runs the server in h2, then the client in
# h1; both must succeed within the time. Their names are "server" and "client".
mrc_pair() {
	local secs=$1
	shift
	mrc_pair_start "$@" && mrc_pair_wait "$secs"
}

mrc_pair_start() {
	local port=$1 server=()
	shift
	while [ "$1" != -- ]; do
		server+=("$1")
		shift
	done
	shift
	mrc_start server h2 "${server[@]}"
	if ! mrc_until 30 mrc_listens server "$port"; then
		echo "the server does not listen: $(mrc_out server)"
		return 1
	fi
	mrc_start client h1 "$@"
}

# mrc_pair_wait SECS: runs the command MRC_MEANWHILE first, while both programs run.
mrc_pair_wait() {
	local rc1=0 rc2=0 rc=0
	"${MRC_MEANWHILE:-:}" || rc=1
	mrc_wait client "$1" || rc1=$?
	# Without its client the server may wait for ever.
	mrc_wait server $((rc1 ? 2 : 10)) || rc2=$?
	if [ $((rc1 + rc2)) -ne 0 ]; then
		echo "client: status $rc1: $(mrc_why_out client)"
		echo "server: status $rc2: $(mrc_why_out server)"
		mrc_why
		return 1
	fi
	return $rc
}

# ---- particular programs; each run has another port, so that nothing waits for an old TCP
# connection

MRC_PORT=18600

# mrc_pingpong SECS v6|v4 [ARG...]: MRC_PINGPONG=ibv_srq_pingpong for another of them.
mrc_pingpong() {
	local secs=$1 family=$2 server client to
	shift 2
	MRC_PORT=$((MRC_PORT + 1))
	mrc_gid_index h2 "$family" && server=$REPLY || return
	mrc_gid_index h1 "$family" && client=$REPLY || return
	to=10.77.0.2
	mrc_pair "$secs" $MRC_PORT \
		"${MRC_PINGPONG:-ibv_rc_pingpong}" -d "${MRC_IBDEV[h2]}" -g "$server" -p $MRC_PORT "$@" -- \
		"${MRC_PINGPONG:-ibv_rc_pingpong}" -d "${MRC_IBDEV[h1]}" -g "$client" -p $MRC_PORT "$@" "$to"
}

# mrc_to_itself v6|v4 [ARG...]: starts a pair of ibv_rc_pingpong on h1, over lo.
mrc_to_itself() {
	local family=$1 gid
	shift
	mrc_gid_index h1 "$family" && gid=$REPLY || return
	MRC_PORT=$((MRC_PORT + 1))
	mrc_start server h1 ibv_rc_pingpong -d "${MRC_IBDEV[h1]}" -g "$gid" -p $MRC_PORT "$@" &&
		mrc_until 30 mrc_listens server $MRC_PORT || return
	mrc_start client h1 ibv_rc_pingpong -d "${MRC_IBDEV[h1]}" -g "$gid" -p $MRC_PORT "$@" 127.0.0.1
}

# mrc_receives HOST: succeeds if packets arrive for its QPs.
mrc_receives() {
	local was
	mrc_stat "$1" rx_pkts
	was=$REPLY
	mrc_sleep 0.2
	mrc_stat "$1" rx_pkts
	[ "$REPLY" -gt "$was" ]
}

# mrc_perf SECS PROGRAM [ARG...] / mrc_perf_start PROGRAM [ARG...]: runs a program of perftest. Its
# default timeout, 14, is half a second with all retries; a slow machine stands still for longer.
mrc_perf() {
	local secs=$1
	shift
	mrc_perf_start "$@" && mrc_pair_wait "$secs"
}

mrc_perf_start() {
	local program=$1 server client
	shift
	MRC_PORT=$((MRC_PORT + 1))
	mrc_gid_index h2 v6 && server=$REPLY || return
	mrc_gid_index h1 v6 && client=$REPLY || return
	mrc_pair_start $MRC_PORT \
		"$program" -F -u 18 -d "${MRC_IBDEV[h2]}" -x "$server" -p $MRC_PORT "$@" -- \
		"$program" -F -u 18 -d "${MRC_IBDEV[h1]}" -x "$client" -p $MRC_PORT "$@" "$MRC_PERF_TO"
}

# mrc_verify SECS [ARG...] / mrc_verify_start [ARG...]: checks every byte. It sleeps on events,
# because two programs that spin leave no CPU to the softirqs.
mrc_verify() {
	local secs=$1
	shift
	mrc_verify_start "$@" && mrc_pair_wait "$secs"
}

mrc_verify_start() {
	MRC_PORT=$((MRC_PORT + 1))
	fabric_host_addr 2
	mrc_pair_start $MRC_PORT mrc_verify -e -T $MRC_STALL -d "${MRC_IBDEV[h2]}" -p $MRC_PORT -- \
		mrc_verify -e -T $MRC_STALL -d "${MRC_IBDEV[h1]}" -p $MRC_PORT "$@" "$REPLY"
}

# mrc_harness HOST NAME PROGRAM: runs a test program on kselftest_harness.h on the device of HOST;
# its tests become tests of ours.
mrc_harness() {
	local verdict name out=$MRC_DIR/$2.out
	mrc_ibdev "$1"
	mrc_start "$2" "$1" env MRC_TEST_DEV="$REPLY" "$3"
	mrc_wait "$2" 1200 || true
	ksft_test "$3: all cases ran" grep -q '^# Totals' "$out"
	while read -r verdict _ name; do
		case $verdict in
		ok) ksft_pass "$name";;
		not) ksft_fail "${name#* }" "$(grep -F "${name##*.}:" "$out" | head -n 5)";;
		esac
	done < <(grep -E '^(not )?ok ' "$out")
}

# mrc_flows [SECS]: waits until a QP of h1 sends and packets flow on all planes. Without the QP, the
# packets of its program's TCP connection would be enough on a slow machine.
mrc_flows() { mrc_until "${1:-20}" mrc__has_qp h1 && mrc_until "${1:-20}" mrc__flows_once; }

mrc__flows_once() {
	local rates p
	mrc_plane_rates client tx 0.3 || return
	read -ra rates <<<"$REPLY"
	for ((p = 0; p < FABRIC_P; p++)); do
		[ "${rates[p]}" -gt $MRC_IDLE ] || return
	done
}

mrc__has_qp() { [[ $(mrc_qp_of "$1" qpn) = [0-9]* ]]; }

# mrc_nodes NAME...: creates a fabric of these namespaces with two planes, and without cables.
mrc_nodes() {
	local node
	mrc_clear || return
	mkdir -p "$FABRIC_DIR"
	printf '%s\n' "$@" >"$FABRIC_DIR/nodes"
	echo "2 2 1 1" >"$FABRIC_DIR/size"
	fabric_load
	for node; do
		ip netns add "$node" && ip -n "$node" link set lo up || return
	done
}

# mrc_resources: sets REPLY to the number of QPs, CQs, MRs and PDs of all our devices that belong to
# programs, or to kernel users other than ib_core, which has QP 1 and its objects.
mrc_resources() {
	REPLY=$(rdma -j res show | jq '[.[] | select(.ifname | startswith("mrc")) |
		.qp + .cq + .mr + .pd - 3] | add // 0')
}

mrc_no_resources() {
	mrc_resources
	echo "$REPLY objects left: $(rdma res show)"
	[ "$REPLY" -eq 0 ]
}
