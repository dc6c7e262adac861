#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: full
# timeout: 900
#
# iSER and SRP between two machines of different kernels: pair/lio.sh.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../pair/machines.sh"

machines lio.sh 1536
