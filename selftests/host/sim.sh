#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# lane: 2
# timeout: 900
# sim.sh - the deterministic simulation of small clusters: 8,000 seeds (with run.sh -a 20,000), both compilers.
exec "$(dirname "$(readlink -f "$0")")/../sim/run.sh"
