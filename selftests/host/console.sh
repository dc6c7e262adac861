#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# An emulator's death is told from an Oops of the kernel, and from nothing else; what the kernel logs of a
# program that died is no complaint of its own.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=../lib/lib.sh
. "$here/../lib/lib.sh"
# shellcheck source=../vm/console.sh
. "$here/../vm/console.sh"

# As 6.12 wrote it; a jump label had become e9 0c 05 00 00.
died() {
	cat <<-'LOG'
	[ 1785.594521] mrc-test: stress churn
	[ 1792.067421] Oops: int3: 0000 [#1] PREEMPT SMP NOPTI
	[ 1792.068077] CPU: 1 UID: 0 PID: 8607 Comm: mrc_verify Tainted: G S         OE
	[ 1792.068480] RIP: 0010:__netif_receive_skb_core.constprop.0+0x3f/0x1060
	[ 1792.069297] Code: e0 00 00 00 31 c0 4c 89 6c 24 38 e9 <0c> 05 00 00 0f 1f 44 00 00
	[ 1792.069587] RSP: 0018:ffffc90000100d00 EFLAGS: 00000246
	[ 1792.070362] Call Trace:
	[ 1792.070996]  <IRQ>
	[ 1792.071571]  __netif_receive_skb_one_core+0x3c/0xa0
	[ 1792.071984]  </IRQ>
	[ 1792.072153]  mrc_qp_post_send+0x1a/0x30 [mrc]
	[ 1792.073744] RIP: 0033:0x7f1dff599350
	[ 1792.073581] Code: 40 00 48 8b 15 b1 <48> 3d 00 f0
	[ 1792.074642] Oops: int3: 0000 [#2] PREEMPT SMP NOPTI
	[ 1792.075029] Kernel panic - not syncing: Fatal exception in interrupt
	LOG
}

# verdict NAME yes|no SED_SCRIPT: of that log, changed so.
verdict() {
	local verdict=no
	died | sed -E "$3" >"$log"
	! stale_int3 "$log" >"$where" || verdict=yes
	ksft_equal "$1" "$2" "$verdict"
}

# splat NAME yes|no LINE: one line of a kernel's log.
splat() {
	local verdict=no
	echo "[    1.000000] $3" >"$logs/dmesg"
	report_splats "$logs" 2>"$where" && verdict=yes
	ksft_equal "$1" "$2" "$verdict"
}

ksft_plan
log=$(mktemp)
where=$(mktemp)
logs=$(mktemp -d)
at_exit rm -rf "$log" "$where" "$logs"

verdict "a jump label that 6.12 had rewritten" yes ''
ksft_equal "where" "__netif_receive_skb_core.constprop.0+0x3f/0x1060" "$(cat "$where")"
verdict "one of 6.1, which does not say Oops" yes 's/Oops: int3/int3/'
verdict "one in another module" yes 's/(RIP: 0010:).*/\1veth_xmit+0x1\/0x2 [veth]/'
verdict "an int3 that is there" no 's/e9 <0c>/cc <0c>/'
verdict "one in our module" no 's/(RIP: 0010:).*/\1mrc_qp_post_send+0x1\/0x2 [mrc]/'
verdict "one in our qdisc" no 's/(RIP: 0010:).*/\1enqueue+0x1\/0x2 [mrc_port_qdisc]/'
verdict "another Oops" no 's/Oops: int3/Oops/'
verdict "an Oops, then this" no '1a [ 1790.0] BUG: kernel NULL pointer dereference'
verdict "a warning, then this" no '1a [ 1790.0] WARNING: CPU: 0 PID: 1 at mrc_qp.c:1'
verdict "a second Oops, whose first is gone" no 's/\[#1\]/[#3]/'
verdict "a machine that died while it wrote" no '/Code:/,$d'
verdict "code that cannot be read" no 's/Code: .*/Code: Unable to access opcode bytes/'
verdict "nothing at all" no 'd'

splat "a program's protection fault" no "traps: mrc_fuzz[424] general protection fault ip:7fe7d7abf9fd sp:7fff error:0"
splat "a program's segmentation fault" no "mrc_fuzz[426]: segfault at 0 ip 0 sp 7fff error 14 likely on CPU 1"
splat "the kernel's protection fault" yes \
	"Oops: general protection fault, probably for non-canonical address 0xdead000000000122: 0000 [#1] SMP"
splat "the same, as 6.1 says it of an unknown address" yes "general protection fault: 0000 [#1] PREEMPT SMP"
splat "a warning" yes "WARNING: CPU: 0 PID: 1 at mrc_qp.c:1 mrc_qp_get+0x1/0x2 [mrc]"
ksft_finish
