# SPDX-License-Identifier: GPL-2.0
"""responder.py - scenarios in which the kit sends WRITEs, and the device answers. questions.py has the rules that they check."""
import ipaddress

import packet
from packet import SACK
from peer import GUARD, M24, reflected, shows

NAK_ACCESS = 0x62


def check_sack(t, c, s, piece, taken):
    """@s answers @piece; @taken: all that the device has got."""
    if not s:
        return
    t.need(s.entropy == piece.ev, "sack-ev", f"EV {s.entropy:08x}, not {piece.ev:08x}")
    t.need(reflected(s.echo_ts, piece.stamp, piece.time, s.time), "sack-stamp", f"{s.echo_ts}, not {piece.stamp}")
    edge = c.first - 1 & M24
    have = {p.psn for p in taken}
    while edge + 1 & M24 in have:
        edge = edge + 1 & M24
    t.need(s.cack == edge, "left-edge", f"cack {s.cack}, not {edge}")
    only = all(psn in have for _, psn in s.sacked()) and packet.diff(s.cack, edge) <= 0
    t.need(only, "bitmap-only", f"cack {s.cack}, bitmap {s.bitmap:x} from {s.sack_offset}")
    for p in taken:
        ahead = packet.diff(p.psn, s.cack)
        if ahead > 0 and s.sack_offset <= ahead < s.sack_offset + 64:
            t.need(shows(s, p.psn), "bitmap-shows", f"PSN {p.psn}, cack {s.cack}, bitmap {s.bitmap:x} from {s.sack_offset}")
    if s.ooo == sum(1 for _ in s.sacked()):
        rcvd = (sum(p.size for p in {p.psn: p for p in taken}.values()) + 255) // 256
        t.need(s.rcvd == rcvd, "rcvd-once", f"{s.rcvd}, not {rcvd}")


def in_order(t):
    """Four packets in order, the last with A."""
    c = t.open()
    pieces, content = c.cut(3 * c.mtu + 8)
    for p in pieces[:-1]:
        c.send(p)
    s = c.ask(pieces[-1], a=True)
    t.need(s, "answers-a", "no SACK of the last packet")
    if s:
        t.need(s.m == 0, "unmarked", f"m {s.m}")
    check_sack(t, c, s, pieces[-1], pieces)
    t.need(c.ack(pieces[-1].psn), "ack-done", "no D1")
    t.need(c.memory(0, len(content)) == content, "lands", "in order")


def reordered(t):
    """Six packets: 5th, 3rd, 1st, last, then those between."""
    c = t.open()
    pieces, content = c.cut(6 * c.mtu)
    taken = []
    for n in (4, 2, 0, 5):
        taken.append(pieces[n])
        s = c.ask(pieces[n], a=True)
        t.need(s, "answers-a", f"packet {n + 1} of 6")
        check_sack(t, c, s, pieces[n], taken)
    answer, _, _ = c.probe()
    if answer:
        t.need(not shows(answer, pieces[1].psn), "bitmap-only", "in the answer to a probe")
    t.need(not c.acked(pieces[-1].psn), "ack-early", "two of six packets are missing")
    c.send(pieces[1])
    s = c.ask(pieces[3], a=True)
    check_sack(t, c, s, pieces[3], pieces)
    t.need(c.ack(pieces[-1].psn), "ack-done", "no D1")
    t.need(c.memory(0, len(content)) == content, "lands", "out of order")


def every_second(t):
    """Of 40 packets every second one comes, then the others from the last on."""
    c = t.open(mtu=256)
    pieces, content = c.cut(40 * c.mtu)
    order, taken = [*range(1, 40, 2), *range(38, -1, -2)], []
    for n in order:
        taken.append(pieces[n])
        check_sack(t, c, c.ask(pieces[n], a=True), pieces[n], taken)
    t.need(c.ack(pieces[-1].psn) and c.memory(0, len(content)) == content, "lands", "every second one")


def lost(t):
    """A packet is missing, and comes with RTX and without A."""
    c = t.open()
    pieces, content = c.cut(3 * c.mtu)
    c.send(pieces[0])
    c.ask(pieces[2], a=True)
    s = c.ask(pieces[1], rtx=True)
    t.need(s, "answers-rtx", "no SACK of the retransmission")
    check_sack(t, c, s, pieces[1], pieces)
    t.need(c.ack(pieces[-1].psn), "ack-done", "no D1")
    t.need(c.memory(0, len(content)) == content, "lands", "with a retransmission")


