#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# kernels: new uml
#
# uid 65534 knows QP numbers and PSNs of uid 1000's connection, guesses keys, and does everything that a user can to disturb it
# (verbs/mrc_fuzz.c -a, datagrams, questions to endpoints, dumps). The connection must not notice: every byte is
# verified, and it goes on. Half a minute, a whole one in "make check-full"; MRC_FUZZ_SECS=600 for longer, MRC_FUZZ_SEED
# for the seeds of a find.
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2	one plane

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

secs=${MRC_FUZZ_SECS:-${MRC_FULL:+60}}
secs=${secs:-30}
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
# pace SECS: REPLY, of so many seconds, a second.
pace() {
	local from began=${EPOCHREALTIME/[.,]/}
	progress
	from=$REPLY
	mrc_sleep "$1"
	progress
	REPLY=$(((REPLY - from) * 1000000 / (${EPOCHREALTIME/[.,]/} - began)))
}

moved() { progress && echo "$REPLY, was $1" && [ "$REPLY" -gt "$1" ]; }

# besides: what eve does beside the fuzzer, until it has ended.
besides() {
	local n=0
	while mrc_alive fuzz; do
		publish
		as 65534 h1 "$MRC_DIR/mrc_stranger" "${MRC_IBDEV[h1]}" $h2 "$(sed -n 's/^qpn //p' "$MRC_DIR/prey" | shuf -n 1)" >/dev/null 2>&1 || :
		as 65534 h1 mrcctl -j stats show >/dev/null || return
		! as 65534 h1 mrcctl probe dev eth1 peer $h2 >/dev/null 2>&1 || return
		n=$((n + 1))
		mrc_sleep 0.5
	done
	echo "$n rounds"
	[ $n -gt 0 ]
}
fuzzed() {
	local rc=0
	mrc_wait fuzz $((secs * 3 + 300)) || rc=$?
	echo "status $rc: $(mrc_out fuzz 30)"
	[ $rc -eq 0 ]
}
sum() {
	REPLY=$(sed -nE "s/(.*[ ^]|^)$1=([0-9]+).*/\2/p" "$MRC_DIR/fuzz.out" | tail -n 1)
	echo "$1=$REPLY, expected $2 or more: $(mrc_out fuzz)"
	[ "${REPLY:-0}" -ge "$2" ]
}

ksft_plan
mrc_begin mrcctl mrc_fuzz mrc_stranger mrc_verify setpriv shuf
install -m 755 "$(type -P mrc_fuzz)" "$(type -P mrc_stranger)" "$(type -P mrc_verify)" "$MRC_DIR/"
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
pace 3
before=$REPLY
mrc_start fuzz h1 setpriv --reuid 65534 --regid 65534 --clear-groups \
	"$MRC_DIR/mrc_fuzz" -d "${MRC_IBDEV[h1]}" -t "$secs" -s "$seed" -a "$MRC_DIR/prey"
pace 6
during=$REPLY
ksft_comment "alice moves $during bytes a second with eve beside her, $before without: $((during * 100 / (before + 1))) %"
progress
ksft_test "she does not stand still" mrc_until 120 moved "$REPLY"
ksft_test "datagrams, dumps, and questions to the endpoint, which are refused" besides
ksft_test "eve's commands are answered as the manual pages say" fuzzed
ksft_comment "$(mrc_out fuzz 1)"
ksft_test "she posed as alice" sum hunts 20
ksft_test "and was refused" sum refused 20
ksft_test "her requests completed" sum completed 10
progress
ksft_test "alice has not noticed" mrc_until 120 moved "$REPLY"
kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
ksft_finish
