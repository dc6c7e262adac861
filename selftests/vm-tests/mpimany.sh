#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# kernels: full
#
# MPI, all of it: Open MPI over UCX and over libfabric, MPICH, mpi4py; between two hosts and
# among eight; every result checked.
#
#	h1 ... h8 mrc0 = 2 planes, each T0 - 1 T1 - T0, SRv6	by hand

set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
. "$here/../lib/lib.sh"
. "$here/../lib/fabric.sh"
. "$here/../lib/mrc.sh"
. "$here/../lib/progs.sh"
. "$here/../lib/mpi.sh"

# Debian's mpi4py is built on Open MPI.
mpi4py() {
	openmpi_ucx 120 /usr/bin/python3 "$here/../mpi/mrc_mpi4py.py" &&
		grep "all checked" "$MRC_DIR/client.out"
}

everything() {		# HOSTS SECS ROUNDS
	ksft_test "$1 ranks: Open MPI over UCX" mpi_checked openmpi_ucx "$2" "$MPI_PROGS/mrc_mpi.openmpi" "$3"
	ksft_test "$1 ranks: Open MPI over libfabric" mpi_checked \
		openmpi_ofi "$2" "$MPI_PROGS/mrc_mpi.openmpi" "$3"
	ksft_test "$1 ranks: MPICH" mpi_checked mpich "$2" "$MPI_PROGS/mrc_mpi.mpich" "$3"
}

ksft_plan
mrc_begin mpirun.openmpi mpirun.mpich
for kind in openmpi mpich; do
	[ -x "$MPI_PROGS/mrc_mpi.$kind" ] || ksft_skip_all "needs $MPI_PROGS/mrc_mpi.$kind"
done
modprobe rdma_ucm || ksft_skip_all "needs rdma_ucm"
ksft_test "two hosts" mrc_fabric_by_hand 2 2 2 1
ksft_test "ranks know their devices" mpi_setup 2
everything 2 120 3
ksft_test "mpi4py" mpi4py
ksft_test "MPICH, plane 1 cut" progs_cut mpi_checked mpich 120 "$MPI_PROGS/mrc_mpi.mpich" @20
ksft_test "eight hosts" mrc_fabric_by_hand 8 2 2 1
ksft_test "ranks know their devices" mpi_setup 8
everything 8 400 1
ksft_test "nothing is left" mrc_until 10 mrc_no_resources
ksft_finish
