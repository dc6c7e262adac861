# SPDX-License-Identifier: GPL-2.0
"""packet.py - decode one MRC packet, and check the rules that concern this packet alone.

Written from MRC 1.0, Tables 6-3 to 7-22. Reserved bits must be zero. A value that is not in the tables raises Bad.
"""
import collections
import struct

from layers import ECT0, Frame, NotMrc, need

FIRST, MIDDLE, LAST, ONLY = "first", "middle", "last", "only"

# opcode: family, place in the message, length of what follows RETH, may have payload
DATA = {
    0xc0: ("send", FIRST, 0, True), 0xc1: ("send", MIDDLE, 0, True),
    0xc2: ("send", LAST, 0, True), 0xc3: ("send", LAST, 4, True),
    0xc4: ("send", ONLY, 0, True), 0xc5: ("send", ONLY, 4, True),
    0xc6: ("write", FIRST, 0, True), 0xc7: ("write", MIDDLE, 0, True),
    0xc8: ("write", LAST, 0, True), 0xc9: ("write", LAST, 4, True),
    0xca: ("write", ONLY, 0, True), 0xcb: ("write", ONLY, 4, True),
    0xcc: ("read", ONLY, 0, False),
    0xcd: ("response", FIRST, 0, True), 0xce: ("response", MIDDLE, 0, True),
    0xcf: ("response", LAST, 0, True), 0xd0: ("response", ONLY, 0, True),
    0xd2: ("atomic_ack", ONLY, 8, False),
    0xd3: ("atomic", ONLY, 16, False), 0xd4: ("atomic", ONLY, 16, False),
    0xd6: ("send", LAST, 4, True), 0xd7: ("send", ONLY, 4, True),
}
ACK, EP_REQ, EP_RSP, SACK, NACK, PROBE, SELF = 0xd1, 0xd8, 0xd9, 0xdc, 0xdd, 0xde, 0xdf
CONTROL = {ACK: 4, EP_REQ: 16, EP_RSP: 36, SACK: 36, NACK: 20, PROBE: 16}
WITH_IMM = (0xc3, 0xc5, 0xc9, 0xcb)
ENDPOINT_QP = 2
SELF_LEN = 24
COPY = {0xe4: 8, 0xe5: 12}      # ours, of a datagram: length of what stands before its payload
ORIGINAL = 0x64, 0x65       # of which those are copies
GSI_QP, MARK = 1, 0x4d
RETURN = 0x52                   # ours: an EV probe names a switch for its answer

NACK_REASONS = {1: "TRIMMED", 2: "TRIMMED_LASTHOP", 6: "NO_BITMAP", 7: "NO_PKT_BUFFER",
                10: "NO_RESOURCE", 11: "PSN_OOR_WINDOW", 25: "UNEXP_EVENT"}
NO_RESOURCE = 10


class Classes:
    """DSCP of each class of traffic. Probes are data that nobody resends."""

    def __init__(self, data=8, rtx=12, control=46, probe=(8,)):
        self.data, self.rtx, self.control, self.probe = data, rtx, control, tuple(probe)


# Of disputed points; false: reading A. D4: op of the EETH in bits 5:4. D5: bit 1 of a port status mask is port 1.
Readings = collections.namedtuple("Readings", "op_high port_bit_1", defaults=(False, False))


class Original:
    """A datagram of RoCEv2, which a copy may follow. Nothing else of it is judged."""

    def __init__(self, frame, time):
        self.frame, self.time = frame, time
        self.src, self.dst, self.ev = frame.ip.src, frame.ip.dst, frame.ev


