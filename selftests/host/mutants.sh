#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# mutants.sh - a sample of the engine's mutants, others each day: unit tests must notice each.
#
# timeout: 900
exec "$(dirname "$(readlink -f "$0")")/../mutants/run.sh" -n 6
