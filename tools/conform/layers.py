# SPDX-License-Identifier: GPL-2.0
"""layers.py - decode the layers around MRC: Ethernet, SRv6, IPv6 or IPv4, UDP, ICRC.

Written from OCP MRC 1.0 and the RFCs, not from the module. A frame that breaks a rule raises Bad with the
text of the rule.
"""
import struct
import zlib

UDP_PORTS = 4791, 4971  # as registered; as printed in 7.5.5.2. An unknown peer is tried at both
ETH_IP4, ETH_IP6 = 0x0800, 0x86dd
IPIP, UDP, IP6IN6, ROUTING = 4, 17, 41, 43
ECT0 = 2


class Bad(Exception):
    """A rule is broken."""


class NotMrc(Exception):
    """Another protocol's frame."""


KEPT, BROKEN, DISPUTED = "kept", "broken", "disputed"
WATCH = []      # at most one: called with (rule, verdict) each time that a rule is looked at


def need(condition, rule, other=False):
    """@other: another reading of the specification is kept (Documentation/reference/disputed.md). A watcher
    is told and goes on; without one there is one reading only."""
    verdict = KEPT if condition else DISPUTED if other and WATCH else BROKEN
    for watch in WATCH:
        watch(rule, verdict)
    if verdict == BROKEN:
        raise Bad(rule)


def inet_sum(data):
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


class Ip:
    """One IP header. @raw: from its first byte on; .payload is what it claims."""

    def __init__(self, raw, v6):
        self.v6, self.srh, self.left = v6, None, 0
        (self.read6 if v6 else self.read4)(raw)

    def read6(self, raw):
        need(len(raw) >= 40, "IPv6 header whole")
        word, self.length, self.proto, self.ttl = struct.unpack("!IHBB", raw[:8])
        need(word >> 28 == 6, "IPv6 version")
        self.ds, self.label = word >> 20 & 0xff, word & 0xfffff
        self.src, self.dst = raw[8:24], raw[24:40]
        need(self.length == len(raw) - 40, "IPv6 payload length")
        self.header, self.payload = raw[:40], raw[40:]
        if self.proto == ROUTING:
            self.read_srh()

    def read4(self, raw):
        need(len(raw) >= 20, "IPv4 header whole")
        (version, self.ds, self.length, self.id, fragment, self.ttl, self.proto,
         _) = struct.unpack("!BBHHHBBH", raw[:12])
        need(version == 0x45, "IPv4 version and header length, no options")
        need(self.length == len(raw), "IPv4 total length")
        need(fragment == 0x4000, "IPv4 DF, not a fragment")
        need(inet_sum(raw[:20]) == 0xffff, "IPv4 header checksum")
        self.label = 0
        self.src, self.dst = raw[12:16], raw[16:20]
        self.header, self.payload = raw[:20], raw[20:]

    def read_srh(self):
        """RFC 8754, reduced: the first segment is the destination, one is in the list. Where none is left, the
        destination is that segment, or what switches left of it."""
        raw = self.payload
        need(len(raw) >= 24, "SRH whole")
        proto, length, kind, left, last, flags, tag = struct.unpack("!BBBBBBH", raw[:8])
        need(kind == 4 and length == 2 and left < 2 and last == 0, "SRH of one segment")
        need(left or rest_of(self.dst, raw[8:24]), "SRH of one segment")
        need(flags == 0 and tag == 0, "SRH flags and tag zero")
        self.srh, self.left, self.proto, self.payload = raw[8:24], left, proto, raw[24:]

    @property
    def dscp(self):
        return self.ds >> 2

    @property
    def ecn(self):
        return self.ds & 3


def rest_of(destination, segment):
    """RFC 9800: switches took uSIDs between the block, however long, and the rest off @segment."""
    for block in range(16):
        if destination[:block] != segment[:block]:
            return False
        if segment[block:].rstrip(b"\0").endswith(destination[block:].rstrip(b"\0")) and any(destination[block:]):
            return True
    return False


def maybe(raw, v6):
    """False: certainly not MRC, so that its headers are nobody's to judge here."""
    at, udp = (20, 54) if v6 else (23, 34)
    if len(raw) < udp + 8:
        return True
    if raw[at] != UDP:
        return v6 and raw[at] in (ROUTING, IPIP, IP6IN6)
    options = not v6 and raw[14] & 0x0f != 5
    return options or struct.unpack("!H", raw[udp + 2:udp + 4])[0] in UDP_PORTS


class Frame:
    """Layers up to UDP. .bth: BTH and what follows, without ICRC."""

    def __init__(self, raw):
        need(len(raw) >= 14, "Ethernet header whole")
        kind, = struct.unpack("!H", raw[12:14])
        if kind not in (ETH_IP4, ETH_IP6):
            raise NotMrc
        if not maybe(raw, kind == ETH_IP6):
            raise NotMrc
        self.port = raw[6:12]   # by which it left: planes may share EVs
        self.outer = None
        self.ip = Ip(raw[14:], kind == ETH_IP6)
        if self.ip.proto in (IPIP, IP6IN6) and self.ip.v6:
            self.outer = self.ip
            self.ip = Ip(self.outer.payload, self.outer.proto == IP6IN6)
        if self.ip.proto != UDP:
            raise NotMrc
        self.read_udp()
        if self.outer:
            self.check_outer()
        need(self.ip.ttl > 1, "TTL, hop limit")
        need(self.ip.label >> 16 == 0, "flow label: upper four bits zero")
        need(self.ip.v6 or self.ip.id == 0, "IPv4 id of an atomic datagram")
        self.check_icrc()

    def read_udp(self):
        raw = self.ip.payload
        need(len(raw) >= 8, "UDP header whole")
        self.sport, self.dport, self.udp_len, checksum = struct.unpack("!HHHH", raw[:8])
        if self.dport not in UDP_PORTS:
            raise NotMrc
        need(self.udp_len == len(raw), "UDP length")
        need(checksum == 0, "UDP checksum zero")
        need(len(raw) >= 8 + 12 + 4, "BTH and ICRC whole")
        self.bth, self.icrc = raw[8:-4], raw[-4:]

    def check_outer(self):
        """H.Encaps.Red: DS field and flow label are the inner ones'."""
        need(self.outer.ds == self.ip.ds, "outer DS field as the inner")
        need(self.outer.label == (self.ip.label if self.ip.v6 else 0), "outer flow label")
        need(self.outer.ttl > 1, "outer hop limit")
        need(any(self.outer.dst[4:]) and self.outer.dst[0] != 0xff, "outer destination")
        need(any(self.outer.src) and self.outer.src[0] != 0xff, "outer source")

    def check_icrc(self):
        need(icrc(self.ip.header + self.ip.payload[:-4], self.ip.v6) == self.icrc, "ICRC")

    @property
    def ev(self):
        """UDP source port | flow label; IPv4 has no flow label."""
        return self.sport << 16 | self.ip.label


def icrc(ip, v6):
    """IBTA A17.3.3, of the innermost IP packet without its ICRC."""
    data = bytearray(b"\xff" * 8 + ip)
    if v6:
        data[8] |= 0x0f
        data[9:12] = b"\xff" * 3
        data[15] = 0xff
        udp = 48
    else:
        data[9] = 0xff
        data[16] = 0xff
        data[18:20] = b"\xff" * 2
        udp = 28
    data[udp + 6:udp + 8] = b"\xff" * 2
    data[udp + 12] = 0xff
    return struct.pack("<I", zlib.crc32(data))
