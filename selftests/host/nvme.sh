#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: full
# timeout: 900
#
# NVMe over RDMA between two machines of different kernels: pair/nvme.sh.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../pair/machines.sh"

machines nvme.sh 1536
