#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# kernels: new uml
#
# uid 65534 knows QP numbers and PSNs of uid 1000's connection, guesses keys, and does everything that a user can to disturb it
# (verbs/mrc_fuzz.c -a, a controller's calls by libmrc/mrc_eve.c, datagrams, dumps). The connection must not notice: every
# byte is verified, and its rate is at least half of what it is beside two programs that only compute. A minute;
# MRC_FUZZ_SECS=600 for longer, MRC_FUZZ_SEED for the seeds of a find.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2	one plane

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

secs=${MRC_FUZZ_SECS:-$([ -n "${MRC_FULL:-}" ] && echo 60 || echo 20)}
seed=${MRC_FUZZ_SEED:-$EPOCHSECONDS}
h2=fd00:6d72:63::2

# as UID HOST CMD...
as() { fabric_in "$2" setpriv --reuid "$1" --regid "$1" --clear-groups "${@:3}"; }

# numbers: all that root can know of both ends of the victim's connection.
numbers() {
	local host
	echo "gid $h2"
	for host in h1 h2; do
		mrcctl -n $host -j qp show | jq -r '.[] | "qpn \(.qpn)", (.psn_next, .psn_una, .rx_cack | select(. != null) | "psn \(.)")'
		fabric_in $host rdma -j -dd resource show mr |
			jq -r '.[] | (.rkey, .lkey | select(. != null) | "key \(.)"), (.iova | select(. != null) | "addr \(.)")'
	done
}
publish() { numbers >"$MRC_DIR/prey.new" && chmod 644 "$MRC_DIR/prey.new" && mv "$MRC_DIR/prey.new" "$MRC_DIR/prey"; }
# knows KIND: numbers of that kind are among them.
knows() { grep -c "^$1 " "$MRC_DIR/prey"; }

# progress: REPLY is how many bytes of the victim's have been acknowledged.
progress() { REPLY=$(mrcctl -n h1 -j qp show qpn "$victim" | jq '.[0].stats.tx_bytes // .[0].stats.tx_pkts'); }
declare -A bytes=() us=()
# pace SECS NAME: adds to bytes[NAME] and us[NAME] what passes in so many seconds.
pace() {
	local from began=${EPOCHREALTIME/[.,]/}
	progress
	from=$REPLY
	mrc_sleep "$1"
	progress
	bytes[$2]=$((${bytes[$2]:-0} + REPLY - from))
	us[$2]=$((${us[$2]:-0} + ${EPOCHREALTIME/[.,]/} - began))
}
# share OF IN: REPLY, the rate of the first in hundredths of that of the second.
share() { REPLY=$((bytes[$1] * (us[$2] / 1000) * 100 / (bytes[$2] * (us[$1] / 1000) + 1))); }

# let_all SIGNAL NAME...: for all processes of these programs; each program leads a group.
let_all() {
	local name
	for name in "${@:2}"; do
		kill "-$1" -- "-${MRC_PID[$name]}" 2>/dev/null || :
	done
}
# in_turns: eve runs, then the programs that compute, so that other load of this machine is beside both alike.
in_turns() {
	let_all STOP fuzz eve
	let_all CONT idler1 idler2
	pace 3 computing
	let_all STOP idler1 idler2
	let_all CONT fuzz eve
	pace 3 attacked
}
# keeps_half: after six turns at least; more of them while chance has it otherwise.
keeps_half() {
	local turns=0
	while mrc_alive fuzz && [ $turns -lt 20 ]; do
		in_turns
		turns=$((turns + 1))
		share attacked computing
		[ $turns -lt 6 ] || [ "$REPLY" -lt 50 ] || break
	done
	let_all KILL idler1 idler2
	mrc_wait idler1 10 2>/dev/null || :
	mrc_wait idler2 10 2>/dev/null || :
	let_all CONT fuzz eve
	echo "$REPLY % in $turns turns, expected 50"
	[ "$REPLY" -ge 50 ]
}

moved() { progress && echo "$REPLY, was $1" && [ "$REPLY" -gt "$1" ]; }

