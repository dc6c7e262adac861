#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mrcd: unit tests, and against this machine's kernel.
#
# timeout: 600
exec "$(dirname "$(readlink -f "$0")")/../daemon/run.sh" "$@"
