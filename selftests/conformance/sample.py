# SPDX-License-Identifier: GPL-2.0
"""sample.py - a short run between two hosts that keeps every rule, as frames.

Two streams with every type of packet, retransmissions, a NACK and probes; the material that
mutate.py spoils. Built by hand from the tables, with none of the module's or the
decoder's code except the ICRC.
"""
import struct

from layers import icrc

A6 = bytes.fromhex("fd006d72006300000000000000000001")
B6 = bytes.fromhex("fd006d72006300000000000000000002")
A4, B4 = bytes([10, 77, 0, 1]), bytes([10, 77, 0, 2])
QP_A, QP_B = 0x12345, 0x34567
MTU = 256
SECRET = 0x0123456789abcdef
RKEY, VA = 0xcafe0001, 0x7f0000001000
DATA_DSCP, RTX_DSCP, CONTROL_DSCP = 8, 12, 46


def path(ev):
    return bytes.fromhex("fcbbbb001001110110021202") + struct.pack("!I", ev & 0xf)


def halves(ev):
    """The same as a destination and a segment."""
    return [bytes.fromhex("fcbbbb00" + usids) + struct.pack("!Q", ev & 0xf) for usids in ("10011101", "10021202")]


def ip4(src, dst, ds, length):
    head = bytearray(struct.pack("!BBHHHBBH", 0x45, ds, 20 + length, 0, 0x4000, 64, 17, 0))
    head += src + dst
    total = sum(struct.unpack("!10H", head))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    head[10:12] = struct.pack("!H", ~total & 0xffff)
    return bytes(head)


def ip6(src, dst, ds, label, length, proto):
    return struct.pack("!IHBB", 6 << 28 | ds << 20 | label, length, proto, 64) + src + dst


def frame(src, dst, ev, dscp, ecn, body, outer):
    """Ethernet to ICRC. @outer: "none", "srv6" or "srh"."""
    ds, v6 = dscp << 2 | ecn, len(src) == 16
    udp = struct.pack("!HHHH", ev >> 16, 4791, 8 + len(body) + 4, 0)
    length = len(udp) + len(body) + 4
    ip = ip6(src, dst, ds, ev & 0xffff, length, 17) if v6 else ip4(src, dst, ds, length)
    packet = ip + udp + body
    packet += icrc(packet, v6)
    proto, label, srh = 41 if v6 else 4, ev & 0xffff if v6 else 0, b""
    if outer == "none":
        kind = 0x86dd if v6 else 0x0800
    else:
        kind = 0x86dd
        if outer == "srh":
            srh = struct.pack("!BBBBBBH", proto, 2, 4, 1, 0, 0, 0) + halves(ev)[1]
            proto = 43
        packet = ip6(A6[:-1] + b"\x77", halves(ev)[0] if srh else path(ev), ds, label, len(srh) + len(packet),
                     proto) + srh + packet
    return b"\x02\0\0\0\0\2\x02\0\0\0\0\1" + struct.pack("!H", kind) + packet


def bth(opcode, qpn, psn, pad=0, rtx=False, ts=False, a=False):
    flags = a << 31 | rtx << 29 | ts << 28
    return struct.pack("!BBHII", opcode, pad << 4, 0xffff, qpn, flags | psn)


