#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# deps.sh - install what building and testing need (Debian 12; -b also Debian 13), by apt-get.
#
#   deps.sh          install what is missing; nothing missing costs one dpkg-query
#   deps.sh -n ...   only print what is missing of it, exit 1 if anything is
#   deps.sh -f       also what only "make check-full" runs
#   deps.sh -d       only what "make demo" and "make shell" need
#   deps.sh -s       only what "make docs" needs
#   deps.sh -b       only what building for the kernel that runs here needs: no other kernel, no emulator
#
# Runs as root or through sudo. The headers' meta packages name one 6.1 and one
# 6.12 kernel; kernels.sh fetches the images of exactly those versions. Without and with -f also the kernels of
# newer Debians (suite.sh), and with -f those of arm64 (arm64.sh): where these cannot be had, it says so and goes on.

set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
# Debian 12's own default is too old.
boost=libboost-dev
! grep -qs '^VERSION_ID="12"' /etc/os-release || boost=libboost1.81-dev

PACKAGES_BUILD=(
	gcc g++ make clang pkg-config rsync kmod
	# plug-in, libmrc
	rdma-core ibverbs-providers libibverbs-dev
	# the README's first cable
	ibverbs-utils perftest
	# packages
	build-essential debhelper dh-dkms
	# daemon and tools
	libnl-3-dev libnl-genl-3-dev libnl-route-3-dev libbpf-dev
	"$boost" libtomlplusplus-dev nlohmann-json3-dev
	libfmt-dev libcli11-dev
)

# No clang and no libbpf: mrcctl does without its histograms. The headers of 6.1, because those of
# 6.12 install a kernel, which the next boot of this host would take.
PACKAGES_DEMO=(
	gcc g++ make pkg-config rsync kmod binutils linux-headers-amd64
	rdma-core ibverbs-providers libibverbs-dev
	libnl-3-dev libnl-genl-3-dev libnl-route-3-dev
	"$boost" libtomlplusplus-dev nlohmann-json3-dev libfmt-dev libcli11-dev
	# the virtual machine, and programs in it
	qemu-system-x86 busybox-static cpio xz-utils zstd procps
	iproute2 iputils-ping netcat-openbsd tcpdump jq python3
	ibverbs-utils perftest
)

PACKAGES=(
	"${PACKAGES_BUILD[@]}"
	# compilers, kernel headers
	libclang-rt-14-dev sparse shellcheck valgrind llvm abigail-tools
	linux-headers-amd64 linux-headers-6.12-amd64
	# the virtual machine
	qemu-system-x86 busybox-static cpio xz-utils zstd procps
	# network tools
	iproute2 nftables ethtool iputils-ping tcpdump tshark netcat-openbsd socat jq python3
	# RDMA user space
	ibverbs-utils perftest rdmacm-utils python3-pyverbs librdmacm-dev qperf ucx-utils libfabric-bin
	openmpi-bin libopenmpi-dev
	lintian mandoc
	# unit tests
	libgtest-dev libgmock-dev
)

PACKAGES_SITE=(mkdocs mkdocs-material mandoc)

# Large, and for tests that say "kernels: full".
PACKAGES_FULL=("${PACKAGES_SITE[@]}" chromium debootstrap python3-clang mpich libmpich-dev python3-mpi4py nfs-kernel-server nfs-common nvme-cli fio open-iscsi libgloo-dev)

# Packages of the list that dpkg does not know as installed.
missing() {
	local installed
	# One query for all; dpkg-query fails when it has never heard of one.
	# shellcheck disable=SC2016
	installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' \
		"${PACKAGES[@]}" 2>/dev/null | sed -n 's/ installed$//p' || true)
	printf '%s\n' "${PACKAGES[@]}" | grep -vxF -e "$installed" || true
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

apt() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"
}

# also SCRIPT SERIES...: their headers; "make" and run.sh leave out what is not there.
also() {
	local script=$1 series log
	shift
	log=$(mktemp)
	for series; do
		"$here/$script" --kdir "$series" >/dev/null || "$here/$script" get "$series" 2>"$log" ||
			echo "deps: no Linux $series: $(tail -n 1 "$log")"
	done
	rm -f "$log"
}

promtool() { "$here/promtool.sh" get || echo "deps: no promtool"; }

# size PACKAGE...: how many packages that is with what they need, and how large, as apt says it.
size() {
	LC_ALL=C apt-get install --no-install-recommends --assume-no "$@" 2>/dev/null | sed -nE \
		-e 's/^.* ([0-9]+) newly installed.*/\1 packages/p' \
		-e 's/^Need to get ([^ ]+ [kMG]?B).*/\1 to fetch/p' \
		-e 's/^After this operation, ([^ ]+ [kMG]?B) of additional.*/\1 on disk/p' | paste -sd , | sed 's/,/, /g'
}

# install PACKAGE...: what is missing.
install() {
	local log
	if ! command -v apt-get >/dev/null; then
		echo "deps: not a Debian system; please install: $*" >&2
		return 1
	fi

	$say "deps: installing $*"
	apt update
	echo "deps: $(size "$@")"
	# libboost1.81-dev takes the place of the default 1.74, if that is installed.
	# What debconf and maintainers' scripts say is of interest when they fail.
	log=$(mktemp)
	if ! apt install -y --no-install-recommends "$@" >"$log" 2>&1; then
		cat "$log" >&2
		return 1
	fi
	rm -f "$log"

	mapfile -t want < <(missing)
	if [ ${#want[@]} -gt 0 ]; then
		echo "deps: still missing: ${want[*]}" >&2
		return 1
	fi
}

main() {
	local want only_print='' say=echo

	if [ "${1:-}" = -n ]; then
		only_print=1
		shift
	fi
	case ${1:-} in
	-f) PACKAGES+=("${PACKAGES_FULL[@]}");;
	-b) PACKAGES=("${PACKAGES_BUILD[@]}" "linux-headers-$(uname -r)");;
	-s) PACKAGES=("${PACKAGES_SITE[@]}");;
	-d) PACKAGES=("${PACKAGES_DEMO[@]}") say=:;;
	esac
	mapfile -t want < <(missing)
	if [ -n "$only_print" ]; then
		[ ${#want[@]} -gt 0 ] || return 0
		printf '%s\n' "${want[@]}"
		return 1
	fi
	[ ${#want[@]} -eq 0 ] || install "${want[@]}"
	case ${1:-} in
	'') also suite.sh 7.2 7.3; promtool;;
	-f)
		also suite.sh 7.2 7.3
		promtool
		also arm64.sh 6.12-arm64 6.12-arm64-16k
		"$here/suite.sh" add frr || echo "deps: no FRR"
		"$here/rdmacore.sh" get || echo "deps: no newer rdma-core"
		;;
	esac
}

main "$@"
