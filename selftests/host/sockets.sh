#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: full
# timeout: 900
#
# RDS and SMC-R between two machines of different kernels: pair/sockets.sh.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../pair/machines.sh"

machines sockets.sh 1024
