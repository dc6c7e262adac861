#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: new uml
# timeout: 300
#
# What happened, and why: lines of the kernel's log for planes, and the module's own log (mrcctl log, mrcctl event):
# in order, with cause, not without limit, and peers to no ordinary user.
#
#	h1 mrc0 = 3 planes, each T0 - 2 T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

H1=fd00:6d72:63::1
mark=0
from_here() { mark=$(dmesg | wc -l); }
lines() { dmesg | tail -n "+$((mark + 1))" | grep -E 'mrc0: (plane|peer) ' || :; }
said() { lines | grep -F -- "$1"; }
says() { mrc_until 20 said "$1"; }
# in_order TEXT...: each is said, one behind the other.
in_order() {
	local text all
	all=$(lines)
	for text; do
		case $all in
		*"$text"*) all=${all#*"$text"};;
		*) echo "not said, or not in its place: $text"; lines; return 1;;
		esac
	done
}
admin() { mrcctl -n h1 plane set dev mrc0 plane "$1" admin "$2"; }

ksft_plan
mrc_begin mrcctl mrc_verify
from_here
ksft_test "three planes by hand" mrc_fabric_by_hand 2 3 2 2
for p in 1 2 3; do
	ksft_test "plane $p is said to be up" says "plane $p (eth$p) is up"
done
ksft_test "data flows" mrc_verify_start -o mix -s 16384 -t 600
ksft_test "over all planes" mrc_flows

# ------------------------------------------------------------ planes, in the kernel's log
from_here
ksft_test "h1's cable of plane 2 is cut" fabric_cut p2-t0-1 h1
ksft_test "the log says which plane, which port, and why" says "plane 2 (eth2) is down: no carrier"
ksft_test "that of the peer says who said so" says "peer $H1 announced its port of plane 2 as down"
ksft_test "the cable is restored" fabric_restore p2-t0-1 h1
ksft_test "which is said, too" says "plane 2 (eth2) is up (was down: no carrier)"
ksft_test "at the other end as well" says "peer $H1 announced its port of plane 2 as up again"
ksft_test "plane 3 is disabled" admin 3 off
ksft_test "by the administrator" says "plane 3 (eth3) is down: admin off"
ksft_test "its port is set down meanwhile" ip -n h1 link set eth3 down
ksft_test "and enabled" admin 3 on
ksft_test "which leaves another cause" says "plane 3 (eth3) is still down: the port is set down"
ksft_test "its port is set up" ip -n h1 link set eth3 up
ksft_test "the plane is up" says "plane 3 (eth3) is up (was down: the port is set down)"
ksft_test "all that in order" in_order "plane 2 (eth2) is down: no carrier" \
	"plane 2 (eth2) is up (was down: no carrier)" "plane 3 (eth3) is down: admin off" \
	"plane 3 (eth3) is still down: the port is set down" "plane 3 (eth3) is up (was down: the port is set down)"

# --------------------------------------------------------------------- the module's log
H2=fd00:6d72:63::2
log() { mrcctl -n h1 -j log dev mrc0 "$@" | jq -s 'flatten'; }
# "KIND CAUSE" of each record of a plane that is a plane's own.
own() { log plane "$1" | jq -r '.[] | select(.event | startswith("plane-")) | "\(.event) \(.cause)"' | paste -sd ,; }
ksft_equal "plane 2, as it was cut and mended" "plane-up dev-down,plane-down no-carrier,plane-up no-carrier" "$(own 2)"
ksft_equal "plane 3, and who kept it down" \
	"plane-up dev-down,plane-down admin,plane-down port-down,plane-up port-down" "$(own 3)"
ordered() { log | jq -e 'length > 3 and ([.[].id] == ([.[].id] | sort)) and ([.[].boot_ns] == ([.[].boot_ns] | sort))'; }
ksft_test "all in order" ordered
here_now() {	# the latest record is of this boot and of today, by both clocks
	local up
	up=$(cut -d. -f1 /proc/uptime)
	log | jq -e --argjson up "$up" 'last | .boot_ns / 1e9 <= $up + 1 and .boot_ns > 0 and (.time | startswith("20"))'
}
ksft_test "with the kernel's time" here_now
ksft_test "since a moment that is to come there is nothing" \
	test "$(mrcctl -n h1 log since 2099-01-01 | wc -l)" -eq 0
all=$(mrcctl -n h1 log | wc -l)	# more may come in between
ksft_test "since an hour there is all" test "$(mrcctl -n h1 log since 1h | wc -l)" -ge "$all"
refused() { ! mrcctl -n h1 log since tomorrow; }
ksft_test "a time that is none is refused" refused
notice() { mrcctl -n h2 -j log peer $H1 | jq -se 'flatten | map(select(.event == "port-down" and .plane == 2 and .cause == "notice")) | length >= 1'; }
ksft_test "h2 has h1's notice, with its name" notice

