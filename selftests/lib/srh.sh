# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# srh.sh - EVs of a fabric made by hand that are carried in a segment routing header.
#
#	. "$here/../lib/mrc.sh"
#	. "$here/../lib/srh.sh"

# mrc_srh_profiles FROM TO: the paths of two planes with two T1s, half of each in a segment routing header.
mrc_srh_profiles() {
	local from=$1 to=$2 p a b t REPLY evs=()
	fabric_host_t0 "$from"; a=$REPLY
	fabric_host_t0 "$to"; b=$REPLY
	for p in 1 2; do
		for t in 1 2; do
			fabric_usid_t0 $p "$a"; local outer=$FABRIC_BLOCK:$REPLY
			fabric_usid_t1 $p $t; outer+=:$REPLY::
			fabric_usid_t0 $p "$b"; local segment=$FABRIC_BLOCK:$REPLY
			fabric_usid_host $p "$to"; segment+=:$REPLY::
			evs+=(ev "$p" "$outer,$segment")
		done
	done
	fabric_host_addr "$to"
	mrcctl -n "h$from" profile set dev mrc0 id $MRC_PROFILE dst "$REPLY" \
		fmt srv6 mode exp "${evs[@]}"
}
