# SPDX-License-Identifier: GPL-2.0
"""device.py - a small device of MRC 1.0 that lives in simulated time, and that can be wrong in one thing.

It shares no code with the engine. The active kit (tools/conform) plays with it: a device that is right shows that the kit
is; each fault, named as in questions.py, must be caught. link.Inside says how it is driven.
"""
import heapq
import ipaddress
import os
import struct
import sys

sys.dont_write_bytecode = True

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../tools/conform"))

import build    # noqa: E402  pylint: disable=wrong-import-position
import layers   # noqa: E402  pylint: disable=wrong-import-position
from packet import Readings     # noqa: E402  pylint: disable=wrong-import-position

M24 = 0xffffff
SIZE, WINDOW, WIMM, EVS = 64 << 10, 8, 32, 16
RKEY, VA = 0x77, 0x100000
RTO = 20_000_000
DATA, RTX, CONTROL, PROBES = 8, 12, 46, 10
FIRST, MIDDLE, LAST, LAST_IMM, ONLY, ONLY_IMM = range(0xc6, 0xcc)


def diff(a, b):
    return ((a - b + (1 << 23)) & M24) - (1 << 23)


def source(at, size):
    return bytes((i * 31 + 7 + (i >> 8)) & 0xff for i in range(at, at + size))


class Frame:
    """What a device reads of a frame; .kind is None for what it does not understand."""

    def __init__(self, raw):
        v6 = raw[12:14] == b"\x86\xdd"
        ip = raw[14:]
        self.ds = struct.unpack("!H", ip[:2])[0] >> 4 & 0xff if v6 else ip[1]
        if v6 and ip[6] != layers.UDP:          # SRv6; marks and trims are in its outer header
            proto, ip = (ip[40], ip[64:]) if ip[6] == layers.ROUTING else (ip[6], ip[40:])
            v6 = proto == layers.IP6IN6
        label = struct.unpack("!I", ip[:4])[0] & 0xffff if v6 else 0
        self.src = ip[8:24] if v6 else ip[12:16]
        udp = ip[40 if v6 else 20:]
        sport, self.port, self.udp_len, _ = struct.unpack("!HHHH", udp[:8])
        self.ev, self.trimmed = sport << 16 | label, self.udp_len > len(udp)
        self.icrc = self.trimmed or layers.icrc(ip[:-4], v6) == ip[-4:]
        body = udp[8:] if self.trimmed else udp[8:-4]
        self.opcode, byte1, _, word1, word2 = struct.unpack("!BBHII", body[:12])
        self.pad, self.qpn, self.psn = byte1 >> 4 & 3, word1 & M24, word2 & M24
        self.a, self.rtx, self.ts = (bool(word2 >> n & 1) for n in (31, 29, 28))
        self.reserved = bool(word1 >> 24 or word2 >> 24 & 0x4f)
        self.body = body[12:]
        if FIRST <= self.opcode <= ONLY_IMM:
            self.read_data(self.body)

    def read_data(self, b):
        self.rqmsn, self.msn = struct.unpack("!HH", b[:4])
        b = b[4:]
        self.stamp = struct.unpack("!H", b[:2])[0] if self.ts else 0
        b = b[4:] if self.ts else b
        if self.trimmed:
            return
        self.va, self.rkey, self.dmalen = struct.unpack("!QII", b[:16])
        b = b[16:]
        self.imm = None
        if self.opcode in (LAST_IMM, ONLY_IMM):
            self.imm, = struct.unpack("!I", b[:4])
            b = b[4:]
        self.padded = b
        self.payload = b[:len(b) - self.pad]


