#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# mrc-conform-active: a device that is right breaks none of its rules, and one that is wrong in any of them is caught.
here=$(dirname "$(readlink -f "$0")")
exec /usr/bin/python3 -I "$here/../conformance/mutate_active.py"
