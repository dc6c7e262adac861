#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# lane: 2
# timeout: 600
# cluster.sh - clusters in the simulator: the same result everywhere, and the scenarios.
exec "$(dirname "$(readlink -f "$0")")/../sim/cluster.sh"
