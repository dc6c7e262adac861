#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The engine's own tests, in user space.
#
# timeout: 900
exec "$(dirname "$(readlink -f "$0")")/../engine/run.sh" "$@"
