#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# lane: 2
# timeout: 900
# fuzz.sh - the fuzz targets: their corpora, then FUZZ_SECONDS (10, with run.sh -a 40) of the long ones.
exec "$(dirname "$(readlink -f "$0")")/../fuzz/run.sh"
