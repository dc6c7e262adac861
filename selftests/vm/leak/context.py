#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""context.py DEVICE N - a process asks ib_uverbs for its context N times, by ioctl() and without an attribute.

The second time is refused. Linux up to 7.3 then leaves a reference to the task behind, whatever the device.
"""
import fcntl
import os
import struct
import sys

RDMA_VERBS_IOCTL = 0xC0181B01
OBJECT_DEVICE, GET_CONTEXT = 0, 3
DRIVER_RXE = 14


def ask(fd):
    header = struct.pack("<HHHHQII", 24, OBJECT_DEVICE, GET_CONTEXT, 0, 0, DRIVER_RXE, 0)
    try:
        fcntl.ioctl(fd, RDMA_VERBS_IOCTL, bytearray(header))
    except OSError as e:
        return e.strerror
    return "has it"


if not os.fork():
    device = os.open(sys.argv[1], os.O_RDWR)
    for _ in range(int(sys.argv[2])):
        print(ask(device), flush=True)
    os._exit(0)
os.wait()
