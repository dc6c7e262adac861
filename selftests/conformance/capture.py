#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""capture.py - all frames that leave some interfaces, none missing.

    capture.py PREFIX INTERFACE...

Writes PREFIX-INTERFACE.pcap for each. Prints "ready"; SIGTERM ends it after everything
that was sent until then is written. Status 1: the kernel had to drop some.

Through a ring that the kernel copies frames to when they pass: a frame read later from a
plain socket shows what switches behind the veth pair made of its header meanwhile, and what
the program wrote to the pages that it was sent from. (tcpdump has the ring, too, but leaves
without what still lies in it.)
"""
import ctypes
import mmap
import select
import signal
import socket
import struct
import sys

ETH_P_ALL = 3
SO_ATTACH_FILTER = 26
SOL_PACKET, PACKET_RX_RING, PACKET_STATISTICS, PACKET_VERSION = 263, 5, 6, 10
TPACKET_V2, TP_STATUS_USER = 1, 1
SLOT, SLOTS, BLOCK = 2048, 16384, 1 << 16
# Packet type 4, outgoing: ldb [type]; jeq 4, 0, 1; ret all; ret 0
FILTER = ((0x30, 0, 0, 0xfffff004), (0x15, 0, 1, 4), (6, 0, 0, 0x40000), (6, 0, 0, 0))


class Capture:
    def __init__(self, prefix, interface):
        self.name, self.slot, self.cut = interface, 0, 0
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.sock.setsockopt(SOL_PACKET, PACKET_VERSION, TPACKET_V2)
        self.sock.setsockopt(SOL_PACKET, PACKET_RX_RING,
                             struct.pack("IIII", BLOCK, SLOT * SLOTS // BLOCK, SLOT, SLOTS))
        self.ring = mmap.mmap(self.sock.fileno(), SLOT * SLOTS)
        code = b"".join(struct.pack("HBBI", *insn) for insn in FILTER)
        code = ctypes.create_string_buffer(code, len(code))
        self.sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER,
                             struct.pack("HL", len(FILTER), ctypes.addressof(code)))
        self.sock.bind((interface, ETH_P_ALL))
        self.file = open(f"{prefix}-{interface}.pcap", "wb")
        self.file.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))

    def take(self):
        """One frame, False: there is none."""
        at = self.slot * SLOT
        status, full, size, mac, _, seconds, ns = struct.unpack_from("IIIHHII", self.ring, at)
        if not status & TP_STATUS_USER:
            return False
        frame = self.ring[at + mac:at + mac + size]
        struct.pack_into("I", self.ring, at, 0)
        self.slot = (self.slot + 1) % SLOTS
        self.cut += size != full
        self.file.write(struct.pack("<IIII", seconds, ns, size, full) + frame)
        return True

    def end(self):
        while self.take():
            pass
        self.file.close()
        _, drops = struct.unpack("II", self.sock.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
        if drops or self.cut:
            print(f"{self.name}: {drops} frames dropped, {self.cut} not whole")
        return drops + self.cut


def main():
    captures = [Capture(sys.argv[1], name) for name in sys.argv[2:]]
    wake, stop = socket.socketpair()
    signal.signal(signal.SIGTERM, lambda *_: stop.send(b"."))
    print("ready", flush=True)
    while True:
        ready, _, _ = select.select([wake] + [c.sock for c in captures], [], [])
        for c in captures:
            for _ in range(256):
                if not c.take():
                    break
        if wake in ready:
            return 1 if sum([c.end() for c in captures]) else 0


if __name__ == "__main__":
    sys.exit(main())