def duplicates(t):
    """Copies with another payload of what is acknowledged, and of what waits behind a hole."""
    c = t.open()
    done, content = c.cut(2 * c.mtu)
    for p in done:
        c.send(p, a=True)
    c.ack(done[-1].psn)
    c.send(done[0], rtx=True, payload=bytes(c.mtu))
    more, tail = c.cut(2 * c.mtu, at=2 * c.mtu)
    c.ask(more[1], a=True)
    c.send(more[1], rtx=True, payload=bytes(c.mtu))
    c.probe()
    t.need(c.memory(0, 2 * c.mtu) == content, "dup-placed", "of a packet that is acknowledged")
    t.need(c.memory(3 * c.mtu, c.mtu) == tail[c.mtu:], "dup-placed", "of a packet behind a hole")
    s = c.ask(more[0], a=True)
    check_sack(t, c, s, more[0], done + more)
    t.need(c.ack(more[-1].psn) and c.state()["state"] == "rts", "dup-harmless", "the connection does not go on")


def from_long_ago(t):
    """A PSN that was before the first one."""
    c = t.open()
    pieces, _ = c.cut(64)
    c.send(pieces[0], psn=c.first - 100 & M24, a=True)
    c.probe()
    t.need(c.memory(0, 64) == bytes([GUARD]) * 64, "stale", "100 before the first")
    t.need(c.ask(pieces[0], a=True) and c.ack(pieces[0].psn), "dup-harmless", "after a stale packet")


def marked(t):
    """Two packets, the second with CE and without A."""
    c = t.open()
    (first,), _ = c.cut(64)
    c.ask(first, a=True)
    (piece,), _ = c.cut(64)
    s = c.ask(piece, ce=True)
    t.need(s and s.m == 1, "answers-ce", f"m {s.m}" if s else "no SACK")
    check_sack(t, c, s, piece, [first, piece])


def probed(t):
    c = t.open()
    (first,), _ = c.cut(64)
    c.ask(first, a=True)
    sent = t.link.now()
    answer, ev, stamp = c.probe(ev=0xbeef0012 if t.way.own.version == 6 else 0xbeef0000, number=0x1234)
    t.need(answer, "probe", "id 1234")
    if answer:
        t.need(answer.entropy == ev and reflected(answer.echo_ts, stamp, sent, answer.time), "probe-echo",
               f"EV {answer.entropy:08x}, timestamp {answer.echo_ts}; {ev:08x}, {stamp}")
        t.need(answer.cack == first.psn, "probe-psn", f"cack {answer.cack}, not {first.psn}")
    (second,), _ = c.cut(64)
    s = c.ask(second, a=True)
    t.need(s and s.cack == second.psn, "probe-psn", "the next packet has the next PSN")


def trimmed(t):
    """A switch takes the payload off; only then comes the whole packet."""
    if not t.can["trim"]:
        return
    for rule, reason, dscp in (("trim", 1, t.settings.trimmed), ("trim-lasthop", 2, t.settings.lasthop)):
        c = t.open()
        pieces, content = c.cut(2 * c.mtu)
        c.ask(pieces[0], a=True)
        c.since = c.send(pieces[1], trim=True, dscp=dscp)
        n = c.nack_of(pieces[1])
        t.need(n and n.reason == reason, rule, f"reason {n.reason}" if n else "no NACK of its PSN")
        if n:
            t.need(n.entropy == pieces[1].ev, "nack-names", f"EV {n.entropy:08x}, not {pieces[1].ev:08x}")
        t.need(not c.has(pieces[1].psn), "trim-taken", "the device shows it")
        c.ask(pieces[1], rtx=True)
        t.need(c.ack(pieces[1].psn) and c.memory(0, len(content)) == content, "lands", "after it was trimmed")


def window_edge(t):
    """The last PSN of the window, and the one behind it."""
    c = t.open()
    pieces = [c.cut(8, at=8 * (i % 64))[0][0] for i in range(c.window + 1)]
    pieces[-2].va = c.said["va"] + 8192
    s = c.ask(pieces[-2], a=True)
    t.need(s and c.memory(8192, 8) == pieces[-2].payload, "window-last", f"PSN {pieces[-2].psn}, {c.window} from the first")
    pieces[-1].va = c.said["va"] + 4096
    c.send(pieces[-1], a=True)
    c.probe()
    beyond = any(p.opcode == SACK and p.dqpn == c.qpn and shows(p, pieces[-1].psn) for p in t.log)
    t.need(not beyond and c.memory(4096, 8) == bytes([GUARD]) * 8 and c.state()["state"] == "rts",
           "window-beyond", f"PSN {pieces[-1].psn}")


def wrapped(t):
    """PSNs from fffffd on, out of order."""
    c = t.open(psn=0xfffffd)
    pieces, content = c.cut(6 * c.mtu)
    for n in (1, 0, 4, 2, 5):
        c.send(pieces[n])
    s = c.ask(pieces[3], a=True)
    t.need(s and s.cack == pieces[-1].psn and c.ack(pieces[-1].psn) and c.memory(0, len(content)) == content, "wrap",
           f"cack {s.cack}" if s else "no SACK")


