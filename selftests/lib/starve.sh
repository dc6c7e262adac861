# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# starve.sh - makes allocations in our module fail, chosen by a function on the call stack. Needs the kernel with
# checkers, which has fault injection.
#
#	can_starve || ksft_skip_all "..."
#	starving mrc_pathset_build COMMAND...	# while it runs, to it alone
#	starve_pages qp_grow_work 100		# pages, whoever runs that function; 0: no more
#	starve_module 10			# ten of a hundred small allocations in mrc.ko; 0: no more
#
# Examining stacks is slow, so use it with little traffic.

can_starve() { [ -e /sys/kernel/debug/failslab ] && [ -e /sys/kernel/debug/fail_page_alloc ]; }

# starve__set KIND FROM TO PERCENT [TASKS]: TASKS Y: only for processes with make-it-fail.
starve__set() {
	cd "/sys/kernel/debug/$1" || return
	echo 0 >probability
	echo "${5:-N}" >task-filter
	echo $(($2)) >require-start
	echo $(($3)) >require-end
	echo 1 >interval
	echo 0 >verbose
	echo -1 >"times"
	echo N >ignore-gfp-wait
	if [ "$1" = fail_page_alloc ]; then
		echo 0 >min-order
		echo N >ignore-gfp-highmem	# what vmalloc() asks for, which is tried then
	fi
	echo "$4" >probability
	cd "$OLDPWD" || return
}

# starve__range FUNCTION: sets REPLY to "FROM TO". Inlined functions are included, tail calls are not.
# (/proc/kallsyms takes a minute to read in this kernel.)
starve__range() {
	local text at size
	text=$(cat /sys/module/mrc/sections/.text)
	read -r at size _ < <(nm -S "$MRC_BUILD/mrc.ko" | grep -w "$1") || {
		echo "no function $1 in the module"
		return 1
	}
	REPLY="$((text + 16#$at)) $((text + 16#$at + 16#$size))"
}

starve_module() {	# PERCENT
	local start size
	size=$(awk '$1 == "mrc" { print $2 }' /proc/modules)
	start=$(cat /sys/module/mrc/sections/.text)
	starve__set failslab "$start" $((start + size)) "$1"
}

starve_pages() {	# FUNCTION PERCENT
	starve__range "$1" || return
	# shellcheck disable=SC2086  # two words
	starve__set fail_page_alloc $REPLY "$2"
}

starving() {	# FUNCTION COMMAND...
	local REPLY rc=0
	starve__range "$1" || return
	shift
	# shellcheck disable=SC2086  # two words
	starve__set failslab $REPLY 100 Y
	(echo 1 >/proc/self/make-it-fail && exec "$@") || rc=$?
	starve__set failslab 0 0 0
	return $rc
}
