#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mrcd against a real kernel, without the module: a T0 and a host's ports.
#
#	mrcd-h (h1) eth1 --- h1  mrcd-t0 (p1-t0-1)  t1-1 --- t0-1  mrcd-t1 (p1-t1-1)
#	            eth2 --- x2                      t1-2 --- x1
#
# x1, x2: other ends, in namespaces where no mrcd runs.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"
# shellcheck source=../lib/fabric.sh
. "$here/../lib/fabric.sh"

MRCD=${MRCD:-$here/../../build/daemon/mrcd}
tmp=$(mktemp -d)
conf=$tmp/fabric.toml
pid=''

T0=mrcd-t0-$$ T1=mrcd-t1-$$ H=mrcd-h-$$

mrcd() {	# NS NAME OPTION...
	local ns=$1 name=$2
	shift 2
	fabric_in "$ns" "$MRCD" -c "$conf" --name "$name" "$@"
}

start() {	# NS NAME
	rm -f "$tmp/ready"
	nsenter --net="/run/netns/$1" -- "$MRCD" -v -c "$conf" --name "$2" \
		--ready-file "$tmp/ready" 2>>"$tmp/log" &
	pid=$!
	wait_until 10 test -e "$tmp/ready"
}

stop() {
	[ -n "$pid" ] || return 0
	kill -TERM "$pid" 2>/dev/null || true
	local rc=0
	wait "$pid" || rc=$?
	pid=''
	return $rc
}

clean() {
	stop
	local ns
	for ns in "$T0" "$T1" "$H"; do ip netns del "$ns" 2>/dev/null; done
	rm -rf "$tmp"
}

# Pipes end in grep without -q, which would stop the left side by SIGPIPE.
not() { ! "$@"; }
routes() { ip -n "$T0" -6 route show proto 217 | sed 's/ pref medium//; s/ *$//' | sort; }
has_route() { routes | grep "^$1 *via $2 dev $3 metric 512\$"; }
own_sid() { routes | grep '^fcbb:bb00:1001::/48  *encap seg6local action End flavors next-csid lblen 32 nflen 16 dev '; }
has_addr() { ip -n "$1" -6 addr show dev "$2" | grep "inet6 $3 .*scope link"; }
is_up() { ip -n "$1" -j link show dev "$2" | grep '"UP"'; }
# A kernel without dummy interfaces leaves sr0 to be made for ever, and each time the default
# routers of the others to be kept meanwhile.
for_ever=sr0
no_ops() { ! mrcd "$T0" p1-t0-1 --dry-run | grep -vE "$for_ever"; }
setting() { [ "$(fabric_in "$T0" cat "/proc/sys/net/ipv6/conf/$1")" = "$2" ]; }
logged() { grep -q "$1" "$tmp/log"; }
# The other end of the management port says that it is a router for 30 minutes.
advertise() {
	fabric_in "$H" python3 -c '
import socket
s = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 255)
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, socket.if_nametoindex("mgmt"))
s.sendto(bytes([134, 0, 0, 0, 64, 0, 7, 8]) + bytes(8), ("ff02::1", 0))' 2>/dev/null
}
has_router() { ip -n "$T0" -6 route show default dev mgmt | grep 'proto ra'; }
finds_router() { advertise && has_router; }

world() {
	ip netns add "$T0" && ip netns add "$T1" && ip netns add "$H"
	ip link add eth1 netns "$H" type veth peer name h1 netns "$T0"
	ip link add eth2 netns "$H" type veth peer name x2 netns "$T1"
	ip link add t1-1 netns "$T0" type veth peer name t0-1 netns "$T1"
	ip link add t1-2 netns "$T0" type veth peer name x1 netns "$T1"
	ip -n "$T1" link set x1 up
	ip -n "$T1" link set x2 up
	ip -n "$T1" link set t0-1 up
	ip -n "$H" link set eth1 up
}

