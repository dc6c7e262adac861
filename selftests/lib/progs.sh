# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# progs.sh - runs third-party programs in h2 (server) and h1 (client), optionally with a plane cut during the run.
#
#	. "$here/../lib/mrc.sh"
#	. "$here/../lib/progs.sh"
#	progs_gids v6                         # G1, G2: the GIDs' indices, D1, D2: the devices
#	progs_serve 60 19765 qperf -- qperf 10.77.0.2 rc_bw
#	progs_cut perf -n @4000               # with plane 1 cut under it; @N: N rounds, or more

# progs_gids v4|v6
# shellcheck disable=SC2034  # for tests
progs_gids() {
	mrc_gid_index h2 "$1" && G2=$REPLY D2=${MRC_IBDEV[h2]} || return
	mrc_gid_index h1 "$1" && G1=$REPLY D1=${MRC_IBDEV[h1]}
}

# progs_to v4|v6: sets REPLY to the address of h2.
progs_to() { [ "$1" = v6 ] && REPLY=fd00:6d72:63::2 || REPLY=10.77.0.2; }

# progs_serve SECS PORT SERVER [ARG...] -- CLIENT [ARG...]: as mrc_pair, for servers that do not end after one
# client; only the client's status counts.
progs_serve() {
	local secs=$1 rc=0
	shift
	mrc_pair_start "$@" || return
	"${MRC_MEANWHILE:-:}" || rc=1
	mrc_wait client "$secs" || rc=$?
	[ $rc -eq 0 ] || echo "status $rc, client: $(mrc_out client) server: $(mrc_out server)"
	mrc_kill server
	return $rc
}

# progs_longer TIMES ARG...: sets PROGS_ARGS to the arguments, with @N replaced by N times TIMES.
progs_longer() {
	local arg times=$1
	PROGS_ARGS=()
	for arg in "${@:2}"; do
		[[ $arg =~ ^@[0-9]+$ ]] && arg=$((${arg#@} * times))
		PROGS_ARGS+=("$arg")
	done
}

# progs_cut COMMAND...: while it waits for a program (mrc_pair and its like, progs_serve), plane 1 of h1 fails
# once both planes carry data, and comes back. The program must run until then. If it was too quick, on a fast
# machine or one whose clock leaps, it is started again with four times N for each argument @N.
progs_cut() {
	local MRC_MEANWHILE=progs_while_cut progs_early try times=1
	for try in 1 2 3; do
		progs_early=
		progs_longer $times "$@"
		"${PROGS_ARGS[@]}" && return
		[ -n "$progs_early" ] || return 1
		times=$((times * 4))
		mrc_sleep $try
	done
	return 1
}

# shellcheck disable=SC2317  # MRC_MEANWHILE
progs_while_cut() {
	mrc_flows || { progs_early=1; echo "no traffic on both planes: $(mrc_out client)"; return 1; }
	fabric_cut h1 eth1 && mrc_sleep 1 || return
	mrc_alive client || { progs_early=1; echo "the client had ended before the cut"; }
	fabric_restore h1 eth1 && [ -z "$progs_early" ]
}

# progs_moved COUNTER N COMMAND...: succeeds if the command does, and the counter of h1's device (tx_bytes, of
# connections, or tx_dgrams) grew by at least N: so the program used the device and nothing else.
progs_moved() {
	local counter=$1 want=$2 before
	shift 2
	mrc_stat h1 "$counter" && before=$REPLY || return
	"$@" || return
	mrc_stat h1 "$counter"
	echo "$counter moved by $((REPLY - before)), expected $want"
	[ $((REPLY - before)) -ge "$want" ]
}
