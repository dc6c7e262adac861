#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# timeout: 300
#
# What "make install" puts where, that "make uninstall" takes all of it away, what make says where
# kernel headers are missing, and mrcd's unit.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/lib/lib.sh
. "$here/../lib/lib.sh"

ksft_plan ""
tmp=$(mktemp -d)
at_exit rm -rf "$tmp"
cd "$MRC_TOP"

# Not the options of the make that started us.
run_make() { env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make "$@"; }

ksft_test "make install" run_make install DESTDIR="$tmp/root"
for file in usr/sbin/mrcd usr/sbin/mrcctl usr/lib/systemd/system/mrcd.service \
	usr/share/man/man8/mrcd.8 usr/share/man/man8/mrcctl.8 usr/share/man/man8/mrcctl-dev.8 usr/share/man/man4/mrc.4 usr/share/man/man5/fabric.toml.5 \
	usr/share/bash-completion/completions/mrcctl usr/share/zsh/vendor-completions/_mrcctl usr/share/fish/vendor_completions.d/mrcctl.fish \
	usr/share/bash-completion/completions/mrcd usr/share/zsh/vendor-completions/_mrcd usr/share/fish/vendor_completions.d/mrcd.fish etc/libibverbs.d/mrc.driver \
	"usr/lib/*/libibverbs/libmrc-rdmav*.so" "usr/lib/*/libmrc.so.1" "usr/lib/*/libmrc.so" \
	"usr/lib/*/lib_mrc.so" "usr/lib/*/libnv_mrc.so" "usr/lib/*/pkgconfig/mrc.pc" \
	usr/include/mrc/mrc.h usr/include/mrc/mrc_api_ver.h usr/include/mrc/mrc_ctl.h \
	usr/include/mrc/mrc_ctl_api_ver.h usr/share/man/man7/mrc.7 \
	usr/share/man/man7/mrc_ctl.7 "usr/lib/systemd/system/mrc-device@.service" \
	usr/lib/udev/rules.d/85-mrc.rules usr/lib/udev/rules.d/61-mrc-names.rules usr/lib/systemd/network/05-mrc.network \
	usr/lib/NetworkManager/conf.d/10-mrc.conf etc/network/if-pre-up.d/mrc \
	usr/share/doc/mrc/examples/two-hosts.toml usr/share/doc/mrc/examples/rule.toml \
	usr/share/doc/mrc/examples/lists.toml "lib/modules/6.1.*/updates/mrc.ko" \
	"lib/modules/6.12.*/updates/mrc.ko" usr/include/linux/mrc.h usr/include/rdma/mrc-abi.h \
	usr/share/ynl/specs/mrc.yaml usr/share/mrc/monitoring/alerts.yml usr/share/mrc/monitoring/grafana/fleet.json; do
	ksft_test "installs $file" compgen -G "$tmp/root/$file"
done
# Symbols for debuggers are 160 MB of it.
stripped() {
	local file n=0
	while read -r file; do
		! readelf -S -W "$file" | grep -F .debug_info || { echo "$file has debugging symbols"; return 1; }
		n=$((n + 1))
	done < <(find "$tmp/root" -type f \( -name '*.so*' -o -name '*.ko' -o -path '*/sbin/*' \))
	[ $n -ge 6 ]
}
ksft_test "programs, libraries and modules are stripped" stripped
# Of each call that the headers declare, by its name; the page that it leads to speaks of it.
each_call_has_a_page() {
	local call page n=0
	while read -r call; do
		page=$(cut -d ' ' -f 2 "$tmp/root/usr/share/man/man3/$call.3") || return
		grep -q "$call" "$tmp/root/usr/share/man/$page" || { echo "$page is silent about $call"; return 1; }
		n=$((n + 1))
	done < <(sed -n 's/^call [^(]*[ *]\(mrc_[a-z_]*\)(.*/\1/p' selftests/libmrc/api.txt)
	[ $n -ge 40 ]
}
ksft_test "each call of mrc.h and mrc_ctl.h has a page of its name" each_call_has_a_page
unit=$tmp/root/usr/lib/systemd/system/mrcd.service
ksft_test "the unit starts the daemon that is installed" \
	grep -q '^ExecStart=/usr/sbin/mrcd ' "$unit"