def immediates(t):
    """Two WRITEs with immediate come before the plain one that was sent first, and in the wrong order."""
    c = t.open()
    t.link.ask("receive count=4")
    plain, _ = c.cut(2 * c.mtu)
    (one,), _ = c.cut(64, at=4096, imm=0x11)
    (two,), _ = c.cut(64, at=8192, imm=0x22)
    c.ask(two, a=True)
    c.ask(one, a=True)
    c.ask(plain[1], a=True)
    t.need(not c.state()["received"], "imm-waits", "a packet of the WRITE before is missing")
    c.ask(plain[0], a=True)
    c.becomes(received=[0x11, 0x22])
    got = c.state()["received"]
    t.need(got == [0x11, 0x22], "imm-order", str(got))


def no_receive(t):
    c = t.open()
    (piece,), _ = c.cut(64, imm=1)
    c.send(piece, a=True)
    nak = c.nak()
    t.need(nak, "imm-no-receive", "no NAK")
    if nak:
        t.need(c.becomes(state="error")["state"] == "error", "nak-error", "after NAK for want of a receive")


def refused(t):
    """R_Key and region."""
    for rule, at, key in (("bad-rkey", 0, 0x5a5a5a5a), ("bounds", None, None)):
        c = t.open()
        at = c.said["size"] - 32 if at is None else at
        (piece,), _ = c.cut(64, at=at, rkey=key)
        c.send(piece, a=True)
        nak = c.nak()
        t.need(nak and nak.syndrome == NAK_ACCESS and c.memory(at, 32) == bytes([GUARD]) * 32, rule,
               f"syndrome {nak.syndrome:x}" if nak else "no NAK")
        if nak:
            t.need(c.becomes(state="error")["state"] == "error", "nak-error", "after NAK remote access error")


def forged(t):
    """Packets that are none, or come from somebody else."""
    c = t.open()
    (piece,), content = c.cut(64)
    other = ipaddress.ip_address(int(t.way.own) + 0x55)
    for rule, how in (("bad-icrc", {"bad_icrc": True}), ("other-host", {"source": other}), ("bad-opcode", {"opcode": 0xda})):
        c.send(piece, a=True, **how)
        t.need(not c.has(piece.psn) and c.memory(0, 64) == bytes([GUARD]) * 64 and c.state()["state"] == "rts", rule,
               "it was taken, or the connection failed")
    s = c.ask(piece, a=True, reserved=True)
    t.need(s and c.ack(piece.psn) and c.memory(0, 64) == content, "reserved", "with all reserved bits of BTH set")


def padded(t):
    """Five bytes, with three of padding and with none."""
    for rule, pad in (("padding", 3), ("unpadded", 0)):
        c = t.open()
        (piece,), content = c.cut(5)
        s = c.ask(piece, a=True, pad=pad)
        c.probe()
        t.need(s and c.memory(0, 8) == content + bytes([GUARD]) * 3, rule, c.memory(0, 8).hex(),
               other=rule == "unpadded" and c.memory(0, 8) == bytes([GUARD]) * 8)


def udp_ports(t):
    """4791 as registered, 4971 as printed: who hears one of them reads the specification."""
    heard = {}
    for udp in (4791, 4971):
        c = t.open()
        (piece,), _ = c.cut(64)
        c.send(piece, a=True, udp=udp)
        heard[udp] = t.wait(lambda p: p.opcode == SACK) is not None
    for udp, found in heard.items():
        t.need(found, f"port-{udp}", "no SACK", other=any(heard.values()))


def endpoints(t):
    """EV probes and port status, to QP 2."""
    c = t.open()
    c.probe()
    for number, op, rule in ((0x4001, 1, "ep-probe"), (0x4002, 0, "ep-status")):
        since, sent = len(t.log), t.link.now()
        stamp = t.endpoint(number, op, (1 << t.settings.ports) - 1)
        named = t.wait(lambda p: p.opcode == packet.EP_RSP, since)
        t.need(named, rule, f"request {number:x}")
        if named:
            t.need(named.psn == number and named.op == op and reflected(named.echo_ts, stamp, sent, named.time), "ep-echo",
                   f"id {named.psn:x}, op {named.op}, timestamp {named.echo_ts}; {number:x}, {op}, {stamp}")


SCENARIOS = (in_order, reordered, every_second, lost, duplicates, from_long_ago, marked, probed, trimmed, window_edge, wrapped, immediates,
             no_receive, refused, forged, padded, udp_ports, endpoints)
