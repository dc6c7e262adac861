#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# How often verdicts are right, in a model of 1,024 hosts: 1,000 hours without a fault, 100 faults of each kind, and how
# soon they are named. `make check` has a short part of it (verdict.sh). About 50 minutes of processor time.
#
# kernels: full
# timeout: 14400
# lane: 2
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../verdict"
b=../../build/verdict-fast
make -s -j2 SAN= B=$b 1>&2
export ACCURACY_HOURS=${ACCURACY_HOURS:-1000} ACCURACY_SEEDS=${ACCURACY_SEEDS:-100}
$b/verdict_tests --gtest_filter='accuracy*' | awk '
	/^(not )?ok/ { n++ }
	{ print; fflush() }
	END { if (n) print "1.." n }'
