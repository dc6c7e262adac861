#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# The decoder that judges captures of the module finds what is wrong with a packet.
here=$(dirname "$(readlink -f "$0")")
exec /usr/bin/python3 -I "$here/../conformance/mutate.py" "${MRC_SEED:-1}" 1500
