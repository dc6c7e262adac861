# SPDX-License-Identifier: GPL-2.0
"""build.py - build the packets that the active kit sends, from BTH to Ethernet.

Written from the tables of MRC 1.0, as packet.py is, and not from the engine.
"""
import ipaddress
import struct

import layers

ETH = {4: b"\x08\x00", 6: b"\x86\xdd"}
HOPS = 64


class Way:
    """Addresses of both ends, and what a packet carries outside its BTH."""

    def __init__(self, own, device, own_mac=bytes(6), device_mac=bytes(6)):
        self.own, self.device = ipaddress.ip_address(own), ipaddress.ip_address(device)
        self.own_mac, self.device_mac = own_mac, device_mac

    def ip(self, ds, label, length, source):
        src, dst = (source or self.own).packed, self.device.packed
        if self.own.version == 6:
            return struct.pack("!IHBB", 6 << 28 | ds << 20 | label, length, layers.UDP, HOPS) + src + dst
        head = bytearray(struct.pack("!BBHHHBBH", 0x45, ds, 20 + length, 0, 0x4000, HOPS, layers.UDP, 0) + src + dst)
        head[10:12] = struct.pack("!H", ~layers.inet_sum(bytes(head)) & 0xffff)
        return bytes(head)

    def frame(self, body, ev, dscp, *, ecn=0, port=4791, source=None, bad_icrc=False, trim=None, macs=None):
        """@trim: a switch left so many bytes of @body; UDP tells the length that was."""
        label = ev & 0xffff if self.own.version == 6 else 0
        length = 8 + len(body) + 4
        udp = struct.pack("!HHHH", ev >> 16, port, length, 0)
        ds = dscp << 2 | ecn
        packet = self.ip(ds, label, length, source) + udp + body
        if trim is None:
            icrc = layers.icrc(packet, self.own.version == 6)
            packet += bytes(b ^ 0xff for b in icrc) if bad_icrc else icrc
        else:
            packet = self.ip(ds, label, 8 + trim, source) + udp + body[:trim]
        own_mac, device_mac = macs or (self.own_mac, self.device_mac)
        return device_mac + own_mac + ETH[self.own.version] + packet


def bth(opcode, qpn, psn, *, pad=0, a=False, rtx=False, ts=False, reserved=False):
    flags = a << 31 | rtx << 29 | ts << 28
    if reserved:                # R at bit 6 of byte 8, four bits below TS, the byte before the QP
        flags, qpn = flags | 0x4f << 24, qpn | 0xa5 << 24
    return struct.pack("!BBHII", opcode, pad << 4, 0xffff, qpn, flags | psn)


def data(head, rqmsn, msn, stamp, va, rkey, dmalen, imm, payload):
    """@stamp: None without TSETH; @imm: None or a number; @payload: with its padding."""
    out = head + struct.pack("!HH", rqmsn & 0xffff, msn & 0xffff)
    if stamp is not None:
        out += struct.pack("!HH", stamp, 1)
    out += struct.pack("!QII", va, rkey, dmalen)
    if imm is not None:
        out += struct.pack("!I", imm)
    return out + payload


def sack(qpn, ids, cack, *, trigger=0, probe=None, ev=0, m=0, base=1, bitmap=0, stamp=0, rcvd=0):
    field = struct.pack("!H", probe) if probe is not None else struct.pack("!h", trigger)
    return (bth(0xdc, qpn, cack) + struct.pack("!BB", 0, m << 5 | (2 if probe is not None else 0)) + field +
            struct.pack("!IHHIBBhQHHI", ev, *ids, cack, 0, 0, base, bitmap, stamp, bin(bitmap).count("1"), rcvd & 0xffffff))


def nack(qpn, ids, psn, reason, ev, stamp):
    return bth(0xdd, qpn, psn) + struct.pack("!HBBIHHIBBH", 0, reason, 0, ev, *ids, psn, 0x20, 0, stamp)


def ack(qpn, psn, msn, syndrome=0x1f):
    return bth(0xd1, qpn, psn) + struct.pack("!I", syndrome << 24 | msn & 0xffffff)


def probe(qpn, ids, number, stamp):
    return bth(0xde, qpn, 0) + struct.pack("!HBBHHHHHH", 0, 0, 0, number, 0, *ids, stamp, 1)


def endpoint(number, op, mask, stamp):
    return bth(0xd8, 2, number) + struct.pack("!BBBBIIHH", 0, op, 0, 0, mask, 0, stamp, 1)


def endpoint_answer(number, op, stamp):
    return bth(0xd9, 2, number) + struct.pack("!BB26xH6x", 0, op << 2, stamp)
