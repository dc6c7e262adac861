#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mutants.sh - the engine's mutants: all patches apply, and of a sample, another each day, each compiles. With run.sh -a
# unit tests must notice a sample; that builds all tests a second time.
#
# timeout: 900
options=(-a -n 40)
[ -z "${MRC_FULL:-}" ] || options=(-n 6)
exec "$(dirname "$(readlink -f "$0")")/../mutants/run.sh" "${options[@]}"