ksft_plan
need_root
need_cmd ip nsenter python3
[ -x "$MRCD" ] || ksft_skip_all "needs $MRCD"
at_exit clean
fabric_toml 1 2 1 2 >"$conf"
world 2>"$tmp/world" || ksft_skip_all "no network namespaces or veth: $(head -n 1 "$tmp/world")"
ip -n "$T0" link set lo up
ip link add mgmt netns "$T0" type veth peer name mgmt netns "$H"
ip -n "$T0" link set mgmt up
fabric_in "$T0" sh -c 'echo 1 >/proc/sys/net/ipv6/conf/mgmt/accept_ra'
ip -n "$H" link set mgmt up
if ! ip -n "$T0" -6 route add fc00::/48 encap seg6local action End flavors next-csid \
	lblen 32 nflen 16 dev h1 2>/dev/null &&
	! { ip -n "$T0" link set h1 up && ip -n "$T0" -6 route add fc00::/48 encap seg6local \
	action End flavors next-csid lblen 32 nflen 16 dev h1 2>/dev/null; }; then
	ksft_skip_all "this kernel has no seg6local next-csid"
fi
ip -n "$T0" -6 route del fc00::/48
if ip -n "$T0" link add sr0 type dummy 2>/dev/null; then
	ip -n "$T0" link del sr0
else
	for_ever='\bsr0\b|/accept_ra='
fi
ksft_test "the management port finds a default router" wait_until 10 finds_router

# A route by hand with the prefix of one of ours.
ip -n "$T0" -6 route add blackhole fcbb:bb00:1102::/48

ksft_test "a dry run plans" grep -q 'route add fcbb:bb00:1101::/48 via fe80::2 dev t1-1' \
	<(mrcd "$T0" p1-t0-1 --dry-run)
ksft_equal "and does nothing" "" "$(routes)"
ksft_test "once" mrcd "$T0" p1-t0-1 --once
ksft_test "own SID" own_sid
ksft_test "next hop towards a T1" has_route fcbb:bb00:1102::/48 fe80::2 t1-2
ksft_test "next hop towards a host" has_route fcbb:bb00:1201::/48 fe80::1 h1
ksft_test "address at the upper end" has_addr "$T0" h1 fe80::2/64
ksft_test "address at the lower end" has_addr "$T0" t1-1 fe80::1/64
ksft_test "forwarding" setting all/forwarding 1
ksft_test "seg6_enabled" setting t1-2/seg6_enabled 1
ksft_test "but not of the management port" setting mgmt/forwarding 0
ksft_test "nor of what comes later" setting default/forwarding 0
ksft_test "the management port keeps its default router" has_router
ksft_test "and accept_ra" setting mgmt/accept_ra 1
ksft_test "again: nothing to do" no_ops
status() { local rc=0; "$@" >/dev/null 2>&1 || rc=$?; echo $rc; }
check() { status fabric_in "$1" "$MRCD" --check "$conf" --name "$2"; }
ksft_equal "--check: something to do" 1 "$(check "$T1" p1-t1-1)"
ksft_equal "--check: a bad file" 2 "$(status "$MRCD" --check /dev/null --name x)"
ksft_equal "wrong usage" 1 "$(status "$MRCD" --nonsense)"
ksft_equal "a directory is no file" 2 "$(status "$MRCD" -c "$tmp" --name x --dry-run)"
ksft_test "--version" grep -q '^mrcd ' <("$MRCD" --version)
ksft_test "a route by hand stays" ip -n "$T0" -6 route show type blackhole fcbb:bb00:1102::/48

ksft_test "the daemon gets ready" start "$T0" p1-t0-1
ksft_test "without a single operation" not grep -qE 'route|addr|link set' "$tmp/log"

