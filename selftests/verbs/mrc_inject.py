#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""mrc_inject.py - packets that nobody should send, to one QP.

    mrc_inject.py DESTINATION SOURCE QPN PSN NEXT [SID]

Reads names of cases from standard input, one per line; sends the packet of each
from a raw IPv6 socket and answers "sent". PSN is one that the QP has received
already, so that a packet which is taken by mistake is only a duplicate; NEXT is
the first that it has not sent. With SID, packets go inside an IPv6 packet to that address, as SRv6
paths have it.

Everything about a packet is right, its ICRC too, except what the name says.
"""
import ipaddress
import socket
import struct
import sys
import zlib

UDP_PORT = 4791
WRITE_ONLY, SACK, EP_REQ, EP_RSP, IBTA_SEND_ONLY = 0xca, 0xdc, 0xd8, 0xd9, 0x04
RKEY, VA = 0xdead0001, 0x1000
STRANGER = "fd00:6d72:63::bad"
ELSEWHERE = "fd00:6d72:63::e15e"


def crc_masked(ip6, udp, bth_on):
    """IBTA A17.3.3: eight bytes of ones, then everything with what routers may
    change read as ones."""
    ip6 = bytes([ip6[0] | 0x0f, 0xff, 0xff, 0xff]) + ip6[4:7] + b"\xff" + ip6[8:]
    udp = udp[:6] + b"\xff\xff"
    bth_on = bth_on[:4] + b"\xff" + bth_on[5:]
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + ip6 + udp + bth_on))


def ip6_header(src, dst, length, label=0x12345):
    return (struct.pack("!IHBB", 6 << 28 | label, length, socket.IPPROTO_UDP, 64) +
            ipaddress.IPv6Address(src).packed + ipaddress.IPv6Address(dst).packed)


def checksum(ip6, udp):
    data = ip6[8:40] + struct.pack("!II", len(udp), socket.IPPROTO_UDP) + udp
    data += b"\0" * (len(data) & 1)
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return (~total & 0xffff) or 0xffff


class Injector:
    def __init__(self, dst, src, sid, qpn, psn, tx_next):
        self.sid = sid
        self.dst, self.src, self.qpn, self.psn, self.tx_next = dst, src, qpn, psn, tx_next
        self.sock = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW)

    def bth(self, opcode=WRITE_ONLY, pad=0, version=0, pkey=0xffff, qpn=None, psn=None):
        return struct.pack("!BBHII", opcode, pad << 4 | version, pkey,
                           self.qpn if qpn is None else qpn,
                           self.psn if psn is None else psn & 0xffffff)

    @staticmethod
    def write(payload=b"x" * 16):
        """METH and RETH of a WRITE, and its payload."""
        return struct.pack("!HHQII", 0, 0, VA, RKEY, len(payload)) + payload

    @staticmethod
    def sack(cack):
        """SETH that acknowledges up to @cack, and CC_STATE."""
        return struct.pack("!HHIHHIBBhQHHI", 0, 0, 0, 0, 0, cack & 0xffffff, 0, 8, 0, 0, 0, 0, 0)

    def send(self, body, src=None, dst=None, icrc=None, crc=True, port=UDP_PORT, less=0):
        """@body: BTH and what follows. @less: so much UDP says less than IP."""
        length = 8 + len(body) + (4 if crc else 0)
        ip6 = ip6_header(src or self.src, dst or self.dst, length)
        udp = struct.pack("!HHHH", 0xc123, port, length - less, 0)
        if crc:
            body += icrc or crc_masked(ip6, udp, body)
        udp = udp[:6] + struct.pack("!H", checksum(ip6, udp + body))
        packet, to = ip6 + udp + body, dst or self.dst
        if self.sid:
            outer = ip6_header(src or self.src, self.sid, len(packet))
            packet, to = outer[:6] + bytes([socket.IPPROTO_IPV6]) + outer[7:] + packet, self.sid
        self.sock.sendto(packet, (to, 0))

    def answer(self, op):
        """Of an endpoint, to a question that nobody asked."""
        self.send(self.bth(EP_RSP, qpn=2, psn=0x8123) + bytes([0, op << 2]) + bytes(34))

    # ------------------------------------------------------------ the cases

    def case_unasked(self):
        self.answer(0)
        self.answer(1)

    def case_short(self):
        self.send(b"12345678", crc=False)

    def case_empty(self):
        self.send(b"", crc=False)

    def case_headless(self):
        self.send(self.bth())

    def case_opcode(self):
        self.send(self.bth(opcode=0xff) + self.write())

    def case_ibta(self):
        self.send(self.bth(opcode=IBTA_SEND_ONLY) + b"x" * 16)

    def case_version(self):
        self.send(self.bth(version=5) + self.write())

    def case_padding(self):
        self.send(self.bth(pad=3) + self.write(b""))

    def case_longsack(self):
        self.send(self.bth(SACK) + self.sack(self.psn) + b"\0" * 8)

    def case_shortsack(self):
        self.send(self.bth(SACK) + self.sack(self.psn)[:-8])

    def case_udpshort(self):
        self.send(self.bth() + self.write(), less=8)

    def case_icrc(self):
        self.send(self.bth() + self.write(), icrc=b"\x12\x34\x56\x78")

    def case_noicrc(self):
        self.send(self.bth() + self.write(), icrc=bytes(4))

    def case_bitflip(self):
        good = self.bth() + self.write()
        ip6 = ip6_header(self.src, self.dst, 8 + len(good) + 4)
        udp = struct.pack("!HHHH", 0xc123, UDP_PORT, 8 + len(good) + 4, 0)
        self.send(good[:-1] + bytes([good[-1] ^ 1]), icrc=crc_masked(ip6, udp, good))

    def case_qp(self):
        self.send(self.bth(qpn=self.qpn ^ 0x700000) + self.write())

    def case_qp0(self):
        self.send(self.bth(qpn=0) + self.write())

    def case_source(self):
        self.send(self.bth() + self.write(), src=STRANGER)

    def case_endpoint(self):
        """A Port Status Update that all our ports are down, from nobody we know."""
        self.send(self.bth(EP_REQ, qpn=2, psn=0) + b"\0" * 16, src=STRANGER)

    def case_ports(self):
        """A Port Status Update that all ports of the peer are down, as if from it."""
        self.send(self.bth(EP_REQ, qpn=2, psn=0x4321) + b"\0" * 16)

    def case_down2(self):
        """A Port Status Update that the peer's port 2 is down, as if from it; its id is a guess."""
        self.send(self.bth(EP_REQ, qpn=2, psn=0x4321) + struct.pack("!III", 0, 0xfffffffd, 0) + bytes(4))

    def case_up(self):
        """A Port Status Update that all ports of the peer are up, as if from it."""
        self.send(self.bth(EP_REQ, qpn=2, psn=0x4321) + struct.pack("!III", 0, 0xffffffff, 0) + bytes(4))

    def case_ourselves(self):
        """A Port Status Update in the name of the host that it is sent to."""
        self.send(self.bth(EP_REQ, qpn=2, psn=0x4321) + struct.pack("!III", 0, 0xffff7fff, 0) + bytes(4),
                  src=self.dst)

    def case_pkey(self):
        self.send(self.bth(pkey=0x8001) + self.write())

    def case_psn(self):
        self.send(self.bth(psn=self.psn + 0x300000) + self.write())

    def case_sack(self):
        cack = self.tx_next + 0x1000
        self.send(self.bth(SACK, psn=cack) + self.sack(cack))

    def case_transit(self):
        """To an address that h1 does not have (and that it does not forward)."""
        self.send(self.bth() + self.write(), dst=ELSEWHERE)

    def case_port(self):
        self.send(self.bth() + self.write(), port=4789)


def main():
    dst, src, *numbers = sys.argv[1:6]
    injector = Injector(dst, src, sys.argv[6] if sys.argv[6:] else None, *map(int, numbers))
    for line in sys.stdin:
        try:
            getattr(injector, "case_" + line.strip())()
            print("sent", flush=True)
        except (OSError, AttributeError) as e:
            print(f"{line.strip()}: {e}", flush=True)


if __name__ == "__main__":
    main()
