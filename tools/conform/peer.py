# SPDX-License-Identifier: GPL-2.0
"""peer.py - the active kit's end of a connection: it sends the packets of a scenario, and records the answers."""

import ipaddress

import build
import layers
import link as links
import packet
from packet import ACK, DATA, EP_REQ, EP_RSP, NACK, PROBE, SACK

M24 = 0xffffff
S = 10**9
CE = 3
GUARD = 0xee            # what a device's memory is full of before
TRIM_TO = 12 + 4 + 4 + 16       # BTH, METH, TSETH, RETH are left of a trimmed packet


class Piece:
    """One packet of a WRITE that the kit sends."""

    def __init__(self, opcode, psn, rqmsn, msn, va, rkey, dmalen, imm, payload):
        self.opcode, self.psn, self.rqmsn, self.msn = opcode, psn, rqmsn, msn
        self.va, self.rkey, self.dmalen, self.imm, self.payload = va, rkey, dmalen, imm, payload
        self.ev = self.stamp = self.time = None
        self.size = 0


def pattern(seed, size):
    return bytes((seed * 37 + i * 13 + (i >> 8)) & 0xff for i in range(size))


class Settings:
    def __init__(self, dscp=(8, 12, 46, 8, 10), trimmed=16, lasthop=18, plain=True, patience=30, ports=1, readings=packet.Readings()):
        self.classes = packet.Classes(*dscp[:3], dscp[3:])
        self.trimmed, self.lasthop, self.plain, self.ports = trimmed, lasthop, plain, ports
        self.patience = int(patience * S)
        self.quiet, self.readings = S // 2, readings


class Peer:
    """The kit as a host: it may have any number of connections, one after the other."""

    def __init__(self, link, way, settings, judge):
        self.link, self.way, self.settings, self.judge = link, way, settings, judge
        self.qpn, self.number, self.log, self.scenario = 0x4d00, 0, [], ""
        self.reacting, self.can, self.down = [], {}, set()      # .down: ports that the kit says are down
        self.frames = []        # (time, frame) of the scenario
        layers.WATCH[:] = [judge.watch]

    # ------------------------------------------------------------------ verdicts

    def need(self, condition, rule, detail="", other=False):
        verdict = layers.KEPT if condition else layers.DISPUTED if other else layers.BROKEN
        self.judge.watch(rule, verdict)
        if verdict != layers.KEPT:
            self.judge.example(rule, f"{self.scenario}: {detail}" if detail else self.scenario)
        return bool(condition)

    # -------------------------------------------------------------------- frames

    def send(self, body, ev=None, dscp=None, port=0, **how):
        self.number += 1
        if ev is None:
            ev = 0xc000 + self.number * 7 % 64 << 16 | (self.number * 5 & 0xff if self.way.own.version == 6 else 0)
        if "udp" in how:
            how["port"] = how.pop("udp")
        dscp = self.settings.classes.control if dscp is None else dscp
        raw = self.way.frame(body, ev, dscp, by=port, **how)
        self.frames.append((self.link.now(), raw))
        self.link.send(raw, port)
        return ev

    def receive(self, until):
        """The next packet of the device to this host, judged by itself; None at @until."""
        while True:
            got = self.link.receive(until)
            if got is None:
                return None
            time, port, raw = got
            try:
                p = packet.Packet(raw, self.settings.classes, time, self.settings.plain, OTHERS, readings=self.settings.readings)
            except layers.NotMrc:
                continue
            except layers.Bad as e:
                self.frames.append((time, raw))
                self.judge.example(str(e), f"{self.scenario}: {raw[:160].hex()}")
                continue
            if p.src != self.way.device.packed:
                continue
            self.frames.append((time, raw))
            if self.way.tunnel:
                self.need_tunnel(p, self.way.tunnel.locators[port])
            p.port = port
            self.log.append(p)
            if p.opcode == EP_REQ and port not in self.down:
                self.send(build.endpoint_answer(p.psn, p.op, p.tx_ts, self.settings.readings.op_high), port=port)
            for react in self.reacting:
                react(p)
            return p

    def need_tunnel(self, p, locator):
        outer = p.frame.outer
        if self.need(outer, "by-srv6", f"opcode {p.opcode:02x}, PSN {p.psn}"):
            self.need(outer.dst == locator, "locator", f"{ipaddress.IPv6Address(outer.dst)}, not {ipaddress.IPv6Address(locator)}")

    def wait(self, wanted, since=0, patience=None):
        """The first packet since entry @since of the log that is wanted; None if none comes in time."""
        until = self.link.now() + (self.settings.patience if patience is None else patience)
        at = since
        while True:
            for at in range(at, len(self.log)):
                if wanted(self.log[at]):
                    return self.log[at]
            at = len(self.log)
            if self.receive(until) is None:
                return None

    def rest(self):
        """What still comes, for a while."""
        self.wait(lambda p: False, len(self.log), self.settings.quiet)

    def stamp(self):
        return links.stamp(self.link.now())

    def endpoint(self, number, op, mask=1, port=0):
        """@mask: bit 0 is port 1."""
        stamp = self.stamp()
        self.send(build.endpoint(number, op, mask << self.settings.readings.port_bit_1, stamp), port=port, ecn=0)
        return stamp

    def open(self, psn=0x1000, sq_psn=0x800000, mtu=1024):
        self.qpn += 1
        self.log, self.reacting = [], []
        said = self.link.ask(f"open qpn={self.qpn} rq_psn={psn} sq_psn={sq_psn} addr={self.way.own} mtu={mtu}")
        return Connection(self, said, self.qpn, psn, sq_psn, mtu)