class Packet:
    """@plain: of a QP of mrc.h, whose packets are not padded and ask for no event. @others:
    opcodes of other protocols on the same port, which raise NotMrc. @where: for messages."""

    def __init__(self, raw, classes=Classes(), time=0, plain=False, others=(), where="", readings=Readings()):
        self.time, self.frame, self.plain, self.readings = time, Frame(raw), plain, readings
        self.ev, self.udp_len, self.where = self.frame.ev, self.frame.udp_len, where
        if self.frame.bth[0] in others:
            raise NotMrc(self.frame)
        self.src, self.dst = self.frame.ip.src, self.frame.ip.dst
        self.read_bth(self.frame.bth)
        body = self.frame.bth[12:]
        need(self.opcode in DATA or self.opcode in CONTROL or self.opcode == SELF or self.opcode in COPY, "opcode")
        if self.opcode == SELF:
            self.read_self(body)
            return
        if self.opcode in DATA:
            self.read_data(body)
        elif self.opcode in COPY:
            self.read_copy(body)
        else:
            need(len(body) == CONTROL[self.opcode], "length of a control packet")
            need(not (self.a or self.rtx or self.ts or self.pad or self.se), "BTH flags of control")
            getattr(self, f"read_{self.opcode:02x}")(body)
        self.check_class(classes)

    # ---------------------------------------------------------------- headers

    def read_bth(self, b):
        self.opcode, byte1, pkey, word1, word2 = struct.unpack("!BBHII", b[:12])
        need(byte1 & 0x0f == 0, "TVer 0")
        self.migrated = bool(byte1 & 0x40)      # a datagram is IBTA's, where it is MigReq
        need(not self.migrated or self.opcode in COPY, "BTH M bit zero", other=byte1 & 0xcf == 0x40)      # D1: SE there
        need(pkey == 0xffff, "P_Key")
        need(word1 >> 24 == 0, "BTH reserved byte")
        need(word2 >> 24 & 0x4f == 0, "BTH reserved bits")
        self.se, self.pad = bool(byte1 & 0x80), byte1 >> 4 & 3
        self.dqpn, self.psn = word1 & 0xffffff, word2 & 0xffffff
        self.a, self.rtx, self.ts = (bool(word2 & 1 << n) for n in (31, 29, 28))
        need((self.dqpn == ENDPOINT_QP) == (self.opcode in (EP_REQ, EP_RSP, SELF)),
             "QP 2 for endpoint packets, and for nothing else")
        need(self.dqpn > (self.opcode not in COPY), "destination QP")

    def read_data(self, b):
        self.family, self.place, extra, has_payload = DATA[self.opcode]
        need(len(b) >= 4 + (4 if self.ts else 0) + 16 + extra, "headers of data whole")
        self.rqmsn, self.msn = struct.unpack("!HH", b[:4])
        b = b[4:]
        if self.ts:
            self.tx_ts = timestamp(b[:4])
            b = b[4:]
        else:
            self.tx_ts = 0
        self.va, self.rkey, self.dmalen = struct.unpack("!QII", b[:16])
        self.extra, b = b[16:16 + extra], b[16 + extra:]
        unpadded = not self.pad and len(b) % 4      # D2
        need(self.plain or not unpadded, "payload padded to words", other=True)
        self.read_payload(b)
        need(has_payload or not b, "no payload")
        need(self.pad == (0 if self.plain else -len(self.payload) % 4), "least padding",
             other=unpadded or self.plain and self.pad == -len(self.payload) % 4)
        need(not (self.plain and self.se), "BTH byte 1 of a QP of mrc.h is zero")
        need(not self.se or self.place in (LAST, ONLY) and self.takes_receive,
             "solicited event only where a receive completes")
        self.check_data()

    def read_payload(self, b):
        need(len(b) >= self.pad, "pad count within the payload")
        self.payload = b[:len(b) - self.pad]
        need(not any(b[len(b) - self.pad:]), "padding zero")

    def check_data(self):
        size = len(self.payload)
        need(size <= 4096, "payload of one MTU at most")
        if self.place in (FIRST, MIDDLE, LAST):
            need(size, "part of a message with payload")
            need(self.dmalen > size, "dmalen of a message of several packets")
        elif self.family in ("send", "write", "response"):
            need(self.dmalen == size, "dmalen of a message of one packet")
        if self.place in (FIRST, ONLY) and self.family in ("send", "response"):
            need(self.va == 0, "offset of the first packet zero")
        if self.family in ("send", "response"):
            need(self.va + size <= self.dmalen, "payload within the message")
            need(self.place not in (LAST, ONLY) or self.va + size == self.dmalen,
                 "the last packet ends the message")
        if self.family == "atomic":
            need(self.dmalen == 8 and self.va % 8 == 0, "atomic of one aligned word")
        if self.family == "atomic_ack":
            need(not (self.va or self.rkey or self.dmalen), "RETH of an atomic acknowledge zero")
        need(self.takes_receive or self.maybe_receive or self.rqmsn == 0,
             "rqmsn zero where no receive is taken")

    @property
    def takes_receive(self):
        return self.family == "send" or self.opcode in WITH_IMM

    @property
    def maybe_receive(self):
        """Known only at the end of the message."""
        return self.family == "write" and self.place in (FIRST, MIDDLE)

    # ---------------------------------------------------------------- control

    def read_d1(self, b):
        word, = struct.unpack("!I", b)
        self.syndrome, self.done = word >> 24, word & 0xffffff
        need(self.syndrome == 0x1f or self.syndrome in (0x61, 0x62, 0x63),
             "AETH: no credits, or NAK invalid request, access, operation")

    def read_dc(self, b):
        (byte0, byte1, self.trigger, self.entropy, self.spdcid, self.dpdcid, cack, cc,
         self.mpr, self.sack_offset, self.bitmap, self.echo_ts, ooo,
         pen) = struct.unpack("!BBhIHHIBBhQHHI", b)
        self.m, self.pr = byte1 >> 5 & 3, bool(byte1 & 2)
        need(byte0 == 0 and byte1 & 0x9d == 0, "SETH type, next, reserved zero")
        need(self.m != 3, "SETH m")
        need(cack >> 24 == 0, "SETH reserved byte")
        need(cack == self.psn, "BTH PSN of a SACK is its cack")
        need(cc == 0, "cc_type, cc_fl of a SACK")
        need(ooo >> 15 == 0, "CC_STATE reserved bit")
        self.cack, self.ooo = cack, ooo
        self.pen, self.restore = pen >> 24 & 0x7f, bool(pen >> 31)
        self.rcvd = pen & 0xffffff
        self.probe_id = self.trigger & 0xffff
        for i, psn in self.sacked():
            need(psn != (cack + 1) & 0xffffff, "cack is the left edge")
        need(self.ooo >= sum(1 for _ in self.sacked()), "ooo_count holds what the bitmap shows")

    def sacked(self):
        """(bit, PSN) of every PSN above cack that the bitmap names."""
        for i in range(64):
            if self.bitmap >> i & 1 and self.sack_offset + i > 0:
                yield i, (self.cack + self.sack_offset + i) & 0xffffff

    def read_dd(self, b):
        (zero, self.reason, self.vendor, self.entropy, self.spdcid, self.dpdcid, psn, cc,
         res, self.echo_ts) = struct.unpack("!HBBIHHIBBH", b)
        need(zero == 0, "NETH type, next, reserved zero")
        need(self.reason in NACK_REASONS, "NACK reason of Table 7-3")
        need(self.vendor == 0 or self.reason == NO_RESOURCE and self.vendor < 32,
             "vendor_info: an RNR timer, with NO_RESOURCE")
        need(psn == self.psn, "BTH PSN of a NACK is its PSN")
        need(cc == 0x20, "cc_type, cc_fl of a NACK")
        need(res == 0, "NETH reserved byte")

    def read_de(self, b):
        (zero, res, self.vendor, self.probe_id, res2, self.spdcid, self.dpdcid,
         stamp) = struct.unpack("!HBBHHHH4s", b)
        need(zero == 0 and res == 0 and res2 == 0, "PETH type, next, reserved zero")
        need(self.vendor == 0, "PETH vendor_info")
        need(self.psn == 0, "a probe consumes no PSN")
        self.tx_ts = timestamp(stamp)

    def read_d8(self, b):
        zero, byte1, res, self.vendor, self.raw_mask, res2, stamp = struct.unpack("!BBBBII4s", b)
        self.op, self.mask = byte1 & 3, self.raw_mask >> self.readings.port_bit_1       # bit 0 of .mask: port 1
        need(zero == 0 and byte1 & 0xfc == 0 and res == 0 and res2 == 0,
             "ERTH type, next, reserved zero")
        need(self.op < 2, "ERTH op")
        need(self.vendor == 0 or (self.vendor == RETURN and self.op == 1), "ERTH vendor_info")
        need(self.psn >> 16 == 0, "request id in PSN[15:0]")
        self.tx_ts = timestamp(stamp)

    def read_d9(self, b):
        shift, other = (4, 2) if self.readings.op_high else (2, 4)
        self.op = b[1] >> shift & 3
        self.vendor, (self.echo_ts,) = b[3], struct.unpack("!H", b[28:30])
        rest = bytearray(b)
        rest[1] &= ~(3 << shift)
        rest[28:30] = b"\0\0"
        if rest[3] == RETURN:       # ours: the answer took the path that the probe named
            rest[3] = 0
        shifted = rest[1] == 1 << other and not any(rest[2:]) and not rest[0]       # D4
        need(not any(rest), "EETH reserved zero", other=shifted)
        if shifted:
            self.op = b[1] >> other & 3
        need(self.op < 2, "EETH op")
        need(self.psn >> 16 == 0, "request id in PSN[15:0]")

    def read_self(self, b):
        """Ours: a host sends it to itself, in any class."""
        need(len(b) >= SELF_LEN, "self-probe: number, id, secret, payload")
        self.test, self.number, self.secret = struct.unpack("!IIQ", b[:16])
        self.payload = b[16:]
        need(not (self.a or self.rtx or self.ts or self.pad or self.se), "BTH flags of control")
        need(self.src == self.dst, "a self-probe is of its host to itself")
        need(self.psn == self.number & 0xffffff, "BTH PSN of a self-probe is its number")

    def read_copy(self, b):
        """Ours: the second of two datagrams, IBTA's UD SEND ONLY but for its opcode and the mark."""
        need(len(b) >= COPY[self.opcode], "DETH of a copied datagram whole")
        self.qkey, word = struct.unpack("!II", b[:8])
        self.mark, self.sqpn = word >> 24, word & 0xffffff
        self.extra = b[8:COPY[self.opcode]]
        need(self.mark == MARK, "a copied datagram has the mark")
        need(not (self.a or self.rtx or self.ts), "BTH flags of a copied datagram")
        need(len(b) % 4 == 0, "payload padded to words")
        self.read_payload(b[COPY[self.opcode]:])

    def names_ports(self, planes, bit_1):
        """A port status mask, read by @bit_1, names ports that there are."""
        return self.raw_mask >> bit_1 >> planes == 0 and not (bit_1 and self.raw_mask & 1)

    # ------------------------------------------------------------ QoS (8)

    def check_class(self, classes):
        if self.opcode in DATA:
            # A retransmission that nobody may trim travels as probes do.
            right = (classes.rtx, *classes.probe) if self.rtx else (classes.data,)
        elif self.opcode == PROBE or self.opcode in COPY and self.dqpn != GSI_QP:
            right = classes.probe
        else:
            right = (classes.control,)
        ip = self.frame.ip
        need(ip.dscp in right, "DSCP of its class")
        if right != (classes.control,):
            need(ip.ecn == ECT0, "ECT(0)")
        else:
            need(ip.ecn in (0, ECT0), "no CE from the sender")


def timestamp(b):
    """tx_timestamp, tsr, reserved, ftype 1. Returns the timestamp."""
    stamp, rest = struct.unpack("!HH", b)
    need(rest & 0x7fff == 1, "timestamp: reserved zero, ftype 1")
    return stamp


def diff(a, b):
    """a - b of 24-bit PSNs, signed."""
    return ((a - b + (1 << 23)) & 0xffffff) - (1 << 23)
