#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run.sh - mutants of the engine: each small patch here makes it wrong, and a unit test must say so.
#
#   run.sh [-a] [-r] [-q] [-n N] [NAME...]
#   run.sh -g [-q] FILE...
#
#   -a     only: do all patches apply and compile? Takes seconds, builds no test
#   -r     only: write patches anew whose surroundings have changed; the others stay
#   -q     without the tests that take seconds, unless a patch names them: what survives may
#          yet be killed
#   -n N   a sample of N, another one each day; default all
#   NAME   only mutants of that name (NAME.patch)
#   -g     not the patches here, but one for each operator and constant of FILE of the engine, such as
#          peer/mrc_incast.c (tokens.py): shows which decisions no test pins down
#
# The tests are built once against the engine as a shared library, without sanitizers
# (Makefile); each mutant costs a compilation of what it touches, and the tests up to the
# first that fails. A patch says in its first lines what goes wrong ("What: ...") and which
# test is likely to notice ("Test: test_x ..."), which runs first. A mutant that survives all
# tests is a failure, and so is a patch that no longer applies: it speaks of code that has
# changed. TAP on standard output; $MUTANT_LOG gets the seconds of each.
#
# A new one: change the engine, put "git diff -U1 kernel/engine" behind the two lines, and
# check the change out again.

set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=$(cd "$here/../.." && pwd)
out=$top/build/mutants
tests=$top/selftests/engine
engine=$top/kernel/engine
jobs=$(nproc)
cflags='-std=gnu11 -g0 -O1 -fPIC -w'

# ---- one mutant ----

touched() { sed -n 's,^+++ b/kernel/engine/\([^[:space:]]*\).*,\1,p' "$1"; }

# mutate PATCH DIR: the engine with it, in DIR/src. Context counts: no line is guessed.
mutate() {
	rm -rf "$2"
	mkdir -p "$2"
	cp -r "$engine" "$2/src"
	patch -s -p3 -F0 --no-backup-if-mismatch -r - -d "$2/src" <"$1" >"$2/log" 2>&1
}

# units DIR PATCH: the files to be compiled for it; of a header, those that include it.
units() {
	local file
	for file in $(touched "$2"); do
		case $file in
		*.c) echo "${file##*/}";;
		*) grep -lw "$file" "$out"/engine/*.d | sed 's,.*/,,; s/\.d$/.c/';;
		esac
	done | sort -u
}

# rebuild DIR PATCH: DIR/libengine.so, from what is new and the objects of the engine.
rebuild() {
	local c
	mkdir -p "$1/lib"
	ln -s "$out"/engine/*.o "$1/lib/"
	for c in $(units "$1" "$2"); do
		rm -f "$1/lib/${c%.c}.o"
		# shellcheck disable=SC2086
		${CC:-gcc} $cflags -I"$1/src" -c -o "$1/lib/${c%.c}.o" "$1/src"/*/"$c" || return 1
	done
	${CC:-gcc} -shared -o "$1/libengine.so" "$1"/lib/*.o
}

# passes DIR TEST. An endless loop fails; processor time, for the machine may be busy.
passes() { (ulimit -c 0 -t 60; LD_LIBRARY_PATH=$1 GTEST_FAIL_FAST=1 exec timeout 900 "$out/$2") >/dev/null 2>&1; }

# Those that take seconds: asked last.
slow='test_cc test_wire test_evgen test_ctl test_spray test_rack test_probe_budget test_tx
	test_conn_sizes test_nscc_loop test_incast'

# killer DIR TEST...: the first test that fails with the library of DIR, or nothing. The named
# ones are asked first.
killer() {
	local dir=$1 t rest
	shift
	# shellcheck disable=SC2086
	rest=$(cd "$tests" && printf '%s\n' test_*.cc | sed 's/\.cc$//' | grep -vxF "$(printf '%s\n' "$@" $slow)")
	[ -n "${QUICK:-}" ] || rest+=" $slow"
	for t in "$@" $rest; do
		passes "$dir" "$t" || { echo "$t"; return; }
	done
}

# judge PATCH: one line of TAP without its number.
judge() {
	local name dir by start=$EPOCHSECONDS
	name=$(basename "$1" .patch)
	dir=$out/m.$name
	if ! mutate "$1" "$dir"; then
		echo "not ok - $name applies"
	elif ! rebuild "$dir" "$1" >"$dir/log" 2>&1; then
		echo "not ok - $name compiles"
	else
		# shellcheck disable=SC2046
		by=$(killer "$dir" $(sed -n 's/^Test: *//p' "$1"))
		if [ -n "$by" ]; then
			echo "ok - $name is killed by $by"
		else
			echo "not ok - $name survives: $(sed -n 's/^What: *//p' "$1")"
		fi
	fi
	rm -rf "$dir"
	[ -z "${MUTANT_LOG:-}" ] || echo "$((EPOCHSECONDS - start)) $name" >>"$MUTANT_LOG"
}

# ---- do they still apply? ----

