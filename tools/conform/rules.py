# SPDX-License-Identifier: GPL-2.0
"""rules.py - check the rules that concern several packets of a capture.

A complete capture is taken where packets leave their hosts, on all planes, from before the first
packet to after the last. It has every packet, so each statement of a packet about others can be checked.
Times show that a packet precedes its answer. Two packets of one end may be swapped by RACE_NS,
because two processors of that end send. In an incomplete capture, a rule is checked only where all
packets that it concerns are there.

A Stream is one direction between two QPs: data packets by PSN, and the control packets that answer the
opposite stream (.back). Broken rules are collected by finding.add(rule, text), not raised.
"""
import bisect
import collections

import layers
from packet import (ACK, CONTROL, COPY, DATA, EP_REQ, EP_RSP, FIRST, LAST, MIDDLE, NACK, ONLY, Original, PROBE,
                    SACK, SELF, WITH_IMM, diff)

NOMINAL = 40            # nominal_hdrsize, 8.3.1
RACE_NS = 50_000_000    # a virtual processor stands still between a packet's turn and its leaving
TS_NS = 128             # unit of timestamps
BURST = 16              # small packets in a row may take one EV
COPIES = 2048           # of a packet that are remembered, the first and the latest; RNR makes hundreds


class Findings:
    """.rules: what broke each rule that was looked at; .looked: how often it was."""

    def __init__(self):
        self.rules = collections.OrderedDict()
        self.looked = collections.Counter()
        self.disputed = collections.Counter()

    def need(self, condition, name, text="", other=False):
        """@other: as layers.need()."""
        broken = self.rules.setdefault(name, [])
        self.looked[name] += 1
        if not condition and other and layers.WATCH:
            self.disputed[name] += 1
        elif not condition:
            broken.append(text)


def reflected(answer, asked):
    """Is echo_ts the tx_timestamp of one of @asked, moved on by the time that it was held?"""
    for q in asked:
        if q.opcode in DATA and not q.ts:
            if answer.echo_ts == 0:
                return True
        elif (answer.echo_ts - q.tx_ts) & 0xffff <= (answer.time - q.time) // TS_NS + 1:
            return True
    return not asked


def show(p):
    text = f"t={p.time / 1e9:.6f} op={p.opcode:02x} qp={p.dqpn:x} psn={p.psn:x} ev={p.ev:x}"
    return f"{p.where}: {text}, BTH {p.frame.bth[:48].hex()}" if p.where else text


def path(p):
    return p.ev, p.frame.port


def only_a_penalty(p):
    """Ours: a new penalty leaves at once, perhaps before any packet has arrived whole that it could name."""
    return p.pen and p.trigger == -32768 and not p.entropy


class Stream:
    """All packets from one address to one QP of another."""

    def __init__(self, src, dst, dqpn):
        self.src, self.dst, self.dqpn = src, dst, dqpn
        self.data, self.control, self.back = [], collections.defaultdict(list), None
        self.sends = {}         # PSN: its transmissions

    def add(self, p):
        if p.opcode in DATA:
            self.data.append(p)
            copies = self.sends.setdefault(p.psn, [])
            copies.append(p)
            if len(copies) > COPIES:
                del copies[1]
        else:
            self.control[p.opcode].append(p)

    def end(self):
        """All is there: first copies in the order of PSNs, and sums over them."""
        origin = self.data[0].psn if self.data else 0
        ahead = sorted((diff(psn, origin), psn) for psn in self.sends)
        self.origin, self.ahead = origin, [d for d, _ in ahead]
        self.first = [self.sends[psn][0] for _, psn in ahead]
        self.size, self.ends, self.latest = [0], [0], [0]
        for p in self.first:
            self.size.append(self.size[-1] + p.udp_len + NOMINAL)
            self.ends.append(self.ends[-1] + (p.place in (LAST, ONLY)))
            self.latest.append(max(self.latest[-1], p.time))
        self.end_times = sorted(p.time for p in self.first if p.place in (LAST, ONLY))

    def upto(self, psn):
        """How many of .first have PSNs up to and including @psn."""
        return bisect.bisect_right(self.ahead, diff(psn, self.origin))

    def sent_before(self, psn, time):
        """Copies of @psn that left before @time."""
        return [p for p in self.sends.get(psn, ()) if p.time < time]


