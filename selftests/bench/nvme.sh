#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# nvme.sh - nvme-rdma over mrc and over rdma_rxe in the same run, between two machines: pair/nvme_bench.sh.
# By hand; only the ratios mean anything.

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../pair/machines.sh"

machines nvme_bench.sh 1536