OTHERS = (*range(0xc0), packet.SELF, 0xe4, 0xe5)


class Connection:
    """@said: what the device said of its QP: qpn, va, rkey, size, mpr, wimm."""

    def __init__(self, peer, said, qpn, psn, sq_psn, mtu):
        self.peer, self.said, self.qpn, self.mtu = peer, said, qpn, mtu
        self.first, self.psn, self.sq_psn = psn, psn, sq_psn
        self.msn = self.rqmsn = self.fill = self.probes = 0
        self.dqpn, self.window = said["qpn"], said["mpr"] * 128
        self.ids = qpn & 0xffff, self.dqpn & 0xffff
        # what the kit has of the device's packets, and admits to have
        self.cack, self.have, self.sizes, self.done = sq_psn - 1 & M24, set(), 0, 0
        self.mute, self.silent = set(), False
        self.psns = set()       # that the kit sent
        peer.reacting.append(self.watch)

    # ------------------------------------------------------------ the kit writes

    def cut(self, size, at=0, imm=None, rkey=None, mtu=None):
        """A WRITE of @size bytes to offset @at of the device's region, as packets."""
        mtu = mtu or self.mtu
        self.fill += 1
        content, pieces = pattern(self.fill, size), []
        for i in range(0, max(size, 1), mtu):
            first, last = i == 0, i + mtu >= size
            opcode = ((0xcb if imm is not None else 0xca) if first and last else
                      0xc6 if first else (0xc9 if imm is not None else 0xc8) if last else 0xc7)
            pieces.append(Piece(opcode, self.psn, self.rqmsn if imm is not None else 0, self.msn, self.said["va"] + at + i,
                                self.said["rkey"] if rkey is None else rkey, size, imm if last else None, content[i:i + mtu]))
            self.psn = self.psn + 1 & M24
        self.msn += 1
        self.rqmsn += imm is not None
        return pieces, content

    def send(self, piece, *, a=False, rtx=False, ce=False, ts=True, payload=None, pad=0, psn=None, reserved=False,
             opcode=None, trim=None, dscp=None, **how):
        peer, classes = self.peer, self.peer.settings.classes
        content = (piece.payload if payload is None else payload) + bytes(pad)
        piece.stamp = peer.stamp() if ts else None
        head = build.bth(opcode or piece.opcode, self.dqpn, piece.psn if psn is None else psn, pad=pad, a=a, rtx=rtx, ts=ts,
                         reserved=reserved)
        body = build.data(head, piece.rqmsn, piece.msn, piece.stamp, piece.va, piece.rkey, piece.dmalen, piece.imm, content)
        self.psns.add(piece.psn if psn is None else psn)
        piece.size, piece.time = 8 + len(body) + 4 + 40, peer.link.now()
        if dscp is None:
            dscp = classes.rtx if rtx else classes.data
        if trim or ce:
            how["before"] = (classes.rtx if rtx else classes.data) << 2 | layers.ECT0
        if trim:
            how["trim"] = min(TRIM_TO, len(body) - 1)
        piece.ev = peer.send(body, dscp=dscp, ecn=CE if ce else layers.ECT0, **how)
        return len(peer.log)

    def sack_of(self, piece):
        return self.peer.wait(lambda p: p.opcode == SACK and p.dqpn == self.qpn and not p.pr and
                              p.cack + p.trigger & M24 == piece.psn, self.since)

    def ask(self, piece, **how):
        """Send @piece, and wait for the SACK that answers it."""
        self.since = self.send(piece, **how)
        return self.sack_of(piece)

    def nack_of(self, piece):
        return self.peer.wait(lambda p: p.opcode == NACK and p.dqpn == self.qpn and p.psn == piece.psn, self.since)

    def ack(self, psn):
        return self.peer.wait(lambda p: p.opcode == ACK and p.dqpn == self.qpn and p.syndrome == 0x1f and
                              packet.diff(p.psn, psn) >= 0)

    def nak(self):
        return self.peer.wait(lambda p: p.opcode == ACK and p.dqpn == self.qpn and p.syndrome != 0x1f)

    def acked(self, psn):
        return any(p.opcode == ACK and p.dqpn == self.qpn and p.syndrome == 0x1f and packet.diff(p.psn, psn) >= 0
                   for p in self.peer.log)

    def probe(self, ev=None, number=None, patience=None):
        """Ask what the device has: (answer or None, EV, stamp). Whatever the kit sent before has been looked at then."""
        self.probes += 1
        number = 0x2000 + self.probes if number is None else number
        stamp, since = self.peer.stamp(), len(self.peer.log)
        ev = self.peer.send(build.probe(self.dqpn, self.ids, number, stamp), ev, ecn=layers.ECT0,
                            dscp=self.peer.settings.classes.probe[0])
        answer = self.peer.wait(lambda p: p.opcode == SACK and p.dqpn == self.qpn and p.pr and p.probe_id == number, since,
                                patience)
        return answer, ev, stamp

    def has(self, psn):
        """Does the device say that it has @psn?"""
        answer, _, _ = self.probe()
        return bool(answer and shows(answer, psn))

    def memory(self, at, size):
        return bytes.fromhex(self.peer.link.ask(f"read at={at} size={size}").get("hex", ""))

    def state(self):
        """state, sent, failed, received (a list)"""
        said = self.peer.link.ask("state")
        received = said.get("received", "none")
        said["received"] = [] if received == "none" else [int(n) for n in str(received).split(",")]
        return said

    def becomes(self, **wanted):
        """The state, as soon as it is as wanted, or else at the end of patience."""
        until = self.peer.link.now() + self.peer.settings.patience
        while True:
            said = self.state()
            if all(said.get(k) == v for k, v in wanted.items()) or self.peer.link.now() >= until:
                return said
            self.peer.wait(lambda p: False, len(self.peer.log), self.peer.settings.quiet // 10)

    # ---------------------------------------------------------- the device writes

    def write(self, size, count=1, imm=None, at=0):
        words = f"write size={size} at={at} count={count} va=0x7f0000000000 rkey=0x1234"
        self.peer.link.ask(words if imm is None else f"{words} imm={imm}")

    def copies(self, psn=None, since=0):
        """Packets of data that came, those of @psn or all."""
        return [p for p in self.peer.log[since:] if p.opcode in DATA and p.dqpn == self.qpn and psn in (None, p.psn)]

    def gather(self, psns):
        """Wait until each of @psns has come. False: it did not."""
        left = set(psns)

        def came(p):
            if p.opcode in DATA and p.dqpn == self.qpn:
                left.discard(p.psn)
            return not left
        return self.peer.wait(came) is not None

    def sent(self, n):
        return self.sq_psn + n & M24

    def admit(self, p):
        """The kit has @p, from now on."""
        if p.psn not in self.have and packet.diff(p.psn, self.cack) > 0 and not self.beyond(p):
            self.have.add(p.psn)
            self.sizes += p.udp_len + 40
            self.done += p.place in ("last", "only")
        while self.cack + 1 & M24 in self.have:
            self.cack = self.cack + 1 & M24
            self.have.discard(self.cack)

    def sack(self, p, m=0, **how):
        """Answer packet @p by what the kit has."""
        base = max(1, packet.diff(p.psn, self.cack) - 63)
        bits = sum(1 << i for i in range(64) if self.cack + base + i & M24 in self.have)
        self.peer.send(build.sack(self.dqpn, self.ids, self.cack, trigger=packet.diff(p.psn, self.cack), ev=p.ev, m=m, base=base,
                                  bitmap=bits, stamp=p.tx_ts, rcvd=(self.sizes + 255) // 256), **how)

    def nack(self, p, reason):
        self.peer.send(build.nack(self.dqpn, self.ids, p.psn, reason, p.ev, p.tx_ts))

    def acknowledge(self, psn=None, msn=None, syndrome=0x1f, **how):
        """Transport ACK: of all that the kit has, unless something else is said."""
        self.peer.send(build.ack(self.dqpn, self.cack if psn is None else psn, self.done if msn is None else msn, syndrome), **how)

    def watch(self, p):
        """What holds of every packet of the device; and its probes are answered."""
        if p.dqpn != self.qpn:
            return
        if p.opcode in DATA:
            self.peer.need(not self.beyond(p), "window", f"PSN {p.psn}, cack {self.cack}, {self.window} agreed upon")
        elif p.opcode == NACK:
            self.peer.need(p.psn in self.psns, "nack-sent", f"PSN {p.psn}, reason {p.reason}")
        if p.opcode == PROBE and p.dqpn == self.qpn and not self.silent and p.ev not in self.mute and p.port not in self.peer.down:
            self.peer.send(build.sack(self.dqpn, self.ids, self.cack, probe=p.probe_id, ev=p.ev, stamp=p.tx_ts,
                                      rcvd=(self.sizes + 255) // 256))

    def take_all(self, but=lambda p: False, m=lambda p: 0, every=1):
        """From now on the kit takes and answers what comes, @but some packets."""
        count = [0]

        def react(p):
            if p.opcode not in DATA or p.dqpn != self.qpn or self.beyond(p) or but(p):
                return
            self.admit(p)
            count[0] += 1
            if count[0] % every == 0 or p.a or p.rtx or m(p):
                self.sack(p, m(p))
        self.peer.reacting.append(react)

    def beyond(self, p):
        return packet.diff(p.psn, self.cack) > self.window

    def take_no_more(self):
        del self.peer.reacting[1:]

    def ack_all(self):
        """Take and acknowledge all that is still to come."""
        self.take_no_more()

        def react(p):
            if p.opcode in DATA and p.dqpn == self.qpn and not self.beyond(p):
                self.admit(p)
                self.sack(p)
                self.acknowledge()
        self.peer.reacting.append(react)
        for p in self.copies():
            self.admit(p)
        known = [p for p in self.copies() if not self.beyond(p)]
        if known:
            self.sack(known[-1])
        self.acknowledge()


def shows(sack, psn):
    return packet.diff(psn, sack.cack) <= 0 or psn in {n for _, n in sack.sacked()}


def is_answer(op, number):
    return lambda p: p.opcode == EP_RSP and p.op == op and p.psn == number


def reflected(echo, stamp, sent, came):
    """@echo: the stamp, or as much later as the device may have held the packet."""
    return stamp is not None and (echo - stamp & 0xffff) <= (came - sent) // 128 + 1
