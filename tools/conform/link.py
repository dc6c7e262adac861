# SPDX-License-Identifier: GPL-2.0
"""link.py - connect the active kit to a device: frames (AF_PACKET, or the pipe of a simulated device), and commands to its agent.

A link has now(), send(frame, port), receive(until) and ask(words). Times are in ns. The clock of a simulated device
runs only while the kit waits, so results do not depend on the speed of the machine.
"""
import json
import select
import socket
import subprocess
import time

ETH_ALL = 3
OUTGOING = 4
PORTS = 4791, 4971


class Refused(Exception):
    """The device does not do what it was asked for."""


def words(line):
    """'ok a=1 b=x' as {'a': 1, 'b': 'x'}; whatever else is Refused."""
    head, *rest = line.split()
    if head != "ok":
        raise Refused(line)
    said = dict(word.partition("=")[::2] for word in rest)
    return {k: int(v) if v.isdigit() and k not in ("hex", "received") else v for k, v in said.items()}


class Wire:
    """@ports: names of interfaces, the first is port 1; their kernel keeps address and neighbours.
    @agent: host and TCP port where the device's agent listens. @ways: by port, an address of the device that leads to it
    there."""

    def __init__(self, ports, own, ways, agent):
        self.mute = [quiet(family_of(own), port) for port in PORTS]
        self.sockets = []
        for name in ports:
            s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_ALL))
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 20)
            s.bind((name, ETH_ALL))
            self.sockets.append(s)
        self.macs = [(s.getsockname()[4], neighbour(name, way)) for s, name, way in zip(self.sockets, ports, ways)]
        self.agent = socket.create_connection(agent, timeout=120)
        self.words = self.agent.makefile("rw", encoding="ascii", newline="\n")

    def now(self):
        return time.monotonic_ns()

    def send(self, frame, port=0):
        own, device = self.macs[port]
        self.sockets[port].send(device + own + frame[12:])

    def receive(self, until):
        """(time, port, frame), or None at @until."""
        while True:
            left = (until - self.now()) / 1e9
            ready, _, _ = select.select(self.sockets, [], [], max(left, 0))
            if not ready:
                return None
            frame, address = ready[0].recvfrom(1 << 16)
            if address[2] != OUTGOING:
                return self.now(), self.sockets.index(ready[0]), frame

    def ask(self, line):
        self.words.write(line + "\n")
        self.words.flush()
        return words(self.words.readline() or "the agent is gone")


def family_of(address):
    return socket.AF_INET6 if ":" in str(address) else socket.AF_INET


def quiet(family, port):
    """Somebody hears this port, so that the kernel sends no ICMP about it."""
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    s.bind(("", port))
    return s


def asked(*args):
    """What ip(8) says, as JSON."""
    return json.loads(subprocess.run(["ip", "-j", *args], capture_output=True, text=True, check=True).stdout or "[]")


def neighbour(name, device):
    """The Ethernet address of the device by interface @name: the kernel's neighbour table, filled by a datagram."""
    hop = asked("route", "get", str(device), "oif", name)[0].get("gateway", str(device))
    s = socket.socket(family_of(device), socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, name.encode() + b"\0")
    for _ in range(300):
        s.sendto(b"", (str(device), 9))
        for entry in asked("neigh", "show", hop, "dev", name):
            if "lladdr" in entry:
                return bytes.fromhex(entry["lladdr"].replace(":", ""))
        time.sleep(0.1)
    raise OSError(f"{hop} is no neighbour at {name}")


class Pipe:
    """A simulated device that is a program: it reads and writes lines, and has its own time.

    kit: "ask WORDS", "frame NS PORT HEX", "wait NS"; device: "ok ..." or "no ...", and after a wait
    "frame NS PORT HEX" at once when it sends one before then, or "time NS"."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.clock = 0

    def now(self):
        return self.clock

    def say(self, line):
        self.process.stdin.write(line + "\n")

    def answer(self):
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise OSError("the simulated device is gone")
        return line.strip()

    def send(self, frame, port=0):
        self.say(f"frame {self.clock} {port} {frame.hex()}")

    def receive(self, until):
        self.say(f"wait {until}")
        kind, ns, *rest = self.answer().split()
        self.clock = max(self.clock, int(ns))
        return (self.clock, int(rest[0]), bytes.fromhex(rest[1])) if kind == "frame" else None

    def ask(self, line):
        self.say("ask " + line)
        return words(self.answer())


class Inside:
    """A simulated device in this program: take(frame, port, now), run(until) and ask(words)."""

    STEP = 2000     # a packet takes that long

    def __init__(self, device):
        self.device, self.clock = device, 10**9

    def now(self):
        return self.clock

    def send(self, frame, port=0):
        self.clock += self.STEP
        self.device.take(frame, port, self.clock)

    def receive(self, until):
        out = self.device.run(until)
        self.clock = max(self.clock, until if out is None else out[0])
        return None if out is None else (self.clock, *out[1:])

    def ask(self, line):
        return words(self.device.ask(line))


def stamp(ns):
    return ns // 128 & 0xffff