# A T1 that swallows is seen by EVs alone. With the fabric file, lines say whose.
fabric_toml 2 3 2 2 >"$MRC_DIR/names.toml"
mrc_start event h1 mrcctl -j event dev mrc0 fabric "$MRC_DIR/names.toml"
ksft_test "somebody looks on" mrc_until 10 mrc_alive event
t1() { "$1" p1-t1-2 t0-1 && "$1" p1-t1-2 t0-2; }
ksft_test "T1 number 2 of plane 1 swallows" t1 fabric_blackhole
bad() { log plane 1 peer $H2 | jq -e 'map(select(.event == "ev-bad" and .ev != null and (.cause == "lost" or .cause == "company"))) | length >= 1'; }
ksft_test "EVs of plane 1 to h2 are bad, for they lost" mrc_until 30 bad
not_other() { log | jq -e 'map(select(.event == "ev-bad" and .plane == 1 and .cause != "lost" and .cause != "company")) | length == 0'; }
ksft_test "and for nothing else" not_other
seen() { jq -se 'flatten | map(select(.event == "ev-bad" and .plane == 1 and .ev != null and .peer != null)) | length >= 1' "$MRC_DIR/event.out"; }
ksft_test "who looks on has seen it, with EV and peer" mrc_until 10 seen
# Each has names, and one those of the T1.
named() {
	jq -s 'flatten | map(select(.event == "ev-bad" and .plane == 1 and .ev != null))' "$1" |
		jq -e --arg by "p1-t0-1 p1-t1-2 p1-t0-2" 'all(.[]; .host == "h2" and (.by | length) == 3) and any(.[]; (.by | join(" ")) == $by)' ||
		{ grep ev-bad "$1"; return 1; }
}
ksft_test "by names, too" named "$MRC_DIR/event.out"
log fabric "$MRC_DIR/names.toml" >"$MRC_DIR/log.json"
ksft_test "as the log" named "$MRC_DIR/log.json"
in_text() { mrcctl -n h1 log plane 1 fabric "$MRC_DIR/names.toml" | grep "ev-bad .* peer $H2 host h2 ev .* by p1-t0-1,p1-t1-2,p1-t0-2 cause lost"; }
ksft_test "and in text" in_text
ksft_test "healed" t1 fabric_heal
good() { log plane 1 peer $H2 | jq -e 'map(select(.event == "ev-good" and .cause == "answered")) | length >= 1'; }
ksft_test "they are good again, for they answered" mrc_until 60 good
mrc_kill event

# Who has no privilege sees planes, and no peer.
as_user() { nsenter --net=/run/netns/h1 -- setpriv --reuid=65534 --regid=65534 --clear-groups --bounding-set=-all --inh-caps=-all "$@"; }
withheld() {
	as_user "$(command -v mrcctl)" -j log >"$MRC_DIR/user" 2>"$MRC_DIR/user.err"
	jq -se 'flatten | (length > 3) and all(.[]; (has("peer") or has("ev") or has("entropy")) | not)' "$MRC_DIR/user" &&
		grep "need CAP_NET_ADMIN" "$MRC_DIR/user.err"
}
ksft_test "an ordinary user sees no peer and no EV" withheld
as_user_event() {
	as_user "$(command -v mrcctl)" event timeout 1ms >"$MRC_DIR/user" 2>"$MRC_DIR/user.err"
	grep "need CAP_NET_ADMIN" "$MRC_DIR/user.err"
}
ksft_test "nor as it happens" as_user_event

# Many changes are few records, and each counts.
evs=()
for i in $(mrcctl -n h1 -j ev show peer $H2 | jq '.[] | select(.port == 2) | .index'); do
	evs+=(index "$i")
done
rounds=20
before=$(log plane 2 | jq 'map(select(.event == "ev-denied").count) | add // 0')
storm() {
	local i
	for ((i = 0; i < rounds; i++)); do
		mrcctl -n h1 ev set dev mrc0 peer $H2 "${evs[@]}" state denied &&
			mrcctl -n h1 ev set dev mrc0 peer $H2 "${evs[@]}" state good || return
	done
}
ksft_test "$rounds times $((${#evs[@]} / 2)) EVs are denied and allowed" storm
counted() {
	local records
	read -r records n < <(log plane 2 | jq -r 'map(select(.event == "ev-denied")) | "\(length) \(map(.count) | add)"')
	echo "$records records of $n, $((n - before)) new"
	[ $((n - before)) -eq $((rounds * ${#evs[@]} / 2)) ] && [ "$records" -le $((rounds + 1)) ]
}
ksft_test "in one record a time at most, and each is counted" counted

# However often: 64 lines in 10 s.
flaps() {
	local i
	for ((i = 0; i < 200; i++)); do
		printf 'link set eth3 down\nlink set eth3 up\n'
	done | ip -n h1 -b -
}
from_here
began=$EPOCHSECONDS
ksft_test "a port is set down and up 200 times" flaps
bounded() {
	local n most=$((64 * ((EPOCHSECONDS - began) / 10 + 2)))
	n=$(lines | grep -c "plane 3 (eth3)")
	echo "$n lines, at most $most"
	[ "$n" -ge 1 ] && [ "$n" -le $most ]
}
ksft_test "the log is not flooded" bounded

kill -INT "${MRC_PID[client]}" || true
ksft_test "every byte arrived right" mrc_pair_wait 60
ksft_finish