class Qp:
    def __init__(self, device, qpn, peer, rq_psn, sq_psn, mtu):
        self.device, self.qpn, self.peer, self.mtu = device, qpn, peer, mtu
        self.bad, self.now = device.bad, 0
        self.state, self.failed, self.complete = "rts", "none", 0
        self.ids = qpn & 0xffff, peer & 0xffff
        # responder
        self.cack, self.got, self.ends, self.done = rq_psn - 1 & M24, set(), set(), 0
        self.memory, self.bytes, self.receives = bytearray(b"\xee" * SIZE), 0, 0
        self.waiting, self.received, self.rqmsn = {}, [], 0
        # requestor
        self.una, self.next, self.sq_psn = sq_psn, sq_psn, sq_psn
        self.queue, self.out, self.lost, self.imms, self.edge = [], {}, [], {}, sq_psn - 1 & M24
        self.msns, self.rqs, self.count, self.skip, self.ends_at, self.heard = 0, 0, 0, set(), [], 0

    # ------------------------------------------------------------------ answers

    def control(self, body, **how):
        self.device.emit(self, body, CONTROL, 0, **how)

    def sack(self, f, m=0, probe=None):
        if probe is None and self.bad("sack-ev"):
            ev = f.ev ^ 1
        else:
            ev = f.ev ^ 1 if self.bad("probe-echo") and probe is not None else f.ev
        cack, have = self.cack, set(self.got)
        if self.bad("left-edge"):
            cack = cack - 1 & M24
            have.add(cack + 1 & M24)
        if self.bad("bitmap-only"):
            have.add(cack + 2 & M24)
        trigger = diff(f.psn, cack) if probe is None else 0
        base = max(1 if not self.bad("left-edge") else 2, trigger - 63)
        bits = sum(1 << i for i in range(64) if cack + base + i & M24 in have)
        if self.bad("bitmap-shows") and bits and probe is None and bits & bits - 1:
            bits &= bits - 1
        stamp = f.stamp + (5000 if self.bad("sack-stamp") and probe is None else 0) & 0xffff
        m = 1 if self.bad("unmarked") else m
        self.control(build.sack(self.peer, self.ids, cack, trigger=max(trigger, -32768), probe=probe, ev=ev, m=m, base=base,
                                bitmap=bits, stamp=stamp, rcvd=(self.bytes + 255) // 256))

    def nak(self, psn, syndrome):
        self.control(build.ack(self.peer, psn, self.done, syndrome))
        if not self.bad("nak-error"):
            self.state, self.failed = "error", "local"

    def has(self, psn):
        return diff(psn, self.cack) <= 0 or psn in self.got

    # ---------------------------------------------------------------- responder

    def take_data(self, f, ce):
        ahead = diff(f.psn, self.cack)
        if f.trimmed:
            self.take_trimmed(f)
            return
        if ahead > WINDOW * 128 - self.bad("window-last"):
            if not self.bad("window-beyond"):
                return
        if self.has(f.psn):
            self.take_again(f)
            return
        if f.imm is not None and not self.receives and not self.bad("imm-no-receive"):
            self.nak(f.psn, 0x61)
            return
        if not self.place(f):
            self.nak(f.psn, 0x62)
            return
        self.got.add(f.psn)
        self.bytes += f.udp_len + 40
        if f.opcode not in (FIRST, MIDDLE):
            self.ends.add(f.psn)
        if f.imm is not None:
            self.receives -= 1
            self.waiting[f.rqmsn] = (f.psn, f.imm)
        self.advance(f)
        if f.a and not self.bad("answers-a") or f.rtx and not self.bad("answers-rtx") or ce and not self.bad("answers-ce"):
            self.sack(f, 1 if ce else 0)

    def take_trimmed(self, f):
        reason = 2 if f.ds >> 2 == 18 and not self.bad("trim-lasthop") else 1
        if self.bad("trim-taken"):
            self.got.add(f.psn)
            self.advance(f)
        if not self.bad("trim") or reason == 2:
            ev = f.ev ^ 1 if self.bad("nack-names") else f.ev
            psn = f.psn + 0x5000 & M24 if self.bad("nack-sent") else f.psn
            self.control(build.nack(self.peer, self.ids, psn, reason, ev, f.stamp))

    def take_again(self, f):
        if self.bad("dup-placed") or self.bad("stale"):
            if self.bad("dup-placed") or f.psn not in self.got and diff(f.psn, self.cack) < -50:
                self.place(f)
        if self.bad("rcvd-once"):
            self.bytes += f.udp_len + 40
        if self.bad("dup-harmless"):
            self.state = "error"
        self.sack(f)

    def place(self, f):
        at, room = f.va - VA, SIZE
        payload = f.padded if self.bad("padding") else f.payload
        if f.rkey != RKEY and not self.bad("bad-rkey") or (at < 0 or at + len(payload) > room) and not self.bad("bounds"):
            return False
        if self.bad("lands") and f.opcode == MIDDLE:
            at += 8
        self.memory[at:at + len(payload)] = payload
        return True

    def advance(self, f):
        while self.cack + 1 & M24 in self.got and not (self.bad("wrap") and self.cack == M24):
            self.cack = self.cack + 1 & M24
            self.got.discard(self.cack)
            if self.cack in self.ends:
                self.ends.discard(self.cack)
                self.done += 1
                if not self.bad("ack-done"):
                    self.control(build.ack(self.peer, self.cack, self.done))
        if self.bad("ack-early") and f.opcode in (LAST, ONLY) and f.psn in self.got:
            self.control(build.ack(self.peer, f.psn, self.done + 1))
        order = sorted(self.waiting, reverse=self.bad("imm-order"))
        for n in order:
            psn, imm = self.waiting[n]
            if (diff(psn, self.cack) <= 0 or self.bad("imm-waits")) and (n == self.rqmsn or self.bad("imm-order")):
                self.received.append(imm)
                del self.waiting[n]
                self.rqmsn += 1

    # ---------------------------------------------------------------- requestor

    def post(self, said):
        imm = said.get("imm")
        for _ in range(said["count"]):
            self.queue.append([said["at"], said["size"], 0, said["va"], said["rkey"], imm])

    def in_flight(self):
        return sum(1 for psn in self.imms if psn in self.out)

    def cut(self):
        """The next packet of what is posted, or None."""
        if not self.queue or diff(self.next, self.edge) > WINDOW * 128 + (100 if self.bad("window") else 0):
            return None
        at, size, done, va, rkey, imm = write = self.queue[0]
        if imm is not None and self.in_flight() >= WIMM and not self.bad("wimm"):
            return None
        n = min(self.mtu, size - done)
        first, last = not done, done + n == size
        opcode = ((ONLY_IMM if imm is not None else ONLY) if first and last else FIRST if first else
                  (LAST_IMM if imm is not None else LAST) if last else MIDDLE)
        if self.bad("cut") and opcode == MIDDLE:
            rkey += 1
        content = bytes(n) if self.bad("payload") else source(at + done, n)
        rqmsn = (self.rqs + self.bad("rqmsn")) if imm is not None else 0
        psn = self.next
        self.out[psn] = [opcode, rqmsn, self.msns, va + done, rkey, size, imm if last else None, content, 0, 0, 0]
        self.next = psn + 1 + (self.bad("psns") and psn == self.sq_psn + 3) & M24
        if self.bad("wrap-sent") and psn == M24:
            self.next = 1
        write[2] += n
        if last:
            self.queue.pop(0)
            self.msns += 1
            self.ends_at.append((psn, self.msns))
            self.rqs += imm is not None
            if imm is not None:
                self.imms[psn] = True
        return psn

    def way(self, but):
        if self.bad("sprayed"):
            return 0
        while True:
            self.count += 1
            n = self.count % EVS
            if n not in self.skip and n != but:
                return n

    def transmit(self, psn, again=False):
        r = self.out[psn]
        opcode, rqmsn, msn, va, rkey, size, imm, content, _, ev, _ = r
        n = ev if again and self.bad("other-ev") else self.way(ev if again else None)
        r[8], r[9], r[10] = self.now, n, r[10] + 1
        if again and self.bad("same"):
            content = content[::-1]
        rtx = again and not self.bad("rtx")
        head = build.bth(opcode, self.peer, psn, rtx=rtx, ts=True)
        body = build.data(head, rqmsn, msn, self.now // 128 & 0xffff, va, rkey, size, imm, content)
        self.device.emit(self, body, RTX if rtx else DATA, 2, n)

    def turn(self):
        """One packet leaves, if one may."""
        if self.state != "rts":
            return
        if self.lost:
            psn = self.lost.pop(0)
            if psn in self.out:
                self.transmit(psn, True)
            return
        psn = self.cut()
        if psn is not None:
            self.transmit(psn)

    def deadline(self):
        waits = [psn for psn, r in self.out.items() if r[10]]
        if self.state != "rts" or not waits or self.bad("silence") or self.bad("resends"):
            return None
        return max(min(self.out[psn][8] for psn in waits), self.heard) + RTO

    def timer(self):
        waits = [psn for psn, r in self.out.items() if r[10] and not r[10] > 90]
        if waits:
            first = min(waits, key=lambda psn: diff(psn, self.una))
            self.lost.append(first)
            self.out[first][8] = self.now
            self.turn()
        self.heard = self.now

    def take_sack(self, b):
        (_, byte1, trigger, ev, _, _, cack, _, _, base, bitmap, _, _, _) = struct.unpack("!BBhIHHIBBhQHHI", b)
        self.heard = self.now
        unsent = diff(cack, self.next) >= 0
        if unsent and not self.bad("sack-unsent"):
            return
        if byte1 >> 5 & 3 == 2 and not self.bad("always-skip"):
            self.skip.add((ev >> 16) - 0xd000)
        shown = {cack + base + i & M24 for i in range(64) if bitmap >> i & 1}
        if not byte1 & 2:
            shown.add(cack + trigger & M24)
        shown = {psn for psn in shown if psn in self.out} | {psn for psn in self.out if diff(psn, cack) <= 0}
        highest = max(shown, key=lambda psn: diff(psn, self.una), default=None)
        if self.bad("sacked") and byte1 & 2 == 0 and not shown and self.out == {} and self.kept:
            self.out[self.kept[0]] = self.kept[1]
            self.lost.append(self.kept[0])
        for psn in shown:
            self.kept = psn, self.out.pop(psn)
        self.edge = cack if diff(cack, self.edge) > 0 and not unsent else self.edge
        if self.bad("done-early"):
            self.finish(cack)
        if highest is None or self.bad("resends"):
            return
        for psn, r in self.out.items():
            if r[10] == 1 and diff(highest, psn) >= 3 and psn not in self.lost:
                self.lost.append(psn)
    kept = None

    def finish(self, psn):
        for end in [e for e in self.ends_at if diff(e[0], psn) <= 0]:
            self.ends_at.remove(end)
            self.complete += not self.bad("done")

    def take_ack(self, f):
        syndrome, = struct.unpack("!B", f.body[:1])
        self.heard = self.now
        if syndrome != 0x1f:
            self.state, self.failed = "error", "local" if self.bad("nak") else "access"
            return
        if diff(f.psn, self.next) >= 0 and not self.bad("ack-unsent"):
            return
        for psn in [psn for psn in self.out if diff(psn, f.psn) <= 0]:
            del self.out[psn]
        self.edge = f.psn if diff(f.psn, self.edge) > 0 else self.edge
        self.finish(f.psn)

    def take_nack(self, f):
        reason = f.body[2]
        if reason == 0x19 and not self.bad("unexp"):
            self.state, self.failed = "error", "operation"
        elif f.psn in self.out:
            self.out[f.psn][10] += 100      # neither by the timer nor by a gap: the kit shall see why
            self.lost += [] if self.bad("nacked") else [f.psn]


class Device:
    """@fault: name of the one question that it answers wrongly, or None. @ports: that lead to the kit."""

    def __init__(self, own, peer, fault=None, ports=1, tunnel=None, readings=Readings()):
        self.readings = readings
        self.way, self.fault, self.ports = build.Way(own, peer, tunnel=tunnel), fault, ports
        self.plain = build.Way(own, peer)
        self.qps, self.last, self.now, self.queue, self.number = {}, None, 0, [], 0
        self.peer_up = (1 << ports) - 1

    def bad(self, question):
        return self.fault == question

    def emit(self, qp, body, dscp, ecn, n=0, at=None):
        self.number += 1
        ev = 0xd000 + n << 16 | n if self.way.own.version == 6 else 0xd000 + n << 16
        up = [i for i in range(self.ports) if self.peer_up >> i & 1 or self.bad("port-down")]
        port = up[n % len(up)] if up else 0
        way = self.plain if self.bad("by-srv6") and self.number % 8 == 0 else self.way
        by = (port + 1) % self.ports if self.bad("locator") else port
        heapq.heappush(self.queue, ((self.now if at is None else at) + 500, self.number, port, way.frame(body, ev, dscp, ecn=ecn, by=by)))
        del qp

    # --------------------------------------------------------------------- link

    def take(self, raw, port, now):
        self.now = now
        f = Frame(raw)
        if not f.icrc and not (self.bad("bad-icrc") and FIRST <= f.opcode <= ONLY_IMM or self.bad("ack-icrc")):
            return
        if f.port not in (4791, 4971) or self.bad(f"port-{f.port}"):
            return
        if f.opcode in (0xd8, 0xd9):
            self.take_endpoint(f, port)
            return
        qp = self.qps.get(f.qpn)
        if not qp or qp.state != "rts":
            return
        if ipaddress.ip_address(f.src) != self.way.device and not (
                self.bad("other-host") and FIRST <= f.opcode <= ONLY_IMM or self.bad("ack-other-host") and f.opcode == 0xd1):
            return
        qp.now = now
        self.deliver(qp, f)
        for _ in range(64):
            qp.turn()

    def deliver(self, qp, f):
        if f.reserved and self.bad("reserved"):
            return
        if FIRST <= f.opcode <= ONLY_IMM:
            if self.bad("unpadded") and len(f.padded) % 4:
                qp.nak(f.psn, 0x61)
            else:
                qp.take_data(f, f.ds & 3 == 3)
        elif f.opcode == 0xde:
            f.stamp = struct.unpack("!H", f.body[12:14])[0]
            if self.bad("probe-psn"):
                qp.cack = qp.cack + 1 & M24
            if not self.bad("probe"):
                qp.sack(f, probe=struct.unpack("!H", f.body[4:6])[0])
        elif f.opcode == 0xdc:
            qp.take_sack(f.body)
        elif f.opcode == 0xdd:
            qp.take_nack(f)
        elif f.opcode == 0xd1:
            qp.take_ack(f)
        elif self.bad("bad-opcode"):
            qp.state = "error"

    def take_endpoint(self, f, port):
        if f.opcode == 0xd9:
            return
        op, stamp = f.body[1] & 3, struct.unpack("!H", f.body[12:14])[0]
        if op == 0:
            self.peer_up = struct.unpack("!I", f.body[4:8])[0] >> self.readings.port_bit_1
        if op == 1 and self.bad("ep-probe") or op == 0 and self.bad("ep-status"):
            return
        self.emit(None, build.endpoint_answer(f.psn ^ self.bad("ep-echo"), op, stamp, self.readings.op_high), CONTROL, 0)
        del port

    def run(self, until):
        while True:
            times = [(d, qp) for qp in self.qps.values() if (d := qp.deadline()) is not None]
            due = min(times, key=lambda d: d[0], default=(None, None))
            if self.queue and (due[0] is None or self.queue[0][0] <= due[0]):
                if self.queue[0][0] > until:
                    return None
                at, _, port, raw = heapq.heappop(self.queue)
                self.now = max(self.now, at)
                return at, port, raw
            if due[0] is None or due[0] > until:
                return None
            self.now = due[1].now = due[0]
            due[1].timer()

    def ask(self, line):
        word, *rest = line.split()
        said = dict(w.partition("=")[::2] for w in rest)
        said = {k: int(v, 0) if k != "addr" else v for k, v in said.items()}
        return getattr(self, "ask_" + word)(**said)

    def ask_hello(self):
        return "ok trim=1"

    def ask_open(self, qpn, rq_psn, sq_psn, addr, mtu):
        own = 0x100 + len(self.qps)
        self.qps[own] = self.last = Qp(self, own, qpn, rq_psn, sq_psn, mtu)
        self.peer_up = (1 << self.ports) - 1
        del addr
        return f"ok qpn={own} va={VA} rkey={RKEY} size={SIZE} mpr={WINDOW} wimm={WIMM}"

    def ask_write(self, **said):
        qp = self.last
        qp.post(said)
        qp.now = self.now
        for _ in range(2048):
            qp.turn()
        return "ok"

    def ask_receive(self, count):
        self.last.receives += count
        return "ok"

    def ask_read(self, at, size):
        return f"ok hex={bytes(self.last.memory[at:at + size]).hex()}"

    def ask_state(self):
        qp = self.last
        received = ",".join(map(str, qp.received)) or "none"
        return f"ok state={qp.state} sent={qp.complete} failed={qp.failed} received={received}"


def main():
    """On a pipe, as link.Pipe says: device.py OWN PEER [FAULT] [--ep-op-high] [--port-bit-1]."""
    names = [word for word in sys.argv[1:] if not word.startswith("--")]
    device = Device(*names, readings=Readings("--ep-op-high" in sys.argv, "--port-bit-1" in sys.argv))
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "ask":
            print(device.ask(" ".join(rest)), flush=True)
        elif word == "frame":
            device.take(bytes.fromhex(rest[2]), int(rest[1]), int(rest[0]))
        elif word == "wait":
            out = device.run(int(rest[0]))
            print(f"time {rest[0]}" if out is None else f"frame {out[0]} {out[1]} {out[2].hex()}", flush=True)


if __name__ == "__main__":
    main()
