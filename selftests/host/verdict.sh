#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What hosts probe, and what is concluded from it.
#
# timeout: 900
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../verdict"
make -s -j2 1>&2
make -s -C ../../tools/sim cluster 1>&2
# The program's lines as they are, and how many tests there were. A program that dies fails by its status.
../../build/verdict/verdict_tests | awk '
	/^(not )?ok/ { n++ }
	{ print; fflush() }
	END { if (n) print "1.." n }'
