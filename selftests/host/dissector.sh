#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
#
# tools/wireshark/mrc.lua in tshark: golden captures, spoiled frames, and faults put into it.
here=$(dirname "$(readlink -f "$0")")
make -s -C "$here/../../tools/sim" >&2 || exit
exec /usr/bin/python3 -I "$here/../conformance/mutate_lua.py" "${MRC_SEED:-1}" "$here/../../build/sim/gcc/mrcsim"