ip -n "$T0" -6 route del fcbb:bb00:1101::/48 proto 217
ksft_test "a route that is deleted comes back" wait_until 20 has_route fcbb:bb00:1101::/48 fe80::2 t1-1
ip -n "$T0" -6 addr del fe80::1/64 dev t1-1
ksft_test "an address that is deleted comes back" wait_until 20 has_addr "$T0" t1-1 fe80::1/64
ip -n "$T0" link set t1-1 down
ksft_test "a port that is shut loses its route" not has_route fcbb:bb00:1101::/48 fe80::2 t1-1
sleep 0.3	# longer than mrcd waits for more events
ksft_test "and stays shut" not is_up "$T0" t1-1
ksft_test "with nothing to complain about" not logged error
ip -n "$T0" link set t1-1 up
ksft_test "up again: the route is back" wait_until 20 has_route fcbb:bb00:1101::/48 fe80::2 t1-1
ksft_test "and all the rest" wait_until 20 no_ops
ip -n "$T0" link set h1 down
ksft_test "the own SID survives any port" wait_until 20 own_sid
ip -n "$T0" link set h1 up
ksft_test "settled" wait_until 20 no_ops
ip -n "$T0" link del t1-2
ip link add t1-2 netns "$T0" type veth peer name x1 netns "$T1"
ip -n "$T1" link set x1 up
ksft_test "a port made anew is taken up" wait_until 10 has_route fcbb:bb00:1102::/48 fe80::2 t1-2
ksft_test "which costs the management port no default router" has_router

fabric_in "$T0" sh -c 'echo 0 >/proc/sys/net/ipv6/conf/all/forwarding'
ksft_test "forwarding that is switched off comes back" wait_until 20 setting all/forwarding 1
ksft_test "the management port keeps out of it" wait_until 20 setting mgmt/forwarding 0
ksft_test "with its default router" has_router
ip -n "$T0" -6 addr del fe80::1/64 dev t1-1 && ip -n "$T0" -6 addr add fe80::1/10 dev t1-1 || true
collides() { no_ops >/dev/null || logged 'ip addr del fe80::1/10 dev t1-1'; }
ksft_test "an address in the way is named, or we were faster" wait_until 10 collides
ip -n "$T0" -6 addr del fe80::1/10 dev t1-1 2>/dev/null || true
ksft_test "and taken when it is free" wait_until 10 has_addr "$T0" t1-1 fe80::1/64

cp "$conf" "$tmp/good"
sed '/^\[\[/,$d' "$tmp/good" >"$conf"
printf '[[switch]]\nname = "p1-t0-1"\ntier = 0\nplane = 1\nindex = 1\n' >>"$conf"
kill -HUP "$pid"
ksft_test "a file that removes most is held back" wait_until 20 logged 'would remove'
ksft_test "and nothing went" has_route fcbb:bb00:1101::/48 fe80::2 t1-1
kill -HUP "$pid"
ksft_test "the second SIGHUP confirms it" wait_until 20 not has_route fcbb:bb00:1101::/48 fe80::2 t1-1
cp "$tmp/good" "$conf"
kill -HUP "$pid"
ksft_test "the whole file again" wait_until 20 has_route fcbb:bb00:1101::/48 fe80::2 t1-1
echo 'nonsense = 1' >>"$conf"
kill -HUP "$pid"
ksft_test "a bad file is refused with its place" wait_until 20 logged 'unknown key "nonsense"'
fabric_toml 1 1 1 1 >"$conf"
kill -HUP "$pid"
ksft_test "a smaller fabric: routes go" wait_until 20 not has_route fcbb:bb00:1102::/48 fe80::2 t1-2
ksft_test "and only those" has_route fcbb:bb00:1101::/48 fe80::2 t1-1
cp "$tmp/good" "$conf"
kill -HUP "$pid"
ksft_test "and come back" wait_until 20 has_route fcbb:bb00:1102::/48 fe80::2 t1-2
before=$(routes)
ksft_test "SIGTERM ends it" stop
ksft_equal "and leaves everything" "$before" "$(routes)"

