#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
# kernels: new uml
#
# Users of one host are kept apart: uid 65534, who knows all numbers, meets the connection of uid 1000.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2	one plane

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

h1=fd00:6d72:63::1
h2=fd00:6d72:63::2

# talker NAME HOST UID [OPTION...]: a QP that does as it is told; its number and address.
declare -A QPN=() GID=() IN=() OUT=()
talker() {
	local name=$1 host=$2 uid=$3 words in out
	mkfifo "$MRC_DIR/$name.in" "$MRC_DIR/$name.said"
	nsenter --net="/run/netns/$host" -- setpriv --reuid "$uid" --regid "$uid" --clear-groups \
		"$MRC_DIR/mrc_talk" -d "${MRC_IBDEV[$host]}" "${@:4}" <"$MRC_DIR/$name.in" >"$MRC_DIR/$name.said" 2>&1 &
	MRC_PID[$name]=$!
	exec {in}>"$MRC_DIR/$name.in" {out}<"$MRC_DIR/$name.said"
	IN[$name]=$in OUT[$name]=$out
	read -rt 60 -u "${OUT[$name]}" -a words || return
	echo "$name: ${words[*]}"
	[ "${words[0]}" = qpn ] && QPN[$name]=${words[1]} GID[$name]=${words[3]}
}
# gone NAME: it ends, and is waited for.
gone() {
	local in=${IN[$1]} out=${OUT[$1]}
	echo quit >&"$in"
	exec {in}>&-
	wait "${MRC_PID[$1]}" || :
	unset "MRC_PID[$1]"
	exec {out}<&-
	rm -f "$MRC_DIR/$1.in" "$MRC_DIR/$1.said"
}
# told NAME WORDS...: REPLY is its answer.
told() {
	echo "${*:2}" >&"${IN[$1]}"
	REPLY=nothing
	read -rt 300 -u "${OUT[$1]}" REPLY
	echo "$1: ${*:2}: $REPLY"
}
# says ANSWER NAME WORDS...
says() { told "${@:2}" && [[ $REPLY = "$1" ]]; }

# joined A B PSN: A's QP at h1, B's at h2, PSNs alike both ways. Eve knows all of that.
joined() { says "rtr ok" "$1" rtr "${QPN[$2]}" "$3" $h2 && says "rts ok" "$1" rts "$3"; }
hears() { says "rtr ok" "$2" rtr "${QPN[$1]}" "$3" $h1 && says "rts ok" "$2" rts "$3"; }

ksft_plan
mrc_begin mrcctl mrc_talk mrc_stranger mrc_verify setpriv
install -m 755 "$(command -v mrc_talk)" "$(command -v mrc_stranger)" "$MRC_DIR/"
chmod 755 "$MRC_DIR"
ksft_test "one plane" mrc_one_plane

# ------------------------------------------------- before the victim has spoken
ksft_test "alice's queue pair at h1" talker alice h1 1000
ksft_test "bob's at h2" talker bob h2 1000
ksft_test "eve's at h1" talker eve h1 65534
ksft_test "bob is ready for alice" hears alice bob 4711
ksft_test "eve names bob's queue pair, which no claim forbids yet" joined eve bob 4711
ksft_test "she posts a message with alice's next PSN" says "post ok" eve post FORGED BY EVE
ksft_test "bob gets none of it" says "recv nothing" bob recv
ksft_test "alice connects" joined alice bob 4711
ksft_test "her message" says "send success" alice send true by alice
ksft_test "is what bob gets" says "recv true by alice" bob recv
ksft_test "and his is what she gets" says "send success" bob send true by bob
ksft_test "(whole)" says "recv true by bob" alice recv
ksft_test "eve's fails: nobody speaks to her" says "wait transport retry counter exceeded" eve wait
ksft_test "bob got nothing else" says "recv nothing" bob recv

# -------------------------------------------------------- while the victim talks
mrc_stat h1 claims_refused
before=$REPLY
ksft_test "eve begins anew" says "reset ok" eve reset
ksft_test "to alice's peer she is not connected" says "rtr EADDRINUSE" eve rtr "${QPN[bob]}" 4712 $h2
counted() { mrc_stat h1 claims_refused && [ $((REPLY - before)) -eq 1 ]; }
ksft_test "which is counted" mrc_until 10 counted
refusal="connection to QP ${QPN[bob]} of $h2 refused: a QP of another user is connected to it"
ksft_test "and logged" grep -qF "$refusal" <(dmesg)
ksft_test "another of alice's may" talker alice2 h1 1000
ksft_test "(as programs did)" says "rtr ok" alice2 rtr "${QPN[bob]}" 4711 $h2
gone alice2

