#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# test_purity.sh - gate 1 of the style guide: the engine touches nothing outside.
#
# Source: no forbidden word outside comments, mrc_env*.h excepted. Objects
# (user space, -O2, gcc, with MRC_FULL clang too, warnings as errors): no writable data, no
# undefined symbol but mem*, abort, what mrc_assert prints with, and other
# engine functions. Unnumbered TAP lines; status 1 if any failed.
set -euo pipefail
cd "$(dirname "$0")"

engine=../../kernel/engine
out=../../build/engine/pure
fail=0
words='linux/|\bskb|\bspin_|\bk[mzv]*alloc|\bjiffies|\bktime|\bget_random|\bprintk'
words+='|\bpr_(err|warn|info|debug)|\bfloat\b|\bdouble\b|\blong\b|\brand\(|\btime\('
words+='|\b(m|c|re)alloc\(|\bfree\(|__KERNEL__|LINUX_VERSION_CODE|MRC_HAVE_'
libc='memcpy|memset|memcmp|memmove|abort|fprintf|stderr'

report()	# name, problems (empty: ok)
{
	if [ -z "$2" ]; then
		echo "ok - $1"
	else
		printf '# %s\n' "${2//$'\n'/$'\n'# }"
		echo "not ok - $1"
		fail=1
	fi
}

check_source()
{
	local f bad=

	for f in "$engine"/*/*.[ch]; do
		[[ $f == */mrc_env*.h ]] && continue
		# Only strips comments: -fpreprocessed expands nothing.
		bad+=$(gcc -fpreprocessed -dD -E -P "$f" | grep -nE "$words" |
			sed "s|^[0-9]*|${f##*/}|" || true)
	done
	report "purity: forbidden words" "$bad"
}

check_object()	# compiler unit
{
	local o=$out/$1-${2##*/}.o log

	# No PIC, or constant tables of functions would count as writable.
	if ! log=$("$1" -std=gnu11 -O2 -fno-pic -Wall -Wextra -Wshadow -Wconversion -Werror \
			"-I$engine" -c -o "$o" "$engine/$2.c" 2>&1); then
		report "purity: $2 compiles without warnings [$1]" "$log"
		return
	fi
	report "purity: $2 compiles without warnings [$1]" ""
	report "purity: $2 undefined symbols [$1]" \
		"$(nm -u "$o" | awk '{ print $2 }' | grep -vxE "$libc|mrc_[a-z0-9_]+" || true)"
	report "purity: $2 has no writable data [$1]" \
		"$(nm "$o" | awk '$2 ~ /^[dDbBcCsSgG]$/' || true)"
}

# Functions the engine calls and nobody in the engine defines.
check_closed()
{
	local objs=("$out"/gcc-*.o)

	report "purity: engine is closed" "$(comm -23 \
		<(nm -u "${objs[@]}" | awk '$1 == "U" { print $2 }' | grep '^mrc_' | sort -u) \
		<(nm --defined-only "${objs[@]}" | awk 'NF == 3 { print $3 }' | sort -u))"
}

rm -rf "$out"
mkdir -p "$out"
check_source
# shellcheck disable=SC2016 # $(...) is for make
while read -r unit; do
	for cc in gcc ${MRC_FULL:+clang}; do
		check_object "$cc" "$unit"
	done
done < <(printf 'include %s/files.mk\nall:;@printf "%%s\\n" $(MRC_ENGINE_OBJS:.o=)\n' "$engine" |
	make -s -f -)
check_closed
exit $fail
