# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# console.sh - what the log of a virtual machine's kernel says of how it fared.

# What makes a run fail however well the command did. The engine and the module
# log none of these words in normal operation. (Of a program it says "general protection fault ip:".)
SPLAT='BUG:|kernel BUG|WARNING:|Oops|general protection fault[,:]|KASAN:|KFENCE:|UBSAN:'
SPLAT+='|KCSAN:|refcount_t:|possible (recursive|circular) locking|suspicious RCU'
SPLAT+='|inconsistent lock state|INFO: task .* blocked|detected (expedited )?stall'
SPLAT+='|soft lockup|Call Trace|unreferenced object|ODEBUG:|Kernel panic'

# report_splats FOLDER: the first of its logs that has one, to stderr; fails when none has.
report_splats() {
	local log
	for log in dmesg console kmemleak; do
		[ -s "$1/$log" ] || continue
		if grep -qE "$SPLAT" "$1/$log"; then
			echo "runvm: kernel splat:" >&2
			grep -E -B 2 -A 30 "$SPLAT" "$1/$log" | head -n 100 >&2
			return 0
		fi
	done
	return 1
}

# stale_int3 CONSOLE: prints where an emulated processor ran an int3 that was no longer there.
#
# A kernel that rewrites its code (jump labels) puts an int3 over an instruction and takes it away
# again. With several processors QEMU (7.2) now and then still runs its translation of that moment. The
# trap then comes when the kernel expects none: an Oops. It is told from any other by the bytes that
# the kernel prints: the instruction that trapped is the one before <..>, and no processor traps
# there unless it is cc. Fails for an int3 that is there, in code of ours, or if the kernel
# complained of anything before.
stale_int3() {
	awk -v splat="$SPLAT" '
		/(^|] )(Oops: )?int3: [0-9a-f]+ \[#1\]/ && !oops { oops = 1; next }
		!oops && $0 ~ splat { exit }
		oops && !rip && /RIP: 0010:/ {
			rip = $0
			sub(/.*RIP: 0010:/, "", rip)
			if (rip ~ /\[mrc/)
				exit
		}
		oops && rip && /Code: / {
			found = match($0, /[0-9a-f][0-9a-f] <[0-9a-f][0-9a-f]>/) &&
				substr($0, RSTART, 2) != "cc"
			exit
		}
		END {
			if (found)
				print rip
			exit !found
		}' "$1"
}