# ------------------------------------------------- other ways to the same queue pair
as_eve() { nsenter --net=/run/netns/h1 -- setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
# datagram QPN: of a datagram QP of hers. It leaves; h2 drops what is no packet for such a QP.
datagram() {
	mrc_stat h2 rx_malformed
	local before=$REPLY
	as_eve "$MRC_DIR/mrc_stranger" "${MRC_IBDEV[h1]}" $h2 "$1" && mrc_until 20 malformed $((before + 1))
}
malformed() { mrc_stat h2 rx_malformed && echo "rx_malformed: $REPLY" && [ "$REPLY" -eq "$1" ]; }
ksft_test "a datagram of eve's to bob's is dropped" datagram "${QPN[bob]}"
ksft_test "(he gets none of it)" says "recv nothing" bob recv
ksft_test "and one to the endpoint of h2" datagram 2
ksft_test "as a controller she may not ask it" refused "Operation not permitted" -- \
	as_eve mrcctl probe dev eth1 peer $h2
ksft_test "a device that root opened and lent to her" talker lent h1 0 -u 65534
ksft_test "makes her nobody else" says "rtr EADDRINUSE" lent rtr "${QPN[bob]}" 4712 $h2
gone lent
# imported NAME OPTION...: the device that root opened, used in another network namespace.
imported() {
	talker "$1" h1 0 -n "${@:2}" && says "rtr EADDRINUSE" "$1" rtr "${QPN[bob]}" 4712 $h2
}
ksft_test "lent to root in another namespace, it names nobody else's peer" imported container
gone container
ksft_test "nor lent to eve there" imported contained -u 65534
gone contained
ksft_test "nor lent to a user there who has alice's number" imported namesake -u 1000
ksft_test "who makes a queue pair of his own, and stays alone with it" says "rtr ok" namesake rtr 99 4712 $h2
gone namesake

# ------------------------------------------------------------- who sees what
# shown UID FILTER: of alice's queue pair, to that user.
shown() {
	nsenter --net=/run/netns/h1 -- setpriv --reuid "$1" --regid "$1" --clear-groups \
		mrcctl -j qp show qpn "${QPN[alice]}" 2>"$MRC_DIR/why" | jq -c ".[0] | $2"
}
numbers='[.peer_qpn, .psn_next, .psn_una, .rx_cack] | map(select(. != null)) | length'
ksft_equal "her numbers are hers to see" 4 "$(shown 1000 "$numbers")"
ksft_equal "and root's" 4 "$(shown 0 "$numbers")"
ksft_equal "of them eve sees none" 0 "$(shown 65534 "$numbers")"
ksft_test "and is told why" grep "need CAP_NET_ADMIN" "$MRC_DIR/why"
ksft_equal "she sees counters" true "$(shown 65534 '.stats.tx_pkts > 0')"
# rdma UID FILTER
rdma_shown() {
	nsenter --net=/run/netns/h1 -- setpriv --reuid "$1" --regid "$1" --clear-groups rdma -j -d resource show qp |
		jq -c "[.[] | select(.lqpn == ${QPN[alice]})][0] | [.rqpn, .[\"sq-psn\"], .[\"rq-psn\"]] | map(. // 0)"
}
ksft_equal "rdma(8) shows eve none" "[0,0,0]" "$(rdma_shown 65534)"
ksft_equal "and root all" "[${QPN[bob]},4712,4712]" "$(rdma_shown 0)"

# --------------------------------------------------- and who goes on meanwhile
ksft_test "nor may she be connected by the other end" talker mallory h2 65534
ksft_test "(alice's queue pair is bob's)" says "rtr EADDRINUSE" mallory rtr "${QPN[alice]}" 4712 $h1
gone mallory
ksft_test "alice goes on" says "send success" alice send more by alice
ksft_test "(to bob)" says "recv more by alice" bob recv
ksft_test "root is refused nothing" talker root h1 0
ksft_test "(who can send any packet)" says "rtr ok" root rtr "${QPN[bob]}" 4711 $h2
gone root
ksft_test "rmmod does not end her" refused "in use" -- rmmod mrc
ksft_test "(she goes on)" says "send success" alice send still alice
ksft_test "(to bob)" says "recv still alice" bob recv
ksft_test "alice leaves" gone alice
ksft_test "her peer is anybody's again" says "rtr ok" eve rtr "${QPN[bob]}" 4712 $h2
gone eve
gone bob

# ---------------------------------------------------------- two honest strangers
ksft_test "carol's at h1" talker carol h1 65534
ksft_test "dave's at h2" talker dave h2 1000
# A PSN is the low 24 bits: 16777315 is 99. A program that goes past the plug-in has ib_core say so, as a fuzzer may have.
masked() { dmesg | grep -cF "overflow, masking"; }
before=$(masked || true)
ksft_test "carol connects first" joined carol dave 16777315
ksft_equal "of a PSN beyond 24 bits the log says nothing" "$before" "$(masked || true)"
ksft_test "and posts before dave can hear her" says "post ok" carol post early
ksft_test "dave connects" hears carol dave 99
ksft_test "it arrives" says "wait success" carol wait
ksft_test "(whole)" says "recv early" dave recv
gone carol
gone dave

# ------------------------------------------- a link-local address on no plane
ksft_test "two planes" mrc_fabric_by_hand 2 2 1 1
ksft_test "a queue pair with GID 0" talker zero h1 0 -g 0
ksft_test "which is link-local" test "${GID[zero]:0:5}" = fe80:
ksft_test "RTR to such an address says that none leads there" says "rtr EADDRNOTAVAIL" zero rtr 77 1 fe80::1234:5678
ksft_test "and the log tells the cause" grep -qF "connection to fe80::1234:5678 refused: a link-local address" <(dmesg)
gone zero
ksft_finish
