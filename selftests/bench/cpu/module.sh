# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154  # here: the script's own folder; kdir: uml-build.sh --kdir
#
# module.sh - programs that a bench needs, and modules for the User-Mode Linux of $kdir, built from copies.
#
#	. "$here/cpu/module.sh"

need() {		# PROGRAM PACKAGE
	command -v "$1" >/dev/null || apt-get -qq install -y "$2" >/dev/null || {
		echo "needs $1 (package $2)" >&2
		exit 1
	}
}

# module_in FOLDER SOURCES...: built there from copies.
module_in() {
	local dir=$1
	shift
	mkdir -p "$dir"
	rsync -rlpc --delete --exclude='*.o' --exclude='*.ko' --exclude='*.mod' --exclude='*.mod.c' --exclude='.*' \
		--exclude='mrc_have.h*' --exclude=Module.symvers --exclude=modules.order "$@" "$dir/"
	make -C "$dir/$(basename "$1")" KDIR="$kdir" ARCH=um -j"$(nproc)" >"$dir/log" 2>&1 || {
		tail -n 20 "$dir/log" >&2
		exit 1
	}
}

# crc_in FOLDER: what rdma_rxe sums by on a host, as FOLDER/mrc_bench_crc.ko.
crc_in() {
	module_in "$1" "$here/cpu/crc"
	cp "$1/crc/mrc_bench_crc.ko" "$1/"
}

# rooms FOLDER: lines "FUNCTION ROOM" of the module that was built there.
rooms() {
	local object
	while read -r object; do
		nm "$object" | awk -v room="$(basename "$(dirname "$object")")" '$2 ~ /^[tT]$/ { print $3, room }'
	done < <(find "$1/kernel" -mindepth 2 -name 'mrc_*.o') | sort -u -k 1,1
}
