#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# timeout: 300
#
# libmrc without a kernel: its headers are OCP's listing (libmrc/api.txt) to the last byte, for C and
# C++ and two compilers; versions are judged as the listing says; what the library exports.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"

top=$here/../..
table=$here/../libmrc/api.txt
include=$top/tools/lib/mrc/include
work=$(mktemp -d)
at_exit rm -rf "$work"

ksft_plan
need_cmd make gcc nm python3
[ -e /usr/include/infiniband/verbs.h ] || ksft_skip_all "no libibverbs-dev"

# compile COMPILER...: the program of stdin, as strictly as can be.
compile() { "$@" -Wall -Wextra -pedantic -Werror -I"$include" -fsyntax-only -; }

# ------------------------------------------------------------------ headers
python3 "$here/../libmrc/listing.py" -c "$table" >"$work/check.c"
listing() { compile "$@" <"$work/check.c"; }
for compiler in "gcc -std=c11 -xc" "clang -std=c11 -xc" "g++ -std=c++17 -xc++" \
	"clang++ -std=c++17 -xc++"; do
	if command -v "${compiler%% *}" >/dev/null; then
		# shellcheck disable=SC2086  # several words
		ksft_test "the listing, with $compiler" listing $compiler
	else
		ksft_skip "the listing, with $compiler" "no ${compiler%% *}"
	fi
done

# A fact that is wrong must be found: each kind of line of the table.
changed() {	# SED_EXPRESSION
	sed "$1" "$table" >"$work/wrong.txt"
	! cmp -s "$table" "$work/wrong.txt" || return
	python3 "$here/../libmrc/listing.py" -c "$work/wrong.txt" >"$work/wrong.c"
	! compile gcc -std=c11 -xc <"$work/wrong.c" 2>/dev/null
}
ksft_test "another value is found" changed 's/^const MRC_QP_RETRY_CNT 256$/const MRC_QP_RETRY_CNT 512/'
ksft_test "another offset is found" changed 's/^\(field struct~mrc_qp_attr cap\) 40/\1 44/'
ksft_test "another size is found" changed 's/^size struct~mrc_ctl_ev 33/size struct~mrc_ctl_ev 36/'
ksft_test "another prototype is found" changed 's/^call int mrc_get_qpn(/call void mrc_get_qpn(/'

# ----------------------------------------------------------------- versions
# uses PREAMBLE BODY: compiles.
uses() { printf '%s\n#include "mrc_ctl.h"\n%s\n' "$1" "$2" | compile gcc -std=c11 -xc; }
uses_not() { ! uses "$@" 2>/dev/null; }
event_size() { echo "_Static_assert(sizeof(struct mrc_ctl_ev_event) == $1, \"\");"; }
calls="void f(void) { int n; mrc_query_device_ex(0, 0, 0, &n); mrc_ctl_query_device_ex(0, 0, 0, &n); }"
calls="$calls void f(void);"
ksft_test "without a word it is 1.0.1" uses "" "$(event_size 56)"
ksft_test "LATEST is an int" uses "" \
	'_Static_assert(_Generic(MRC_API_VER_LATEST, int: 1, default: 0) && MRC_API_VER_LATEST == -1, "");
	_Static_assert(_Generic(MRC_CTL_API_VER_LATEST, int: 1, default: 0), "");'
offsets='_Static_assert(1 << MRC_API_VER_MAJOR_OFFSET == MRC_API_VER(1, 0, 0), "");
	_Static_assert(1 << MRC_API_VER_MINOR_OFFSET == MRC_API_VER(0, 1, 0), "");
	_Static_assert(1 << MRC_API_VER_SUBMINOR_OFFSET == MRC_API_VER(0, 0, 1), "");'
ksft_test "parts of a version have offsets" uses "" "$offsets ${offsets//MRC_API/MRC_CTL_API}"
before_2025='void f(struct ibv_context *v) { struct mrc_attr a; int n; mrc_query_device(v, &a, &n); (void)a.cap; }'
ksft_test "struct mrc_attr is a device's attributes" uses "" "void f(struct ibv_context *v); $before_2025"
ksft_test "in C++, too" compile g++ -std=c++17 -xc++ <<<"#include \"mrc_ctl.h\"
	$before_2025"
ksft_test "which has the calls of 1.0.1" uses "" "void f(void); $calls"
for latest in 0xffffffffu MRC_CTL_API_VER_LATEST; do
	ksft_test "$latest is that, too" uses "#define MRC_CTL_API_VER_USED $latest" "$(event_size 56)"
done
ksft_test "1.0.0 has no state in events" uses "#define MRC_CTL_API_VER_USED 0x01000000" "$(event_size 48)"
ksft_test "nor the calls" uses_not \
	"$(printf '#define MRC_API_VER_USED 0x01000000\n#define MRC_CTL_API_VER_USED 0x01000000')" \
	"void f(void); $calls"
