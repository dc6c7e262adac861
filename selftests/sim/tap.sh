# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# tap.sh - what run.sh and cluster.sh share: TAP lines, and make.

n=0
bad=0

report()	# status name
{
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		bad=1
	fi
}

build()		# name make-arguments...
{
	local rc=0 name=$1 said

	shift
	said=$(make -s -j2 "$@" 2>&1) || rc=$?
	[ $rc -eq 0 ] || sed 's/^/# /' <<<"$said"
	report $rc "$name"
}

good_so_far()
{
	[ $bad -eq 0 ]
}

finish()
{
	echo "1..$n"
	exit $bad
}
