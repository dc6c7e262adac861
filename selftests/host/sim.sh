#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# sim.sh - the deterministic simulation of two hosts: thousands of seeds, both compilers.
exec "$(dirname "$(readlink -f "$0")")/../sim/run.sh"