class Host:
    """One direction: what src sends to a QP of dst."""

    def __init__(self, run, src, dst, qpn, own, psn):
        self.run, self.src, self.dst, self.qpn, self.own, self.psn = run, src, dst, qpn, own, psn
        self.first, self.msn, self.rqmsn, self.sizes, self.count, self.ends = psn, 0, 0, {}, 0, 0

    def ev(self):
        self.count += 1
        return (0xc000 + self.count % 5) << 16 | (self.count % 5 if len(self.src) == 16 else 0)

    def emit(self, body, dscp, ecn, ev=None):
        ev = self.ev() if ev is None else ev
        self.run.frames.append((self.run.tick(), frame(self.src, self.dst, ev, dscp, ecn, body,
                                                       self.run.outer)))
        return ev

    def data(self, opcode, va, rkey, dmalen, rqmsn, payload=b"", extra=b"", msn=None, rtx=None):
        """@rtx: PSN to send again. Returns (PSN, EV)."""
        psn = self.psn if rtx is None else rtx
        pad, ts = 0 if self.run.plain else -len(payload) % 4, self.run.ts
        body = bth(opcode, self.qpn, psn, pad, rtx is not None, ts)
        body += struct.pack("!HH", rqmsn, self.msn if msn is None else msn)
        stamp = self.run.now // 128 & 0xffff
        if ts:
            body += struct.pack("!HH", stamp, 1)
        body += struct.pack("!QII", va, rkey, dmalen) + extra + payload + b"\0" * pad
        ev = self.emit(body, DATA_DSCP if rtx is None else RTX_DSCP, 2)
        if rtx is None:
            self.psn = self.psn + 1 & 0xffffff
        self.sizes[psn] = 8 + len(body) + 4 + 40
        return psn, ev, stamp if ts else 0

    def message(self, opcodes, size, va=0, rkey=0, imm=b"", receive=False, msn=None):
        """@opcodes: first, middle, last, only."""
        pieces = max(1, -(-size // MTU))
        sent = []
        for i in range(pieces):
            last = i == pieces - 1
            opcode = opcodes[3 if pieces == 1 else 0 if i == 0 else 2 if last else 1]
            part = bytes(j & 0xff for j in range(min(MTU, size - i * MTU)))
            sent.append(self.data(opcode, va + i * MTU, rkey, size, self.rqmsn if receive else 0,
                                  part, imm if last else b"", msn))
        self.rqmsn += receive
        self.end(msn)
        return sent

    def end(self, msn=None):
        self.ends += 1
        if msn is None:
            self.msn += 1

    # -------------------------------------------------------- control packets

    def control(self, opcode, psn, body, qpn=None, dscp=CONTROL_DSCP, ecn=0, ev=None):
        return self.emit(bth(opcode, self.qpn if qpn is None else qpn, psn) + body, dscp, ecn, ev)

    def ids(self):
        return self.own & 0xffff, self.qpn & 0xffff

    def sack(self, peer, trigger, holes=(), m=0, probe=None):
        """Of all that @peer sent except @holes. @trigger: (PSN, EV, stamp)."""
        psn, ev, stamp = trigger
        have = [p for p in peer.sizes if p not in holes]
        cack = (min(holes) if holes else peer.psn) - 1 & 0xffffff
        beyond = [p for p in have if p > cack]
        bits = sum(1 << p - cack - 1 for p in beyond)
        rcvd = (sum(peer.sizes[p] for p in have) + 255) // 256
        field = psn - cack if probe is None else probe
        self.control(0xdc, cack, struct.pack(
            "!BBhIHHIBBhQHHI", 0, m << 5 | (2 if probe is not None else 0), field, ev, *self.ids(),
            cack, 0, 8, 1, bits, stamp, len(beyond), rcvd))

    def nack(self, trigger, reason, vendor=0):
        psn, ev, stamp = trigger
        self.control(0xdd, psn, struct.pack("!HBBIHHIBBH", 0, reason, vendor, ev, *self.ids(),
                                            psn, 0x20, 0, stamp))

    def ack(self, peer, syndrome=0x1f, psn=None):
        psn = peer.psn - 1 & 0xffffff if psn is None else psn
        done = peer.ends - (syndrome != 0x1f)
        self.control(0xd1, psn, struct.pack("!I", syndrome << 24 | done))

    def probe(self, number):
        stamp = self.run.now // 128 & 0xffff
        ev = self.control(0xde, 0, struct.pack("!HBBHHHHHH", 0, 0, 0, number, 0, *self.ids(),
                                               stamp, 1), dscp=DATA_DSCP, ecn=2)
        return 0, ev, stamp

    def endpoint(self, number, op, mask):
        stamp = self.run.now // 128 & 0xffff
        self.control(0xd8, number, struct.pack("!BBBBIIHH", 0, op, 0, 0, mask << self.run.other, 0, stamp, 1), 2)
        return stamp

    def self_probe(self, test, number, size=40):
        """From this host to itself: it leaves, and comes back."""
        body = bth(0xdf, 2, number & 0xffffff) + struct.pack("!IIQ", test, number, SECRET) + bytes(i * 7 & 0xff for i in range(size))
        raw = frame(self.src, self.src, self.ev(), DATA_DSCP, 2, body, self.run.outer)
        for _ in range(2):
            self.run.frames.append((self.run.tick(), raw))

    def copied_datagram(self, opcode, size, psn=5):
        """The second of two."""
        imm = b"\x12\x34\x56\x78" if opcode == 0xe5 else b""
        body = bth(opcode, self.qpn, psn, -size % 4 | 4) + struct.pack("!II", 0x11223344, 0x4d << 24 | self.own)
        self.emit(body + imm + bytes(i * 7 & 0xff for i in range(size)) + bytes(-size % 4), DATA_DSCP, 2)

    def datagram_twice(self, size, psn=5, ev=None):
        """A datagram, then its copy by another EV, or by @ev like it."""
        tail = struct.pack("!II", 0x11223344, 0x4d << 24 | self.own) + bytes(i * 7 & 0xff for i in range(size)) + bytes(-size % 4)
        for opcode in (0x64, 0xe4):
            self.emit(bth(opcode, self.qpn, psn, -size % 4 | 4) + tail, DATA_DSCP, 2, ev)

    def endpoint_answer(self, number, op, stamp):
        body = bytearray(36)
        body[1] = op << (4 if self.run.other else 2)
        body[28:30] = struct.pack("!H", stamp)
        self.control(0xd9, number, bytes(body), 2)


class Run:
    """@other: reading B of D4 and D5, for both ends."""

    def __init__(self, v6=True, outer="srv6", ts=True, plain=False, other=False):
        self.other, self.outer, self.ts, self.plain, self.now, self.frames = other, outer, ts, plain, 10**9, []
        a, b = (A6, B6) if v6 else (A4, B4)
        self.a = Host(self, a, b, QP_B, QP_A, 0x1000)
        self.b = Host(self, b, a, QP_A, QP_B, 0x200000)
        self.play()

    def tick(self):
        self.now += 20_000
        return self.now

    def play(self):
        a, b, imm = self.a, self.b, b"\x12\x34\x56\x78"
        a.message((0xc0, 0xc1, 0xc2, 0xc4), 3 * MTU + 5, receive=True)
        a.message((0, 0, 0, 0xc4), 101, receive=True)
        a.message((0xc0, 0xc1, 0xc3, 0xc5), 2 * MTU, imm=imm, receive=True)
        a.message((0, 0, 0, 0xc5), 99, imm=imm, receive=True)
        lost = a.message((0xc6, 0xc7, 0xc8, 0xca), 4 * MTU - 1, VA, RKEY)
        a.message((0, 0, 0, 0xca), 64, VA, RKEY)
        a.message((0xc6, 0xc7, 0xc9, 0xcb), MTU + 8, VA, RKEY, imm, True)
        last = a.message((0, 0, 0, 0xcb), 0, VA, RKEY, imm, True)[-1]
        b.nack(lost[1], 1)
        b.sack(a, last, holes=(lost[1][0],))
        again = a.data(0xc7, VA + MTU, RKEY, 4 * MTU - 1, 0, bytes(i & 0xff for i in range(MTU)),
                       msn=4, rtx=lost[1][0])
        b.sack(a, again, m=1)
        b.ack(a)
        a.data(0xcc, VA, RKEY, 2 * MTU + 1, 0)
        read = a.msn
        a.end()
        b.message((0xcd, 0xce, 0xcf, 0xd0), 2 * MTU + 1, msn=read)
        a.data(0xcc, VA, RKEY, 40, 0)
        a.end()
        b.message((0, 0, 0, 0xd0), 40, msn=a.msn - 1)
        for opcode in (0xd3, 0xd4):
            a.data(opcode, VA, RKEY, 8, 0, extra=struct.pack("!QQ", 1, 2))
            a.end()
            done = b.data(0xd2, 0, 0, 0, 0, extra=struct.pack("!Q", 7), msn=a.msn - 1)
            b.end(0)
        a.sack(b, done)
        a.ack(b)
        late = a.message((0, 0, 0, 0xc4), 8, receive=True)[0]
        b.nack(late, 10, 12)
        a.data(0xc4, 0, 0, 8, a.rqmsn - 1, bytes(range(8)), msn=a.msn - 1, rtx=late[0])
        asked = [a.probe(0xf000 + i) for i in range(5)]
        b.sack(a, asked[2], probe=0xf002 - 0x10000)
        for number in range(4):
            stamp = a.endpoint(number, 0, 3)
            b.endpoint_answer(number, 0, stamp)
        a.message((0xc0, 0xc1, 0xd6, 0xd7), MTU + 1, imm=imm, receive=True)
        a.message((0, 0, 0, 0xd7), 10, imm=imm, receive=True)
        b.ack(a, 0x61, a.psn - 1)
