#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""cable.py pull|plug NUMBER SOCKET... - cable NUMBER of machines, by their QEMU monitors.

cable.py stop|cont SOCKET... - the machines themselves stand still, or go on.
"""
import json
import socket
import sys


def command(monitor, what, **arguments):
    monitor.write(json.dumps({"execute": what, "arguments": arguments}) + "\n")
    monitor.flush()
    for line in monitor:
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"]["desc"])
        if "return" in answer:
            return
    raise RuntimeError("the machine is gone")


def main():
    what, *paths = sys.argv[1:]
    number = paths.pop(0) if what in ("pull", "plug") else None
    for path in paths:
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(path)
            monitor = sock.makefile("rw")
            monitor.readline()  # greeting
            command(monitor, "qmp_capabilities")
            if number:
                command(monitor, "set_link", name=f"cable{number}", up=what == "plug")
            else:
                command(monitor, what)


if __name__ == "__main__":
    main()
