#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mutants.sh - the engine's mutants: each patch applies and compiles. With run.sh -a unit tests must notice a sample, others
# each day; that builds all tests a second time.
#
# timeout: 900
exec "$(dirname "$(readlink -f "$0")")/../mutants/run.sh" ${MRC_FULL:+-n 6} ${MRC_FULL:--a}