class Run:
    """@mpr, @planes: None where nobody knows them."""

    def __init__(self, packets, mpr=None, planes=1, whole=True):
        self.found, self.whole = Findings(), whole
        self.packets = sorted((p for p in packets if not isinstance(p, Original)), key=lambda p: p.time)
        self.originals = [p for p in packets if isinstance(p, Original)]
        self.mpr, self.planes = mpr, planes
        self.streams = {}
        for p in self.packets:
            if p.opcode not in (EP_REQ, EP_RSP, SELF, *COPY):
                key = (p.src, p.dst, p.dqpn)
                if key not in self.streams:
                    self.streams[key] = Stream(*key)
                self.streams[key].add(p)
        for s in self.streams.values():
            s.end()
        self.pair()

    def pair(self):
        """SACKs, NACKs and probes name the QP of their sender by spdcid."""
        for s in self.streams.values():
            for opcode in (SACK, NACK, PROBE):
                for p in s.control[opcode]:
                    self.pair_one(s, p)
        for s in self.streams.values():
            if not s.back and s.control[ACK]:
                self.pair_by_psn(s)

    def pair_by_psn(self, s):
        """A QP that sent nothing but ACKs or a NAK names nobody."""
        psn = s.control[ACK][0].psn
        mates = [b for b in self.streams.values() if (b.src, b.dst) == (s.dst, s.src) and
                 not b.back and b.first and 0 < b.upto(psn) <= len(b.first)]
        if self.whole:
            self.found.need(mates, "an ACK answers a QP that sent something",
                            show(s.control[ACK][0]))
        if mates:
            s.back, mates[0].back = mates[0], s

    def pair_one(self, s, p):
        need = self.found.need
        need(p.dpdcid == s.dqpn & 0xffff, "dpdcid is the low half of the destination QP", show(p))
        mates = [b for b in self.streams.values() if (b.src, b.dst) == (s.dst, s.src) and
                 b.dqpn & 0xffff == p.spdcid]
        if not mates and self.whole and self.answered(s, p):
            need(False, "spdcid is the low half of the sender's QP", show(p))
        for b in mates:
            need(s.back in (None, b), "spdcid is one and the same for a QP", show(p))
            s.back, b.back = b, s

    def answered(self, s, p):
        """Something came from the other side, so that its QP is known to us."""
        return any((b.src, b.dst) == (s.dst, s.src) for b in self.streams.values())

    def check(self):
        for s in self.streams.values():
            self.check_psns(s)
            self.check_messages(s)
            self.check_copies(s)
            for opcode, check in ((SACK, self.check_sack), (NACK, self.check_nack),
                                  (ACK, self.check_ack)):
                for p in s.control[opcode]:
                    if s.back:
                        check(s.back, p)
            self.check_edge(s)
            self.check_probes(s)
        self.check_endpoints()
        self.check_datagrams()
        self.check_paths()
        return self.found

    # ------------------------------------------------------------ data packets

    def check_psns(self, s):
        need, first = self.found.need, s.first
        if self.whole:
            for a, b in zip(first, first[1:]):
                need(diff(b.psn, a.psn) == 1, "PSNs without a gap", show(b))
        for copies in s.sends.values():
            self.check_rtx(copies)

    def check_rtx(self, copies):
        """Queues of two paths may let a retransmission pass the first copy; that of one path keeps their order."""
        need, once = self.found.need, [p for p in copies if not p.rtx]
        passed = [p for p in once[:1] if any(path(q) == path(p) for q in copies[:copies.index(p)])]
        if self.whole:
            need(once and not passed, "RTX is not set in the first copy of a PSN", show(copies[0]))
        if len(copies) > 1:
            need(len(once) < 2, "RTX is set in every other copy", show(copies[-1]))

    def check_copies(self, s):
        """A retransmission is the same packet; on another path, where there is one."""
        need = self.found.need
        paths, again = {path(p) for p in s.data}, []
        for copies in s.sends.values():
            p = copies[0]
            for q in copies[1:]:
                need((q.opcode, q.rqmsn, q.msn, q.va, q.rkey, q.dmalen, q.extra, len(q.payload)) ==
                     (p.opcode, p.rqmsn, p.msn, p.va, p.rkey, p.dmalen, p.extra, len(p.payload)),
                     "a retransmission has the headers of the first copy", show(q))
            again += list(zip(copies, copies[1:]))
        same = [q for p, q in again if path(p) == path(q)]
        # It should; it need not when no other is good.
        need(len(paths) < 3 or len(same) <= 1 + len(again) // 10,
             "a retransmission takes another EV", f"{len(same)} of {len(again)}")

    def messages(self, s):
        """Lists of packets, each one message. Broken ones are findings."""
        need, message, before = self.found.need, [], None
        for p in s.first:
            follows = before is not None and diff(p.psn, before.psn) == 1
            before = p
            if not self.whole and not follows:
                message = []
            if p.place in (FIRST, ONLY):
                need(not message, "a message ends before the next begins", show(p))
                message = []
            elif not message:
                if self.whole:
                    need(False, "a message begins with FIRST or ONLY", show(p))
                continue
            else:
                need(True, "a message begins with FIRST or ONLY")
            message.append(p)
            need(p.family == message[0].family, "one family in a message", show(p))
            if p.place in (LAST, ONLY):
                yield message
                message = []

    def check_messages(self, s):
        need, msn, rqmsn = self.found.need, None, 0
        requests = self.requests(s.back) if s.back else {}
        mtu = max((len(p.payload) for p in s.data if p.place in (FIRST, MIDDLE)), default=0)
        need(mtu in (0, 256, 512, 1024, 2048, 4096), "the MTU is one of IBTA's", str(mtu))
        for message in self.messages(s):
            head, last = message[0], message[-1]
            for i, p in enumerate(message):
                need(p.msn == head.msn, "msn is one in a message", show(p))
                need(p.rqmsn == head.rqmsn, "rqmsn is one in a message", show(p))
                need(p.dmalen == head.dmalen, "dmalen is one in a message", show(p))
                need(p.rkey == head.rkey, "R_Key is one in a message", show(p))
                need(p.va == (head.va + i * mtu) % 2**64, "va advances by the MTU", show(p))
                need(p.place not in (FIRST, MIDDLE) or len(p.payload) == mtu,
                     "all but the last packet are full", show(p))
            if head.family in ("send", "write", "response"):
                need(sum(len(p.payload) for p in message) == head.dmalen,
                     "dmalen is the length of the message", show(head))
            if head.family in ("response", "atomic_ack"):
                self.check_response(head, requests)
                continue
            if not self.whole:
                continue
            need(msn is None or head.msn == (msn + 1) & 0xffff, "msn counts messages", show(head))
            msn = head.msn
            if last.takes_receive:
                need(head.rqmsn == rqmsn & 0xffff, "rqmsn counts receives from 0", show(head))
                rqmsn += 1
            else:
                need(head.rqmsn == 0, "rqmsn is zero for a plain WRITE", show(head))

    def requests(self, s):
        """msn: requests with it, by PSN; msn wraps."""
        asked = collections.defaultdict(list)
        for p in s.first:
            if p.family in ("read", "atomic"):
                asked[p.msn].append(p)
        return asked

    def check_response(self, head, requests):
        before = [q for q in requests.get(head.msn, ()) if q.time < head.time]
        request = before[-1] if before else None
        if not request and not self.whole:
            return
        self.found.need(request is not None,
                        "a response has the msn of a request", show(head))
        if request and head.family == "response":
            self.found.need(head.dmalen == request.dmalen, "a response is as long as asked",
                            show(head))
            self.found.need(request.family == "read", "READ is answered by data", show(head))

    # ------------------------------------------------------- acknowledgements

    def check_sack(self, s, p):
        """@p answers stream @s."""
        need = self.found.need
        n = s.upto(p.cack)
        beyond = [psn for _, psn in p.sacked()]
        if self.whole:
            self.check_span(s, p, n, beyond)
        if p.pr:
            asked = [q for q in s.control[PROBE] if q.time < p.time and q.ev == p.entropy and
                     q.probe_id == p.probe_id]
            if asked or self.whole:
                need(asked, "a probe's answer has its id and EV", show(p))
                need(reflected(p, asked), "tx_timestamp of a probe is reflected", show(p))
        elif not only_a_penalty(p):
            self.check_echo(s, p, (p.cack + p.trigger) & 0xffffff, "SACK")

    def check_span(self, s, p, n, beyond):
        need = self.found.need
        need(s.latest[n] < p.time and all(s.sent_before(psn, p.time) for psn in beyond),
             "a SACK names only what was sent before it", show(p))
        if s.first:
            need(diff(p.cack, s.first[0].psn) >= -1, "cack is not before the first PSN", show(p))
            need(diff(p.cack, s.first[-1].psn) <= 0, "cack is not beyond the last PSN", show(p))
        self.check_rcvd(s, p, n, beyond)

    def check_echo(self, s, p, psn, what):
        need = self.found.need
        sent = s.sent_before(psn, p.time)
        copies = [q for q in sent if q.ev == p.entropy]
        if not self.whole and (not sent or any(q.rtx for q in sent)):
            return
        need(copies, f"entropy of a {what} is that of the packet it answers", show(p))
        need(reflected(p, copies), f"tx_timestamp is reflected in a {what}", show(p))

    def check_rcvd(self, s, p, n, beyond):
        """Exact where ooo_count says that the bitmap shows all there is."""
        least = s.size[n] + sum(s.sends[psn][0].udp_len + NOMINAL
                                for psn in beyond if psn in s.sends)
        if p.ooo == len(beyond):
            self.found.need(p.rcvd == (least + 255) // 256 & 0xffffff,
                            "rcvd_bytes counts UDP length and 40 of each packet taken", show(p))
        else:
            self.found.need((p.rcvd - least // 256) & 0xffffff < 1 << 23,
                            "rcvd_bytes counts at least what is shown", show(p))

    def check_nack(self, s, p):
        self.check_echo(s, p, p.psn, "NACK")
        later = s.sends.get(p.psn, ())
        if not self.whole:
            return
        self.found.need(len(later) > 1 or s.back and self.failed(s),
                        "what was NACKed is sent again", show(p))

    def failed(self, s):
        return any(p.syndrome != 0x1f for t in (s, s.back) for p in t.control[ACK])

    def check_ack(self, s, p):
        need, n = self.found.need, s.upto(p.psn)
        if not self.whole:
            return
        if s.first:
            need(diff(p.psn, s.first[0].psn) >= -1, "an ACK is not before the first PSN", show(p))
            need(diff(p.psn, s.first[-1].psn) <= 0, "an ACK is not beyond the last PSN", show(p))
        need(s.latest[n] < p.time, "an ACK names only what was sent before it", show(p))
        if p.syndrome != 0x1f:
            need(p.psn in s.sends, "a NAK names a PSN that was sent", show(p))
            need(p.done == s.ends[s.upto(p.psn - 1)], "a NAK comes when all before it is done",
                 f"{show(p)} msn={p.done}")
            return
        # The left edge may be ahead of what is done: READs and ATOMICs take their time.
        most = bisect.bisect_left(s.end_times, p.time)
        need(s.ends[n] <= p.done <= most, "AETH.msn counts messages", f"{show(p)} msn={p.done}")

    def check_edge(self, s):
        """cack does not go back; nothing is sent beyond cack and MPR."""
        if not s.back:
            return
        need = self.found.need
        acks = s.back.control[SACK]
        edge = None
        for p in acks:
            if edge and p.time - edge.time > RACE_NS:
                need(diff(p.cack, edge.cack) >= 0, "cack does not go back", show(p))
            if edge is None or diff(p.cack, edge.cack) > 0:
                edge = p
        if not self.mpr or not s.data:
            return
        events = sorted(acks + s.back.control[ACK] + s.data, key=lambda p: p.time)
        edge = (s.first[0].psn - 1) & 0xffffff if self.whole else None
        for p in events:
            if edge is None:
                edge = None if p.opcode in DATA else p.psn
            elif p.opcode in DATA:
                need(diff(p.psn, edge) <= self.mpr * 128, "nothing is sent beyond cack and MPR",
                     show(p))
            elif diff(p.psn, edge) > 0:
                edge = p.psn

    def check_probes(self, s):
        probes = s.control[PROBE]
        answers = s.back.control[SACK] if s.back else []
        if self.whole and len(probes) >= 5:
            self.found.need(any(p.pr for p in answers), "probes are answered", show(probes[0]))

    # --------------------------------------------------------- other packets

    def check_endpoints(self):
        need = self.found.need
        requests = [p for p in self.packets if p.opcode == EP_REQ]
        answered = 0
        for p in requests:
            if self.planes:
                bit_1 = p.readings.port_bit_1       # D5
                need(p.names_ports(self.planes, bit_1), "port status of ports that there are", show(p),
                     other=p.names_ports(self.planes, not bit_1))
        for p in self.packets:
            if p.opcode != EP_RSP:
                continue
            asked = [q for q in requests if q.time < p.time and q.psn == p.psn and
                     q.op == p.op and (q.src, q.dst) == (p.dst, p.src)]
            if not asked and not self.whole:
                continue
            need(asked, "an endpoint response has id and op of a request", show(p))
            need(reflected(p, asked), "tx_timestamp of an endpoint request is reflected", show(p))
            answered += bool(asked)
        if self.whole and len(requests) >= 4:
            need(answered, "endpoint requests are answered")

    def check_datagrams(self):
        """Ours: a copy differs from its datagram by the opcode only, and goes by another path."""
        def same(p):
            return p.src, p.dst, p.frame.bth[1:]

        def way(p):
            return p.ev, p.frame.outer and p.frame.outer.dst

        sent = {}
        for p in self.originals:
            sent.setdefault(same(p), set()).add(way(p))
        for p in self.packets:
            if p.opcode in COPY and same(p) in sent:
                self.found.need(way(p) not in sent[same(p)], "a copied datagram takes another EV", show(p))

    def check_paths(self):
        """An EV is one path."""
        paths = {}
        for p in self.packets:
            outer = p.frame.outer
            if outer and p.opcode != SELF:
                path = paths.setdefault((p.src, p.dst, p.ev), (outer.dst, outer.srh))
                self.found.need(path == (outer.dst, outer.srh), "an EV has one outer destination",
                                show(p))
        data = [p.ev for p in self.packets if p.opcode in DATA]
        if len(data) > BURST:
            self.found.need(len(set(data)) > 1, "packets are sprayed over several EVs")


def types(packets):
    return {p.opcode for p in packets}


ALL_TYPES = sorted(set(DATA) | set(CONTROL))
assert set(WITH_IMM) <= set(DATA)
