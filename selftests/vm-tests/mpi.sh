#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 200
# kernels: old
#
# MPI between two hosts: Open MPI over UCX, every result checked. More of it: mpimany.sh.
#
#	h1 mrc0 = 2 planes, each T0 - 1 T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/progs.sh"
. "$here/../lib/mpi.sh"

ksft_plan
mrc_begin mpirun.openmpi
[ -x "$MPI_PROGS/mrc_mpi.openmpi" ] || ksft_skip_all "needs $MPI_PROGS/mrc_mpi.openmpi"
ksft_test "two planes by hand" mrc_fabric_by_hand 2 2 2 1
ksft_test "ranks know their devices" mpi_setup 2
ksft_test "Open MPI over UCX" progs_moved tx_bytes 2000000 \
	mpi_checked openmpi_ucx 90 "$MPI_PROGS/mrc_mpi.openmpi" 2
ksft_test "plane 1 cut" progs_cut mpi_checked openmpi_ucx 90 "$MPI_PROGS/mrc_mpi.openmpi" @20
ksft_test "nothing was counted that should not be" mrc_expect_clean rx_bad_icrc
ksft_test "nothing is left" mrc_until 10 mrc_no_resources
ksft_finish
