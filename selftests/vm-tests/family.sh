#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: full
#
# The netlink family as the running kernel describes it is what Documentation/netlink/specs/mrc.yaml says
# (netlink/policy.py), and a difference would be found. Each refusal says which attribute it is about
# (netlink/refusals.py).
#
#	h1 (mrc1) eth1 ---- eth1 (mrc2) h2	one plane

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"

spec=$here/../../Documentation/netlink/specs/mrc.yaml
python() { nsenter --net=/run/netns/h1 -- /usr/bin/python3 "$@"; }
policy() { python "$here/../netlink/policy.py" "$1"; }
differs() {	# SED_EXPRESSION: the spec with it is another one
	sed "$1" "$spec" >"$MRC_DIR/spec.yaml"
	! cmp -s "$spec" "$MRC_DIR/spec.yaml" && ! policy "$MRC_DIR/spec.yaml"
}

ksft_plan
mrc_begin mrcctl python3
/usr/bin/python3 -c 'import yaml' 2>/dev/null || ksft_skip_all "no python3-yaml"
ksft_test "one plane" mrc_one_plane
ksft_test "the kernel takes what the spec says" policy "$spec"
ksft_test "another limit is found" differs '0,/max: 63/s//max: 62/'
ksft_test "another type is found" differs '0,/type: u16/s//type: u32/'
ksft_test "a change for everybody is found" differs '0,/ *flags: \[uns-admin-perm\]/s///'
ksft_test "an attribute that became read-only is found" differs 's/doc: Floor of usable EVs/doc: Read-only. Floor/'
ksft_test "each refusal names the attribute" python "$here/../netlink/refusals.py" eth1
ksft_finish
