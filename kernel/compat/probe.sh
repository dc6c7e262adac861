#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# probe.sh KDIR OUT - finds out which features the kernel that was built in KDIR has.
#
# Compiles every compat/probe/*.c in one kernel make, and writes OUT (mrc_have.h) with one
# MRC_HAVE_<NAME> per file that compiled. If neither NAME.c nor else_NAME.c compiles, the kernel has
# a third form of that interface: the script names it and exits with status 3. The stamp on the
# first line (kernel release and a checksum of the probes) makes a second run a no-op; mrc_have.h of
# another kernel is replaced. Kbuild calls the script, so every way to build the module does. Kbuild
# also exports its own state, so the environment is cleaned. If the probing itself is broken,
# OUT.log keeps the compiler's output.
set -euo pipefail

if [ $# -ne 2 ]; then
	echo "usage: probe.sh KDIR OUT" >&2
	exit 2
fi
kdir=$(cd "$1" && pwd)
out=$2
probes=$(cd "$(dirname "$0")" && pwd)/probe

release=$(cat "$kdir/include/config/kernel.release")
sum=$(cat "$0" "$probes"/*.c | cksum | cut -d' ' -f1)
stamp="/* Written by compat/probe.sh: $kdir, $release, probes $sum. */"
if [ -f "$out" ] && [ "$(head -n1 "$out")" = "$stamp" ]; then
	exit 0
fi

mkdir -p "$(dirname "$out")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp "$probes"/*.c "$tmp"
{
	echo 'ccflags-y := -Wno-missing-prototypes -Wno-missing-declarations'
	echo 'ccflags-y += -Werror=implicit-function-declaration'
	echo 'ccflags-y += -Werror=incompatible-pointer-types'
	for f in "$tmp"/*.c; do
		echo "obj-m += $(basename "$f" .c).o"
	done
} > "$tmp/Kbuild"

# Fails by design (self_never); what counts is which objects appear.
args=(-k "-j$(nproc)" -C "$kdir" "M=$tmp")
for v in ARCH CROSS_COMPILE LLVM CC; do
	[ -z "${!v:-}" ] || args+=("$v=${!v}")
done
env -i PATH="$PATH" HOME="${HOME:-/}" LC_ALL=C make "${args[@]}" modules > "$tmp/log" 2>&1 || true

broken() {
	cp "$tmp/log" "$out.log"
	echo "probe.sh: $1 (kernel $release); see $out.log" >&2
	exit 1
}
[ -f "$tmp/self_always.o" ] || broken "nothing compiles against $kdir"
[ ! -f "$tmp/self_never.o" ] || broken "everything compiles against $kdir"
unknown=()
for f in "$probes"/else_*.c; do
	name=$(basename "$f" .c)
	name=${name#else_}
	[ -f "$tmp/$name.o" ] || [ -f "$tmp/else_$name.o" ] || unknown+=("$name")
done
if [ ${#unknown[@]} -gt 0 ]; then
	cp "$tmp/log" "$out.log"
	echo "Linux $(cut -d . -f 1,2 <<<"$release") is not supported yet: ${unknown[*]} (compat/probe, $out.log)" >&2
	exit 3
fi

{
	echo "$stamp"
	for f in "$probes"/*.c; do
		name=$(basename "$f" .c)
		case $name in self_*|else_*) continue ;; esac
		if [ -f "$tmp/$name.o" ]; then
			echo "#define MRC_HAVE_${name^^} 1"
		else
			echo "/* MRC_HAVE_${name^^} is not set */"
		fi
	done
} > "$out.tmp.$$"
mv "$out.tmp.$$" "$out"
