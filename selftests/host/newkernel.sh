#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: full
#
# A kernel that nobody has tried: what it has in a third form, or no more, is one line with its name. The kernel is
# made of the headers that are here, with another release and other names.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"

# twin FOLDER NEW FILE SED: NEW is FOLDER, by links, but for that file, to which the command was applied.
twin() {
	local from=$1 to=$2 file=$3 part
	mkdir "$to"
	ln -s "$from"/* "$from"/.[a-z]* "$to/"
	while part=${file%%/*} && [ "$part" != "$file" ]; do
		file=${file#*/} from=$from/$part to=$to/$part
		rm "$to"
		mkdir "$to"
		ln -s "$from"/* "$to/"
	done
	rm "$to/$file"
	sed "$4" "$from/$file" >"$to/$file"
}

# kernel SERIES FILE SED: headers of that release, in which one differs.
kernel() {
	rm -rf "$work/kernel" "$work/common"
	twin "$headers" "$work/kernel" include/config/kernel.release "s/.*/$1.0-mrc/"
	twin "${headers%-amd64}-common" "$work/common" "$2" "$3"
	rm "$work/kernel/Makefile"
	echo "include $work/common/Makefile" >"$work/kernel/Makefile"
}

# says TEXT LINES: the build fails, says that, and in so many lines at most beside make's own.
says() {
	! make -s -C "$work/src/kernel" KDIR="$work/kernel" >"$work/said" 2>&1 || { echo "it builds"; return 1; }
	cat "$work/said"
	grep -q "$1" "$work/said" && [ "$(grep -vc '^make' "$work/said")" -le "$2" ]
}

ksft_plan
need_cmd make gcc rsync
headers=$("$here/../vm/kernels.sh" --kdir 6.12) || ksft_skip_all "no headers of 6.12"
work=$(mktemp -d)
at_exit rm -rf "$work"
mkdir "$work/src"
cp -r "$MRC_TOP/kernel" "$MRC_TOP/uapi" "$work/src/"

kernel 7.99 include/rdma/ib_umem.h 's/\<ib_umem_get\>/ib_umem_get_anew/'
ksft_test "an interface that is of neither known form is named" \
	says "^Linux 7.99 is not supported yet: umem_get_va (" 1
ksft_test "and nothing was compiled but probes" test ! -e "$work/src/kernel/mrc_main.o"
kernel 7.99 include/rdma/ib_verbs.h 's/\<ib_unregister_driver\>/ib_driver_gone/'
ksft_test "so is what no probe asks for" \
	says "^Linux 7.99 is not supported yet: .*error: .*ib_unregister_driver" 1
kernel 6.12 include/rdma/ib_verbs.h 's/\<ib_unregister_driver\>/ib_driver_gone/'
ksft_test "of a kernel that is supported the compiler says all" says "ib_unregister_driver" 1000
ksft_finish
