#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""sampler.py - what crosses the planes of both hosts, while a transfer runs.

    sampler.py --host h1=mrc0 --host h2=mrc1 --planes 4 --watch p2-t0-1=h1 \\
               --marks FILE --out FILE

Reads the counters of the network interfaces, which know nothing of MRC, the payload
each RDMA device has accepted, and whether the port to be cut is up; appends a JSON
line per sample to --out and prints a line per second. The driver of the
demonstration tells what it is about to do by lines "TIME WORD" in --marks:

    start         time 0; nothing is printed before
    look          sample finely for a while: something is about to happen
    end           stop

One process for all namespaces: a program start costs more here than a sample.
"""
import argparse
import contextlib
import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import sys
import time

PERIOD = 0.1
FINE_PERIOD = 0.01
FINE_FOR = 6.0          # after a look, if nothing happens
FINE_AFTER = 1.2        # once it has happened
CLONE_NEWNET = 0x40000000
SIOCGIFFLAGS = 0x8913
IFF_UP = 1


@contextlib.contextmanager
def inside(netns):
    """What is opened in here stays with that namespace: sockets, files of /proc/net."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/thread-self/ns/net", "rb") as home, \
         open("/run/netns/" + netns, "rb") as there:
        if libc.setns(there.fileno(), CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), netns)
        try:
            yield
        finally:
            libc.setns(home.fileno(), CLONE_NEWNET)


class Port:
    """A port of a switch."""

    def __init__(self, switch, device):
        self.text = f"{switch} {{}} its port to {device}"
        self.request = struct.pack("16sH22x", device.encode(), 0)
        with inside(switch):
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def is_up(self):
        answer = fcntl.ioctl(self.socket, SIOCGIFFLAGS, self.request)
        return bool(struct.unpack("16sH22x", answer)[1] & IFF_UP)


class Host:
    """Counters of one host; plane n is its interface eth<n>."""

    def __init__(self, name, ibdev, planes):
        self.name = name
        self.planes = planes
        with inside(name):
            self.net = os.open("/proc/thread-self/net/dev", os.O_RDONLY)
        counters = f"/sys/class/infiniband/{ibdev}/ports/1/hw_counters"
        with open(counters + "/lifespan", "w", encoding="ascii") as lifespan:
            lifespan.write("0")     # ms for which the kernel repeats what it said before
        self.payload = os.open(counters + "/rx_bytes", os.O_RDONLY)

    def read(self):
        """{"tx": packets sent by plane, "rx": packets received, "payload": bytes}"""
        rows = {}
        for line in os.pread(self.net, 65536, 0).split(b"\n")[2:]:
            device, _, numbers = line.partition(b":")
            rows[device.strip()] = numbers.split()
        own = [rows[b"eth%d" % (p + 1)] for p in range(self.planes)]
        return {"tx": [int(row[9]) for row in own],
                "rx": [int(row[1]) for row in own],
                "payload": int(os.pread(self.payload, 64, 0))}


class Marks:
    """The lines appended to a file since the last look."""

    def __init__(self, path):
        self.fd = os.open(path, os.O_RDONLY | os.O_CREAT)
        self.rest = b""

    def new(self):
        self.rest += os.read(self.fd, 65536)
        *lines, self.rest = self.rest.split(b"\n")
        for line in lines:
            when, word = line.split()
            yield float(when), word.decode()


class Display:
    """The table on the screen: a line per second, both directions side by side."""

    def __init__(self, names, planes, colour):
        self.names = names
        self.planes = planes
        self.colour = colour
        self.last = None

    def paint(self, code, text):
        return f"\033[{code}m{text}\033[0m" if self.colour else text

    def say(self, text):
        print(self.paint("1;33", f"    -- {text}"), flush=True)

    def heading(self):
        a, b = self.names
        width = 7 * self.planes
        group = f"{'packets on plane':>{width}}"
        print(f"         {a} -> {b} {group}         {b} -> {a} {group}")
        planes = "".join(f"{p + 1:>7}" for p in range(self.planes))
        print(f"    s       MB/s{planes}             MB/s{planes}", flush=True)

    def count(self, packets):
        text = f"{packets:7d}" if packets else f"{'-':>7}"
        return text if packets > 20 else self.paint("31", text)

    def line(self, second, sample):
        if self.last:
            span = sample["t"] - self.last["t"]
            halves = []
            for sender, receiver in (self.names, self.names[::-1]):
                payload = sample[receiver]["payload"] - self.last[receiver]["payload"]
                sent = [b - a for a, b in zip(self.last[sender]["tx"], sample[sender]["tx"])]
                rate = self.paint("1", f"{payload / span / 1e6:8.1f}")
                halves.append(rate + "".join(self.count(n) for n in sent))
            print(f"  {second:3d}   {halves[0]}         {halves[1]}", flush=True)
        self.last = sample


def sample_all(hosts, port):
    sample = {"t": time.time(), "up": port.is_up()}
    for host in hosts:
        sample[host.name] = host.read()
    return sample


def run(hosts, port, marks, out, display):
    start = fine_until = None
    second = 0
    was_up = True
    while True:
        sample = sample_all(hosts, port)
        out.write(json.dumps(sample) + "\n")
        now = sample["t"]
        if start is not None and now >= start + second:
            display.line(second, sample)
            second += 1
        if sample["up"] != was_up and start is not None:
            was_up = sample["up"]
            fine_until = now + FINE_AFTER
            display.say(f"{now - start:.2f} s: " + port.text.format("opens" if was_up else "shuts"))
        for when, word in marks.new():
            if word == "start":
                start = when
                display.heading()
            elif word == "look":
                fine_until = when + FINE_FOR
            elif word == "end":
                return
        fine = fine_until is not None and now < fine_until
        time.sleep(max(0.001, now + (FINE_PERIOD if fine else PERIOD) - time.time()))


def main():
    parser = argparse.ArgumentParser(description="sample the planes of two hosts")
    parser.add_argument("--host", action="append", required=True, metavar="NAME=IBDEV")
    parser.add_argument("--planes", type=int, required=True)
    parser.add_argument("--watch", required=True, metavar="SWITCH=PORT")
    parser.add_argument("--marks", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--colour", action="store_true")
    options = parser.parse_args()

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    hosts = [Host(*pair.split("=", 1), options.planes) for pair in options.host]
    display = Display([host.name for host in hosts], options.planes, options.colour)
    with open(options.out, "w", encoding="ascii") as out:
        run(hosts, Port(*options.watch.split("=", 1)), Marks(options.marks), out, display)


if __name__ == "__main__":
    main()