for name in MRC_API MRC_VENDOR_API MRC_CTL_API MRC_CTL_VENDOR_API; do
	ksft_test "$name: a newer one is refused" uses_not "#define ${name}_VER_USED 0x01000002" ""
	ksft_test "$name: the oldest is warned of" uses_not "#define ${name}_VER_USED 0" ""
	ksft_test "$name: one between is accepted" uses "#define ${name}_VER_USED 0x00090000" ""
done

# Each program is bound to the call that knows its events, whatever its context says.
polls_by() {	# PREAMBLE SYMBOL
	printf '%s\n#include "mrc_ctl.h"\nint f(void) { return mrc_ctl_poll_ev_event(0, 0, 0); }\n' "$1" |
		gcc -I"$include" -xc -c -o "$work/polls.o" - || return
	[ "$(nm -u "$work/polls.o" | grep -o 'mrc_ctl_poll.*')" = "$2" ]
}
ksft_test "events are polled by the plain name" polls_by "" mrc_ctl_poll_ev_event
ksft_test "those of 1.0.0 by their own" polls_by "#define MRC_CTL_API_VER_USED 0x01000000" \
	mrc_ctl_poll_ev_event_1_0_0
ksft_test "those of 1.0.1 by theirs, where mrc.h is of 1.0.0" polls_by \
	"#define MRC_API_VER_USED 0x01000000" mrc_ctl_poll_ev_event_1_0_1

# ------------------------------------------------------------------- errors
# Each that is listed has what provokes it; and what is missing is found.
ksft_test "the table of errors is whole" python3 "$here/../libmrc/errors.py"
missing_error() {	# SED_EXPRESSION
	sed "$1" "$here/../libmrc/errors.txt" >"$work/errors.txt"
	! python3 "$here/../libmrc/errors.py" "$work/errors.txt" >/dev/null
}
ksft_test "a call without a line is found" missing_error '/^mrc_get_qpn /d'
ksft_test "an error that nobody provokes is found" missing_error 's/no such EV to replace/no such thing/'
ksft_test "a line of refusals that is not in it is found" missing_error '/^mrc_ctl_modify_port EPERM/d'

# In the virtual machine, on a device: the test programs and the examples.
each_call_runs() {
	local call rc=0
	while read -r call; do
		grep -qw "$call" "$here"/../libmrc/mrc_*.c "$here/../libmrc/mpair.c" "$top"/tools/lib/mrc/examples/*.c ||
			{ echo "no program calls $call"; rc=1; }
	done < <(sed -n 's/^call [^(]*[ *]\(mrc_[a-z_]*\)(.*/\1/p' "$table")
	return $rc
}
ksft_test "programs on a device make each call of both headers" each_call_runs

# ----------------------------------------------------------- controller half
# On a kernel that does what a test needs at the moment it needs it (fake_kernel.cc).
controller() {	# PROGRAM
	local rc=0 line run=("$work/$1")
	make -s "-j$(nproc)" -C "$here/../libmrc" OUT="$work" "$work/$1" || return
	# TSan knows no address space with more than 28 random bits; some containers forbid to ask.
	! setarch -R true 2>/dev/null || run=(setarch -R "${run[@]}")
	[ "$(id -u)" -eq 0 ] || run=(unshare -Ur "${run[@]}")	# it wants to administer networks
	"${run[@]}" >"$work/ctl.out" 2>&1 || rc=$?
	while IFS= read -r line; do
		case $line in
		"ok - "*) ksft_pass "${line#ok - }";;
		"not ok - "*) ksft_fail "${line#not ok - }";;
		*) echo "# $line";;
		esac
	done <"$work/ctl.out"
	return $rc
}
whole() {	# PROGRAM WHAT
	if controller "$1"; then
		ksft_pass "$2, to its end"
	else
		ksft_fail "$2, to its end"
	fi
}
if [ ! -e /usr/include/gtest/gtest.h ] || ! pkg-config --exists libnl-3.0; then
	ksft_skip "the controller half" "no libgtest-dev or libnl-3-dev"
elif [ "$(id -u)" -ne 0 ] && ! unshare -Ur true 2>/dev/null; then
	ksft_skip "the controller half" "neither root nor user namespaces"
else
	whole test_ctl "the controller half"
	whole test_threads "and with threads, under ThreadSanitizer"
fi

