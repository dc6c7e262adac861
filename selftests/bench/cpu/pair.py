#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""pair.py DIR GUEST - two User-Mode Linuxes joined by four cables, each watched (watch.py) in a folder of DIR, 1 and 2,
and on a CPU of its own.

Natively what ../../pair/machines.sh is by QEMU: each runs GUEST SIDE; when side 1 has ended, side 2 is told to by
a file "stop". A cable is a pair of sockets. Status: side 1's, or else side 2's.
"""

import fcntl
import os
import shutil
import socket
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
CABLES = range(1, 5)
FIRST_FD = 30  # shells want lower ones
SO_SNDBUFFORCE = 32  # Python does not know it


def cable():
    """Both ends' file descriptors, to be inherited."""
    fds = []
    for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET):
        end.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 4 << 20)
        fds.append(fcntl.fcntl(end, fcntl.F_DUPFD, FIRST_FD))
        end.close()
    return fds


def boot(side, fds, directory, guest):
    adapters = []
    for number, fd in zip(CABLES, fds):
        adapters += ["-a", f"vec{number}:transport=fd,fd={fd},mtu=9000,mac=52:54:00:4d:0{side}:0{number}"]
    return subprocess.Popen(
        [HERE + "/watch.py", directory, HERE + "/../../vm/runuml", "-n", "-m", "1500", "-t", "900", "-o", directory,
         *adapters, "--", guest, str(side)], pass_fds=fds, env=dict(os.environ, MRC_CPU=str(side)))


def main():
    directory, guest = os.path.abspath(sys.argv[1]), sys.argv[2]
    cables = [cable() for _ in CABLES]
    for side in "12":
        os.makedirs(f"{directory}/{side}")
    other = boot(2, [fds[1] for fds in cables], directory + "/2", guest)
    status = boot(1, [fds[0] for fds in cables], directory + "/1", guest).wait()
    with open(directory + "/2/stop", "wb"):
        pass
    status = other.wait() or status
    shutil.copy(directory + "/1/marks", directory + "/2/marks")  # both have this machine's clock
    return status


sys.exit(main())
