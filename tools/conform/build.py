# SPDX-License-Identifier: GPL-2.0
"""build.py - build the packets that the active kit sends, from BTH to Ethernet.

Written from the tables of MRC 1.0, as packet.py is, and not from the engine.
"""
import ipaddress
import struct

import layers

ETH = {4: b"\x08\x00", 6: b"\x86\xdd"}
HOPS = 64


class Tunnel:
    """SRv6 around packets, H.Encaps.Red. @locators: this end's, by port. @paths: by port, (destination, segment or
    None) of each way to the other end; which one a packet takes depends on its EV."""

    def __init__(self, locators, paths):
        self.locators = [ipaddress.IPv6Address(a).packed for a in locators]
        self.paths = [[tuple(a and ipaddress.IPv6Address(a).packed for a in path) for path in port] for port in paths]

    def wrap(self, packet, v6, ds, label, ev, port):
        destination, segment = self.paths[port][(ev >> 16) % len(self.paths[port])]
        proto, srh = layers.IP6IN6 if v6 else layers.IPIP, b""
        if segment:
            srh, proto = struct.pack("!BBBBBBH", proto, 2, 4, 1, 0, 0, 0) + segment, layers.ROUTING
        return (struct.pack("!IHBB", 6 << 28 | ds << 20 | label, len(srh) + len(packet), proto, HOPS) +
                self.locators[port] + destination + srh + packet)


class Way:
    """Addresses of both ends, and what a packet carries outside its BTH. @tunnel: or None."""

    def __init__(self, own, device, own_mac=bytes(6), device_mac=bytes(6), tunnel=None):
        self.own, self.device = ipaddress.ip_address(own), ipaddress.ip_address(device)
        self.own_mac, self.device_mac, self.tunnel = own_mac, device_mac, tunnel

    def ip(self, ds, label, length, source):
        src, dst = (source or self.own).packed, self.device.packed
        if self.own.version == 6:
            return struct.pack("!IHBB", 6 << 28 | ds << 20 | label, length, layers.UDP, HOPS) + src + dst
        head = bytearray(struct.pack("!BBHHHBBH", 0x45, ds, 20 + length, 0, 0x4000, HOPS, layers.UDP, 0) + src + dst)
        head[10:12] = struct.pack("!H", ~layers.inet_sum(bytes(head)) & 0xffff)
        return bytes(head)

    def frame(self, body, ev, dscp, *, ecn=0, port=4791, source=None, bad_icrc=False, trim=None, by=0, before=None):
        """@trim: a switch left so many bytes of @body; UDP tells the length that was. @by: which port of this end.
        @before: the DS field that switches changed, in the outermost header only."""
        v6 = self.own.version == 6
        label = ev & 0xffff if v6 else 0
        length = 8 + len(body) + 4
        udp = struct.pack("!HHHH", ev >> 16, port, length, 0)
        ds = dscp << 2 | ecn
        inner = before if self.tunnel and before is not None else ds
        packet = self.ip(inner, label, length, source) + udp + body
        if trim is None:
            icrc = layers.icrc(packet, v6)
            packet += bytes(b ^ 0xff for b in icrc) if bad_icrc else icrc
        elif self.tunnel:       # nobody on the way reads the inner header
            packet = packet[:trim - len(body)]
        else:
            packet = self.ip(ds, label, 8 + trim, source) + udp + body[:trim]
        if self.tunnel:
            packet = self.tunnel.wrap(packet, v6, ds, label, ev, by)
        return self.device_mac + self.own_mac + ETH[6 if self.tunnel else self.own.version] + packet


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


def endpoint_answer(number, op, stamp, high=False):
    """@high: op is in bits 5:4 (D4)."""
    return bth(0xd9, 2, number) + struct.pack("!BB26xH6x", 0, op << (4 if high else 2), stamp)