# besides: what eve does beside the fuzzer, until it has ended; once at least.
besides() {
	local n=0
	while [ $n -eq 0 ] || mrc_alive fuzz; do
		publish
		as 65534 h1 "$MRC_DIR/mrc_stranger" "${MRC_IBDEV[h1]}" $h2 "$(sed -n 's/^qpn //p' "$MRC_DIR/prey" | shuf -n 1)" >/dev/null 2>&1 || :
		as 65534 h1 mrcctl -j stats show >/dev/null || return
		! as 65534 h1 mrcctl probe dev eth1 peer $h2 >/dev/null 2>&1 || return
		n=$((n + 1))
		mrc_sleep 0.5
	done
	echo "$n rounds"
}
# ended NAME: by itself, and well.
ended() {
	local rc=0
	mrc_wait "$1" $((secs * 3 + 300)) || rc=$?
	echo "status $rc: $(mrc_out "$1" 30)"
	[ $rc -eq 0 ]
}
# sum PROGRAM WHAT N: it counted as many, or more.
sum() {
	REPLY=$(sed -nE "s/(.*[ ^]|^)$2=([0-9]+).*/\2/p" "$MRC_DIR/$1.out" | tail -n 1)
	echo "$2=$REPLY, expected $3 or more: $(mrc_out "$1")"
	[ "${REPLY:-0}" -ge "$3" ]
}
# start NAME CMD...: as uid 65534, the leader of a group.
start() { mrc_start "$1" h1 setsid setpriv --reuid 65534 --regid 65534 --clear-groups "${@:2}"; }

ksft_plan
mrc_begin mrcctl mrc_fuzz mrc_eve mrc_stranger mrc_verify setpriv setsid shuf
install -m 755 "$(type -P mrc_fuzz)" "$(type -P mrc_stranger)" "$(type -P mrc_verify)" "$MRC_DIR/"
install -m 755 "$(type -P mrc_eve)" "$(dirname "$(type -P mrc_eve)")/../lib/libmrc.so.1" "$MRC_DIR/"
chmod 755 "$MRC_DIR"
ksft_comment "seed $seed, $secs s"
ksft_test "one plane" mrc_one_plane
# alice at both ends, without privileges.
victims() {
	MRC_PORT=$((MRC_PORT + 1))
	mrc_pair_start $MRC_PORT \
		setpriv --reuid 1000 --regid 1000 --clear-groups "$MRC_DIR/mrc_verify" -e -T 240 -d "${MRC_IBDEV[h2]}" -p $MRC_PORT -- \
		setpriv --reuid 1000 --regid 1000 --clear-groups "$MRC_DIR/mrc_verify" -e -T 240 -d "${MRC_IBDEV[h1]}" -p $MRC_PORT \
		-u 20 -o mix -q 4 -s 4096 -t 6000 $h2
}
ksft_test "alice's connection" victims
ksft_test "works" mrc_flows 60
victim=$(mrc_qp_of h1 qpn)
ksft_test "eve knows its numbers" publish
ksft_test "(queue pairs)" knows qpn
ksft_test "(sequence numbers)" knows psn
pace 3 alone
start fuzz "$MRC_DIR/mrc_fuzz" -d "${MRC_IBDEV[h1]}" -t "$secs" -s "$seed" -a "$MRC_DIR/prey"
start eve env LD_LIBRARY_PATH="$MRC_DIR" "$MRC_DIR/mrc_eve" -d "${MRC_IBDEV[h1]}" -g $h2 -t "$secs" -s "$seed"
start idler1 bash -c 'while :; do :; done'
start idler2 bash -c 'while :; do :; done'
ksft_test "she keeps half of her rate" keeps_half
share attacked alone
ksft_comment "with eve beside her: $REPLY % of her rate alone"
progress
ksft_test "she does not stand still" mrc_until 120 moved "$REPLY"
ksft_test "datagrams, dumps, and questions to the endpoint, which are refused" besides
ksft_test "eve's commands are answered as the manual pages say" ended fuzz
ksft_comment "$(mrc_out fuzz 1)"
ksft_test "she posed as alice" sum fuzz hunts 20
ksft_test "and was refused" sum fuzz refused 20
ksft_test "by devices opened again, too" sum fuzz reopened 5
ksft_test "and by domains of an imported one" sum fuzz imported 1
ksft_test "her requests completed" sum fuzz completed 10
ksft_test "as a controller she is refused" ended eve
ksft_comment "$(mrc_out eve 1)"
ksft_test "(changes)" sum eve refused 50
ksft_test "(endpoint requests)" sum eve endpoint 10
progress
ksft_test "alice has not noticed" mrc_until 120 moved "$REPLY"
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
ksft_finish