ksft_test "a T1 of the same file" mrcd "$T1" p1-t1-1 --once
ping_t1() { fabric_in "$T0" ping -6 -q -c 1 -W 2 fe80::2%t1-1; }
ksft_test "the next hop answers" wait_until 20 ping_t1

# As a service: its log's reader goes, a link lies where its ready file shall be.
echo keep >"$tmp/precious"
ln -s "$tmp/precious" "$tmp/ready2"
mkfifo "$tmp/pipe"
head -n 1 <"$tmp/pipe" >/dev/null &
nsenter --net="/run/netns/$T0" -- "$MRCD" -v -c "$conf" -n p1-t0-1 --ready-file "$tmp/ready2" \
	2>"$tmp/pipe" &
pid=$!
for _ in 1 2; do
	ip -n "$T0" -6 route del fcbb:bb00:1101::/48 proto 217 2>/dev/null || true
	ksft_test "it works on when nobody reads its log" wait_until 10 \
		has_route fcbb:bb00:1101::/48 fe80::2 t1-1
done
ksft_equal "it writes through no link" keep "$(cat "$tmp/precious")"
ksft_test "and ends when told to" stop

if command -v socat >/dev/null; then
	socat -u UNIX-RECV:"$tmp/notify" - >"$tmp/notified" &
	manager=$!
	at_exit kill $manager
	wait_until 10 test -S "$tmp/notify"
	NOTIFY_SOCKET=$tmp/notify WATCHDOG_USEC=400000 \
		nsenter --net="/run/netns/$T0" -- "$MRCD" -c "$conf" -n p1-t0-1 2>"$tmp/log" &
	pid=$!
	notified() { grep -qa "$1" "$tmp/notified"; }
	ksft_test "the manager hears that it is ready" wait_until 10 notified READY=1
	ksft_test "and how it is" notified 'STATUS=everything is in place'
	ksft_test "and that it lives" wait_until 10 notified 'WATCHDOG=1'
	kill -HUP "$pid"
	ksft_test "and that it reads its file again" wait_until 10 notified 'RELOADING=1'
	ip -n "$T0" link set t1-2 down && ip -n "$T0" link set t1-2 name t1-x
	ksft_test "and what it waits for" wait_until 10 notified 'STATUS=1 open: there is no interface t1-2'
	ip -n "$T0" link set t1-x name t1-2
	ksft_test "it ends when told to" stop
	ksft_test "which the manager hears" wait_until 10 notified STOPPING=1
fi

# The examples of fabric.toml(5) are whole fabrics: two hosts, a rule, and lists.
sed '1,/^\.SH EXAMPLES/d' "$here/../../Documentation/reference/man/fabric.toml.5" |
	awk -v out="$tmp/example" '/^\.nf/ { n++; on = 1; next } /^\.fi/ { on = 0 } on { print >out n }'
for n in alpha p1-t1-1 p1-t1-1; do
	examples=$((${examples:-0} + 1))
	ksft_test "the manual's example $examples" fabric_in "$H" "$MRCD" -c "$tmp/example$examples" --name $n --dry-run
done
ksft_test "an unknown name" not mrcd "$T0" nobody --once
ksft_test "the host's ports are planned under their numbers" grep -F 'plane 1 netdev eth1' \
	<(mrcd "$H" h1 --dry-run)
if ip -n "$H" link add mrcprobe type mrc 2>/dev/null; then
	ip -n "$H" link del mrcprobe
	ksft_skip "a host without the module" "the module is here"
else
	mrcd "$H" h1 --once 2>"$tmp/host" || true
	ksft_test "without the module the kernel's reason is told" grep -q 'ip link add mrc0 type mrc: ..*; trying again' "$tmp/host"
	ksft_test "told once" test "$(grep -c 'link add mrc0' "$tmp/host")" -eq 1
	ksft_test "the planes are set up nevertheless" grep -q 'via fe80::2 dev eth2' \
		<(ip -n "$H" -6 route show proto 217)
fi
ksft_finish
