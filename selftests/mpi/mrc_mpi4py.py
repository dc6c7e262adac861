#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""mrc_mpi4py.py - allreduce and exchange of objects and buffers by mpi4py, checked. Under mpirun."""

import array

from mpi4py import MPI


def main():
    comm = MPI.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()
    total = comm.allreduce(rank + 1)
    assert total == size * (size + 1) // 2, total
    left = comm.sendrecv({"from": rank, "list": list(range(1000))}, dest=(rank + 1) % size,
                         source=(rank - 1) % size)
    assert left == {"from": (rank - 1) % size, "list": list(range(1000))}
    mine = array.array("i", range(rank, rank + 100000))
    summed = array.array("i", bytes(400000))
    comm.Allreduce(mine, summed)
    assert summed == array.array("i", (i * size + size * (size - 1) // 2 for i in range(100000)))
    comm.Barrier()
    if rank == 0:
        print(f"{size} ranks, all checked")


main()
