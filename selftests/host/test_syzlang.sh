#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# lane: 2
#
# Descriptions for syzkaller say what the headers say: each command and attribute of the netlink family, each struct
# of the verbs ABI with its fields, in order, and its size. With syzkaller's own parser at hand (syz-fmt) that looks, too.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$here/../..
lang=$here/../fuzz/syzkaller
# shellcheck source=selftests/lib/lib.sh
. "$here/../lib/lib.sh"

python3 -c 'import yaml' 2>/dev/null || ksft_skip_all "python3-yaml is not installed"
tmp=$(mktemp -d)
at_exit rm -rf "$tmp"
ksft_plan

"$lang/genl.py" "$top/Documentation/netlink/specs/mrc.yaml" >"$tmp/genl.txt"
ksft_test "mrc_genl.txt is what genl.py makes of mrc.yaml" diff "$lang/mrc_genl.txt" "$tmp/genl.txt"

# Each attribute of the header, but for those that pad messages; MRC_A_DEV_MRC_PAD is about payload.
attributes() {
	grep -oE '^	MRC_A_[A-Z0-9_]+' "$top/uapi/linux/mrc.h" | tr -d '\t' |
		grep -vE '_(UNSPEC|PAD|MAX)$' | cat - <(echo MRC_A_DEV_MRC_PAD) | sort
}
described() { grep -oE '^	MRC_A_[A-Z0-9_]+' "$lang/mrc_genl.txt" | tr -d '\t' | sort; }
ksft_test "it has every attribute, once" diff <(attributes) <(described)
commands() {
	grep -oE '^	MRC_CMD_[A-Z0-9_]+' "$top/uapi/linux/mrc.h" | tr -d '\t' |
		grep -vE '_(UNSPEC|MAX|EVENT|EP_ANSWER|LOG)$' | sort
}
# shellcheck disable=SC2016
ksft_test "and every command that a program may send" diff <(commands) \
	<(grep -oE '^sendmsg\$[A-Z_]+' "$lang/mrc_genl.txt" | cut -d'$' -f2 | sort)

while read -r verdict text; do
	case $verdict in
	ok) ksft_pass "$text";;
	*) ksft_fail "$text";;
	esac
done < <("$lang/check.py" "$top/uapi/rdma/mrc-abi.h" "$lang"/mrc_*.txt)
if command -v syz-fmt >/dev/null; then
	cp "$lang"/mrc_*.txt "$tmp"
	ksft_test "syz-fmt reads them" syz-fmt "$tmp"
fi
ksft_finish
