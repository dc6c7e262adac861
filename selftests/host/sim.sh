#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# lane: 2
# timeout: 900
# sim.sh - the deterministic simulation of small clusters: 5,000 seeds; with run.sh -a 25,000, and by both compilers.
exec "$(dirname "$(readlink -f "$0")")/../sim/run.sh"