# apply PATCH: likewise, without any test.
apply() {
	local name dir c
	name=$(basename "$1" .patch)
	dir=$out/a.$name
	if ! mutate "$1" "$dir"; then
		echo "not ok - $name applies"
		sed 's/^/# /' "$dir/log"
	else
		c=$(touched "$1" | grep '\.c$') || c=conn/mrc_conn.c
		# shellcheck disable=SC2086
		if (cd "$dir/src" && ${CC:-gcc} $cflags -I. -fsyntax-only $c) >"$dir/log" 2>&1; then
			echo "ok - $name applies and compiles"
		else
			echo "not ok - $name compiles"
		fi
	fi
	rm -rf "$dir"
}

# stale: names of patches that do not, all of them looked at within seconds.
stale() {
	local p
	for p in "$here"/*.patch; do
		patch -s -p3 -F0 --dry-run -r - -d "$engine" <"$p" >/dev/null 2>&1 || basename "$p" .patch
	done
}

# all_apply: one line of TAP.
all_apply() {
	local names
	names=$(stale)
	[ -n "$names" ] || { echo "ok - all patches apply"; return; }
	echo "not ok - all patches apply"
	# shellcheck disable=SC2086
	printf '# not: %s\n' $names
}

# renew PATCH: write it anew from where it applies now, if at all.
renew() {
	local name dir f
	name=$(basename "$1" .patch)
	dir=$out/r.$name
	if ! mutate "$1" "$dir"; then
		rm -rf "$dir"
		mkdir -p "$dir"
		cp -r "$engine" "$dir/src"
		if ! patch -s -p3 -F3 --no-backup-if-mismatch -r - -d "$dir/src" <"$1" >/dev/null 2>&1; then
			echo "not ok - $name: by hand"
			grep '^[-+]' "$1" | sed 's/^/#   /'
			rm -rf "$dir"
			return
		fi
	fi
	for f in $(touched "$1"); do
		diff -U1 --label "a/kernel/engine/$f" --label "b/kernel/engine/$f" "$engine/$f" "$dir/src/$f" || true
	done >"$dir/diff"
	{ grep -E '^(What|Test): ' "$1"; cat "$dir/diff"; } >"$dir/new"
	cmp -s "$dir/new" "$1" || cp "$dir/new" "$1"
	echo "ok - $name"
	rm -rf "$dir"
}

# ---- all of them ----

# forget: objects of files that the engine no longer has; all objects here are linked into a mutant.
forget() {
	local o f
	for o in "$out"/engine/*.[od]; do
		f=${o##*/}
		compgen -G "$engine/*/${f%.*}.c" >/dev/null || rm -f "$o"
	done
}

# The engine itself must pass; asked again only when something was built.
whole() {
	local bad
	forget
	make -s -j"$jobs" -C "$here" >"$out/log" 2>&1 || { sed 's/^/# /' "$out/log"; return 1; }
	# shellcheck disable=SC2016
	[ -z "$(find "$out" -maxdepth 2 \( -name 'test_*' -o -name '*.so' \) -newer "$out/whole" 2>&1)" ] ||
		bad=$(cd "$tests" && printf '%s\n' test_*.cc | sed 's/\.cc$//' |
			xargs -P "$jobs" -I{} bash -c 'passes "$out/engine" {} || echo {}')
	[ -z "${bad:-}" ] || { echo "# without any mutant: $bad"; return 1; }
	touch "$out/whole"
}

# number: TAP with its numbers, line by line as it comes.
number() {
	local line n=0
	while read -r line; do
		case $line in
		"ok - "*) echo "ok $((++n)) - ${line#ok - }";;
		"not ok - "*) echo "not ok $((++n)) - ${line#not ok - }";;
		*) echo "$line";;
		esac
	done
	echo "1..$n"
}

main() {
	local sample=0 how=judge tokens='' option patches=() p
	while getopts arqgn: option; do
		case $option in
		g) tokens=$out/tokens;;
		a) how=apply;;
		r) how=renew;;
		q) export QUICK=1;;
		n) sample=$OPTARG;;
		*) sed -n '3,/^set /s/^# \{0,1\}//p' "$0" >&2; exit 2;;
		esac
	done
	shift $((OPTIND - 1))
	[ -z "$tokens" ] || rm -rf "$tokens"
	for p; do
		[ -n "$tokens" ] || { patches+=("$here/$p.patch"); continue; }
		"$here/tokens.py" "$engine" "$p" "$tokens"
	done
	[ $# -gt 0 ] || patches=("$here"/*.patch)
	[ -z "$tokens" ] || patches=("$tokens"/*.patch)
	[ "$sample" -eq 0 ] || mapfile -t patches < <(printf '%s\n' "${patches[@]}" |
		shuf --random-source=<(yes "$(date +%F)") -n "$sample")
	mkdir -p "$out"
	export -f judge apply renew mutate touched units rebuild passes killer
	export top out tests engine here cflags slow
	echo "TAP version 13"
	[ $how != judge ] || whole || { echo "not ok 1 - the engine passes its own tests"; echo "1..1"; exit 1; }
	{
		[ "$sample" -eq 0 ] || all_apply
		printf '%s\n' "${patches[@]}" | xargs -P "$jobs" -I{} bash -c "$how {}"
	} | number | tee "$out/tap"
	! grep -q '^not ok' "$out/tap"
}

main "$@"