# ssh and logins come after network.target: it must not wait for a start that may take for ever.
boot_waits() {	# UNIT
	grep -qE '^Timeout(Start)?Sec=(infinity|0)$' "$1" &&
		grep -E '^Before=(.*[[:space:]])?network[a-z-]*\.target([[:space:]]|$)' "$1"
}
boot_goes_on() { ! boot_waits "$unit"; }
{ cat "$unit" && echo "Before=remote-fs.target network-online.target"; } >"$tmp/waits"
ksft_test "a boot does not wait for the fabric" boot_goes_on
ksft_test "(of a unit for which it would that is noticed)" boot_waits "$tmp/waits"
if command -v systemd-analyze >/dev/null; then
	sed -i "s|/usr/sbin/mrcd|$tmp/root/usr/sbin/mrcd|" "$unit"
	ksft_test "systemd finds nothing wrong with it" systemd-analyze verify --man=no "$unit"
else
	ksft_skip "systemd finds nothing wrong with it" "no systemd-analyze"
fi

example() { "$tmp/root/usr/sbin/mrcctl" fabric check "$tmp/root/usr/share/doc/mrc/examples/$1.toml"; }
for name in two-hosts rule lists; do
	ksft_test "the example $name is right" example $name
done
ksft_test "a boot does not wait for the interface of a device" \
	grep -q '^WantedBy=sys-subsystem-net-devices-%i.device$' "$tmp/root/usr/lib/systemd/system/mrc-device@.service"

# As a program of others finds it: pkg-config's word, and the names in use.
cat >"$tmp/version.c" <<'C'
#include <mrc_ctl.h>
int main(void)
{
	uint32_t now = 0;

	mrc_query_version(&now, NULL, NULL, NULL);
	return now != MRC_API_CURRENT_VERSION;
}
C
program() {	# LIBRARY
	local flags libs
	libs=$(dirname "$(compgen -G "$tmp/root/usr/lib/*/libmrc.so.1")")
	read -ra flags < <(PKG_CONFIG_SYSROOT_DIR=$tmp/root PKG_CONFIG_PATH=$libs/pkgconfig \
		pkg-config --cflags mrc)
	gcc "${flags[@]}" -o "$tmp/version" "$tmp/version.c" -L"$libs" "$1" -libverbs &&
		LD_LIBRARY_PATH=$libs "$tmp/version"
}
for library in -lmrc -l_mrc -lnv_mrc; do
	ksft_test "a program with $library runs" program $library
done

ksft_test "make uninstall" run_make uninstall DESTDIR="$tmp/root"
# Folders that others share with us may stay.
nothing_left() { ! find "$tmp/root" ! -type d -o -name mrc | grep .; }
ksft_test "leaves nothing behind" nothing_left
# Who works in one folder installs from there.
by_folder() {
	local folder
	for folder in tools/lib/ibverbs tools/lib/mrc daemon tools/mrcctl; do
		run_make -C "$folder" "$@" DESTDIR="$tmp/root" || return
	done
}
ksft_test "make install-user" run_make install-user DESTDIR="$tmp/root"
ksft_test "make uninstall, folder by folder" by_folder uninstall
ksft_test "leaves nothing of it behind" nothing_left

says() {	# TEXT STATUS CMD...
	local text=$1 status=$2 rc=0
	shift 2
	"$@" >"$tmp/said" 2>&1 || rc=$?
	cat "$tmp/said"
	[ "$rc" -eq "$status" ] && grep -q -- "$text" "$tmp/said"
}
ksft_test "kernels without headers are skipped and named" \
	says "SKIP.*mrc.ko for 6.99" 0 run_make modules KVERS="6.1 6.99"
ksft_test "without any headers it says what to do" \
	says "no kernel headers of 6.99: make deps" 2 run_make modules KVERS=6.99

# It would take the first word for the folder, and "make clean" what lies there.
blank="$tmp/a folder"
mkdir -p "$blank" "$tmp/a/build"
cp Makefile "$blank"
ksft_test "a path with blanks is refused" \
	says "in a path with blanks" 2 run_make -C "$blank" clean
ksft_test "and what lies beside it stays" test -d "$tmp/a/build"
needs_stay() {	# FOLDER: what it is compiled with
	run_make -n -B -C "$1" CXXFLAGS=-O1 CPPFLAGS=-DX >"$tmp/said" 2>&1 || return
	grep -q -- '-O1 .*-std=c++20' "$tmp/said" && ! grep -- 'g++ .*-c ' "$tmp/said" | grep -v -- '-std=c++20'
}
for folder in daemon tools/mrcctl tools/sim; do
	ksft_test "$folder: flags of the command line leave those that are needed" needs_stay $folder
done

ksft_finish