# ------------------------------------------------------------------ library
build() { make -s -C "$top/tools/lib/mrc" OUT="$work" CFLAGS="-O2 -g -Werror" CXXFLAGS="-O2 -g -Werror"; }
ksft_test "the library builds without a warning" build
nm -D --defined-only "$work/libmrc.so" | sed -n 's/.* T //p' | sort >"$work/exports"
{
	sed -n 's/^call [^(]*[ *]\(mrc_[a-z_]*\)(.*/\1/p' "$table"
	printf 'mrc_ctl_poll_ev_event_1_0_%s\n' 0 1
} | while read -r call; do
	case $call in
	*_query_device_ex | *_1_0_[01]) echo "$call@@MRC_1.0.1";;
	*) echo "$call@@MRC_1.0";;
	esac
done | sort >"$work/calls"
ksft_test "it exports the calls of the listing, by version, those of events, and nothing else" \
	diff "$work/calls" "$work/exports"
soname() { objdump -p "$work/$1" | grep -q 'SONAME  *libmrc.so.1$'; }
for name in libmrc.so libmrc.so.1 lib_mrc.so libnv_mrc.so; do
	ksft_test "$name leads to libmrc.so.1" soname $name
done
writable() {
	objdump -t "$work/libmrc.so" | grep -E ' O \.(data|bss)[[:space:]]' |
		grep -vE ' (__dso_handle|__TMC_END__|completed\.[0-9]+|.*DW\.ref\..*)$'
}
no_globals() { ! writable; }
ksft_test "it has no writable data of its own" no_globals

# --------------------------------------------------------------------- shim
# A program that knows libibverbs alone, behind the example mrc_shim, which has the names of libibverbs'
# calls and of no flag: libmrc reaches libibverbs.so.1 itself. That one has a device that writes down what it
# hears: commands of QPs of mrc.h for the program's RC QPs.
shim() {
	local tests=$here/../libmrc flags=(-O1 -Wall -Wextra -Werror -D_GNU_SOURCE)
	mkdir -p "$work/fake"
	gcc "${flags[@]}" -fPIC -shared -Wl,-soname,libibverbs.so.1 \
		-Wl,--version-script="$tests/shim_device.map" -o "$work/fake/libibverbs.so.1" "$tests/shim_device.c" &&
		gcc "${flags[@]}" -I"$top/uapi" -fPIC -shared -o "$work/shim_kernel.so" "$tests/shim_kernel.c" &&
		gcc "${flags[@]}" -I"$include" -fPIC -shared -o "$work/mrc_shim.so" \
			"$top/tools/lib/mrc/examples/mrc_shim.c" -L"$work" -Wl,-rpath,"$work" -lmrc -libverbs &&
		gcc "${flags[@]}" -o "$work/shim_client" "$tests/shim_client.c" -libverbs || return
	MRC_QP_CC_PROFILE_ID=5 MRC_DEBUG=1 LD_PRELOAD="$work/mrc_shim.so $work/shim_kernel.so" \
		LD_LIBRARY_PATH="$work/fake" "$work/shim_client" >"$work/shim.out" 2>&1 ||
		{ cat "$work/shim.out"; return 1; }
	diff "$tests/shim.txt" "$work/shim.out"
}
ksft_test "behind a preloaded shim libmrc reaches libibverbs itself" shim

# ---------------------------------------------------------------------- ABI
abi() { "$here/../libmrc/abi.sh" "$@"; }
# A guard that would see nothing is none: changes of each kind, put into what it compares with.
abi_notices() {	# SED_EXPRESSION
	sed "$1" "$here/../libmrc/libmrc.abi" >"$work/other.abi"
	! cmp -s "$here/../libmrc/libmrc.abi" "$work/other.abi" || return
	local rc=0
	abi check "$work/libmrc.so" "$work/other.abi" >/dev/null || rc=$?
	[ $((rc & 4)) -ne 0 ]
}
abi_tests() {
	ksft_test "programs compiled against it before still run" abi check "$work/libmrc.so"
	ksft_test "a call that went is noticed" abi_notices \
		"s/elf-symbol name='mrc_get_qpn'/elf-symbol name='mrc_gone'/"
	ksft_test "another version of a call is noticed" abi_notices \
		"s/\(elf-symbol name='mrc_get_qpn' version='MRC_1.0\)/\1.7/"
	ksft_test "an attribute that moved is noticed" abi_notices \
		"/class-decl name='mrc_qp_attr'/,/class-decl/s/in-bits='320'/in-bits='352'/"
	ksft_test "another size is noticed" abi_notices \
		"s/\(class-decl name='mrc_qp_hint_attr' size-in-bits=\)'1120'/\1'1152'/"
	ksft_test "another argument is noticed" abi_notices \
		"/function-decl name='mrc_get_qpn'/,/function-decl/{0,/<parameter/{/<parameter/d}}"
}
if command -v abidw >/dev/null; then
	abi_tests
else
	ksft_skip "programs compiled against it before still run" "no abidw (abigail-tools)"
fi
ksft_finish
