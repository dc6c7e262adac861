# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# port.sh - configures switch ports of a fabric for MRC (rate, ECN, trimming), by the qdisc mrcport.
#
#	port_begin				# the module; undone at exit
#	port_set p1-t0-2 h2 rate 50000000 limit 65536 ecn 20000 trim 1 lasthop 1
#	port_stat p1-t0-2 h2 trimmed_pkts	# REPLY
#	port_clear p1-t0-2 h2

port_begin() {
	local ko=$MRC_BUILD/mrc_port_qdisc.ko
	[ -e "$ko" ] || ksft_skip_all "needs $ko"
	[ -d /sys/module/mrc_port_qdisc ] || insmod "$ko" || ksft_skip_all "cannot load $ko"
}

# port_set NS DEV [KEY VALUE]...: makes it a port if it is none yet, and changes settings.
port_set() {
	local ns=$1 dev=$2
	shift 2
	tc -n "$ns" qdisc replace dev "$dev" root mrcport || return
	[ $# -eq 0 ] || busybox nsenter --net="/run/netns/$ns" busybox sh -c \
		"echo '$dev $*' >/proc/net/mrcport"
}

port_clear() { tc -n "$1" qdisc del dev "$2" root 2>/dev/null || true; }

# port_stat NS DEV NAME: REPLY.
port_stat() {
	local line
	while read -r line; do
		[[ $line = "$2 "* && $line = *" $3 "* ]] || continue
		line=${line##*" $3 "}
		REPLY=${line%% *}
		return
	done < <(busybox nsenter --net="/run/netns/$1" busybox cat /proc/net/mrcport)
	REPLY=0
	return 1
}

# port_show NS DEV: prints the counters that moved, for a comment.
port_show() {
	busybox nsenter --net="/run/netns/$1" busybox grep "^$2 " /proc/net/mrcport |
		sed 's/.* trimmed_lasthop [0-9]* /'"$1 $2"': /'
}
