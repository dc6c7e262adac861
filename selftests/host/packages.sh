#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# timeout: 900
#
# Debian packages: what is in each, what they depend on, how large they are, and what lintian says.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=selftests/lib/lib.sh
. "$here/../lib/lib.sh"

ksft_plan ""
need_cmd dpkg-buildpackage dh lintian dpkg-deb
cd "$MRC_TOP"
tmp=$(mktemp -d)
at_exit rm -rf "$tmp"
version=$(sed -n 's/^MRC_VERSION := //p' kernel/version.mk)
arch=$(dpkg --print-architecture)
multi=$(dpkg-architecture -qDEB_HOST_MULTIARCH)

build() {
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make "-j$(nproc)" user >"$tmp/make" 2>&1 || { tail "$tmp/make"; return 1; }
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS tools/deb.sh -q -o "$tmp/deb"
}
ksft_test "make deb" build
deb() { echo "$tmp/deb/$1_${version}_$([ "$1" = mrc-dkms ] && echo all || echo "$arch").deb"; }

# lists PACKAGE: files and links, without those that each package has.
lists() { dpkg-deb -c "$(deb "$1")" | awk '$1 !~ /^d/ { print substr($6, 2) }' | grep -v '^/usr/share/doc/\|^/usr/share/lintian/' | sort; }
holds() {	# PACKAGE FILE...: these, and no other
	local package=$1
	shift
	diff <([ $# -eq 0 ] || printf '%s\n' "$@" | sort) <(lists "$package")
}
calls=$(sed -n 's/^\t\t\(mrc_[a-z_]*\);/\/usr\/share\/man\/man3\/\1.3.gz/p' tools/lib/mrc/mrc.map)
pabi=$(nm -D "$(gcc -print-file-name=libibverbs.so.1)" | sed -n 's/.* verbs_register_driver_\([0-9]*\)@.*/\1/p')
ksft_test "ibverbs-provider-mrc" holds ibverbs-provider-mrc /etc/libibverbs.d/mrc.driver \
	"/usr/lib/$multi/libibverbs/libmrc-rdmav$pabi.so" /usr/lib/udev/rules.d/61-mrc-names.rules
ksft_test "libmrc1" holds libmrc1 "/usr/lib/$multi/"{libmrc.so.1,libmrc.so.1.0.1,lib_mrc.so,libnv_mrc.so}
# shellcheck disable=SC2086
ksft_test "libmrc-dev" holds libmrc-dev /usr/include/mrc/{mrc,mrc_api_ver,mrc_ctl,mrc_ctl_api_ver}.h \
	/usr/include/linux/mrc.h /usr/include/rdma/mrc-abi.h "/usr/lib/$multi/"{libmrc.so,pkgconfig/mrc.pc} \
	/usr/share/ynl/specs/mrc.yaml /usr/share/man/man7/{mrc,mrc_ctl}.7.gz $calls
pages=$(cd Documentation/reference/man && printf '/usr/share/man/man8/%s.gz ' mrcctl*.8)
# shellcheck disable=SC2086
ksft_test "mrc-tools" holds mrc-tools /usr/sbin/mrcctl /usr/share/bash-completion/completions/mrcctl \
	/usr/share/fish/vendor_completions.d/mrcctl.fish /usr/share/zsh/vendor-completions/_mrcctl \
	/usr/share/man/man4/mrc.4.gz $pages /usr/share/mrc/monitoring/{alerts,alerts_test}.yml /usr/share/mrc/monitoring/grafana/{faults,fleet,host}.json
ksft_test "mrc" holds mrc
for file in /usr/sbin/mrcd /usr/lib/systemd/system/mrcd.service /usr/share/man/man8/mrcd.8.gz /usr/share/man/man5/fabric.toml.5.gz \
	/usr/lib/systemd/system/mrc-device@.service /usr/lib/systemd/network/05-mrc.network /usr/lib/udev/rules.d/85-mrc.rules \
	/usr/lib/NetworkManager/conf.d/10-mrc.conf /etc/network/if-pre-up.d/mrc \
	/usr/share/bash-completion/completions/mrcd /usr/share/zsh/vendor-completions/_mrcd /usr/share/fish/vendor_completions.d/mrcd.fish; do
	ksft_test "mrcd has $file" grep -qxF "$file" <(lists mrcd)
done
# The source of the module, whole and with nothing of a build.
mkdir "$tmp/src"
dpkg-deb -x "$(deb mrc-dkms)" "$tmp/src"
src=$tmp/src/usr/src/mrc-$version
ksft_test "mrc-dkms has the module's source" diff -r kernel "$src/kernel" -x .have -x .gitignore
ksft_test "and uapi" diff -r uapi "$src/uapi"
ksft_equal "and what DKMS wants" "before-build dkms.conf kernel uapi" "$(cd "$src" && echo *)"
ksft_test "and nothing else" sh -c "! find '$tmp/src' -type f | grep -v '/usr/src/mrc-$version/\|/usr/share/\(doc\|lintian\)/'"
ksft_equal "of this version" "PACKAGE_VERSION=\"$version\"" "$(grep ^PACKAGE_VERSION "$src/dkms.conf")"
# excluded RELEASE: DKMS leaves that kernel out.
excluded() { (. "$src/dkms.conf" && [[ ! $1 =~ $BUILD_EXCLUSIVE_KERNEL ]]); }
built() { ! excluded "$1"; }
kernelver='' kernel_source_dir=''
export kernelver kernel_source_dir
for release in 6.1.0-50-amd64 6.12.117+deb13-amd64 6.12.48+deb12-cloud-amd64 7.2.12+deb13-amd64 7.3.4+deb14-arm64; do
	ksft_test "DKMS builds for $release" built "$release"
done
for release in 5.10.0-33-amd64 6.0.0-6-amd64 6.20.1 7.4.0 7.30.1 8.1.0; do
	ksft_test "and leaves $release out" excluded "$release"
done

depends() { dpkg-deb -f "$(deb "$1")" Depends | grep -qF "$2"; }
ksft_test "the plug-in depends on the library of its private ABI" depends ibverbs-provider-mrc libibverbs1
for package in mrc-dkms ibverbs-provider-mrc libmrc1 mrc-tools mrcd; do
	ksft_test "mrc depends on $package" depends mrc "$package (= $version)"
done
# The programs of the README's first cable, which apt installs by itself.
for package in ibverbs-utils perftest; do
	ksft_test "mrc recommends $package" sh -c "dpkg-deb -f '$(deb mrc)' Recommends | grep -qw $package"
done
ksft_test "libmrc1 has symbols of each version" sh -c "dpkg-deb -e '$(deb libmrc1)' '$tmp/control' &&
	grep -q ' mrc_post_send@MRC_1.0 ' '$tmp/control/symbols' && grep -q ' mrc_query_device_ex@MRC_1.0.1 ' '$tmp/control/symbols'"
ksft_equal "debugging symbols have packages of their own" "ibverbs-provider-mrc libmrc1 mrc-tools mrcd" \
	"$(cd "$tmp/deb" && for file in *-dbgsym_*; do echo "${file%-dbgsym_*}"; done | paste -sd ' ')"
size() { local kb; kb=$(dpkg-deb -f "$(deb "$1")" Installed-Size) && echo "$1: $kb KB" && [ "$kb" -le "$2" ]; }
ksft_test "the source is small" size mrc-dkms 4096
for package in ibverbs-provider-mrc libmrc1 libmrc-dev; do
	ksft_test "$package is small" size $package 1024
done
for package in mrc-tools mrcd; do
	ksft_test "$package is small" size $package 8192
done
lint() { lintian --allow-root --fail-on error,warning --suppress-tags-from-file tools/debian/lintian-tags "$tmp"/deb/*.changes; }
ksft_test "lintian has no complaint" lint
ksft_finish
