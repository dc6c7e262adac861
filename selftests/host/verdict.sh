#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What hosts probe, and what is concluded from it.
#
# timeout: 900
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../verdict"
make -s -j2 1>&2
exec ../../build/verdict/verdict_tests
