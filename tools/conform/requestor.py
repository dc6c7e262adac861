# SPDX-License-Identifier: GPL-2.0
"""requestor.py - scenarios in which the device sends WRITEs, and the kit answers. questions.py has the rules that they check."""
import ipaddress

from packet import FIRST, LAST, MIDDLE, NACK_REASONS, PROBE, DATA, diff
from peer import M24, is_answer

UNEXP = next(n for n, name in NACK_REASONS.items() if name == "UNEXP_EVENT")
VA, RKEY = 0x7f0000000000, 0x1234


def source(at, size):
    """What the device's memory holds from @at on."""
    return bytes((i * 31 + 7 + (i >> 8)) & 0xff for i in range(at, at + size))


def same(t, p, q):
    """@q is another copy of @p."""
    t.need(q.rtx, "rtx", f"PSN {q.psn}")
    t.need((p.opcode, p.rqmsn, p.msn, p.va, p.rkey, p.dmalen, p.extra, p.payload) ==
           (q.opcode, q.rqmsn, q.msn, q.va, q.rkey, q.dmalen, q.extra, q.payload), "same", f"PSN {q.psn}")
    t.need(p.ev != q.ev, "other-ev", f"PSN {q.psn}, EV {q.ev:08x}")


def second(t, c, psn):
    """The second copy of @psn, or None."""
    t.wait(lambda p: len(c.copies(psn)) > 1)
    return c.copies(psn)[1] if len(c.copies(psn)) > 1 else None


def ends(t, c, n=1):
    """All is acknowledged, and complete."""
    c.ack_all()
    return c.becomes(sent=n)["sent"] == n


def one_write(t):
    """Eight packets. SACKs of all, then the ACK."""
    c = t.open()
    size = 7 * c.mtu + 12
    c.write(size)
    psns = [c.sent(i) for i in range(8)]
    t.need(c.gather(psns), "psns", f"{len(c.copies())} packets, {[p.psn for p in c.copies()[:9]]}")
    first = {p.psn: p for p in reversed(c.copies())}
    t.need(set(first) <= set(psns), "psns", str(sorted(first)))
    content = source(0, size)
    for i, psn in enumerate(psns):
        p = first.get(psn)
        if not p:
            continue
        place = FIRST if i == 0 else LAST if i == 7 else MIDDLE
        t.need((p.family, p.place, p.va, p.rkey, p.dmalen, len(p.payload)) ==
               ("write", place, VA + i * c.mtu, RKEY, size, min(c.mtu, size - i * c.mtu)), "cut", f"packet {i + 1} of 8")
        t.need(p.payload == content[i * c.mtu:(i + 1) * c.mtu], "payload", f"packet {i + 1} of 8")
    for p in first.values():
        c.admit(p)
    c.sack(c.copies()[-1])
    t.rest()
    t.need(c.state()["sent"] == 0, "done-early", "all of it is in a SACK, and none in an ACK")
    t.need(ends(t, c), "done", "its ACK was sent")


def sprayed(t):
    c = t.open()
    c.take_all()
    c.write(64 * c.mtu)
    c.gather([c.sent(i) for i in range(64)])
    t.need(len({p.ev for p in c.copies()}) > 1, "sprayed", "64 packets by one EV")
    ends(t, c)


def hole(t):
    """The third of 32 packets gets lost; SACKs show the hole. Then SACKs show all, and no ACK comes."""
    c = t.open()
    lost = c.sent(2)
    c.take_all(lambda p: p.psn == lost and not p.rtx)
    c.write(32 * c.mtu)
    again = second(t, c, lost)
    t.need(again, "resends", f"PSN {lost}")
    if again:
        same(t, c.copies(lost)[0], again)
    t.rest()
    c.probe()
    t.rest()
    since = len(t.log)
    c.sack(c.copies()[-1])
    t.rest()
    t.rest()
    again = [p.psn for p in c.copies(since=since) if not p.a]       # with A: to ask for the ACK
    t.need(not again, "sacked", f"PSNs {again[:8]}")
    t.need(ends(t, c), "done", "after a loss")


def cut_off(t):
    """A switch trims the third of 8 packets: the kit NACKs it."""
    c = t.open()
    lost = c.sent(2)
    c.take_all(lambda p: p.psn == lost and not p.rtx)
    t.reacting.append(lambda p: c.nack(p, 1) if p.opcode in DATA and p.psn == lost and not p.rtx and p.dqpn == c.qpn else None)
    c.write(8 * c.mtu)
    again = second(t, c, lost)
    t.need(again, "nacked", f"PSN {lost}")
    if again:
        same(t, c.copies(lost)[0], again)
    ends(t, c)


def silence(t):
    """Nothing comes back."""
    c = t.open()
    c.silent = True
    c.write(4 * c.mtu)
    c.gather([c.sent(i) for i in range(4)])
    asked = t.wait(lambda p: p.opcode == PROBE and p.dqpn == c.qpn or p.opcode in DATA and p.dqpn == c.qpn and p.rtx)
    t.need(asked, "silence", "neither a retransmission nor a probe")
    if asked and asked.opcode in DATA:
        same(t, c.copies(asked.psn)[0], asked)
    c.silent = False
    t.need(ends(t, c), "done", "after a silence")


def window(t):
    """All but the first packet arrive: its hole holds the window."""
    c = t.open(mtu=256)
    first = c.sent(0)
    c.take_all(lambda p: p.psn == first, every=8)
    c.write((c.window + 64) * c.mtu)
    furthest, edge = c.cack, c.cack
    while t.wait(lambda p: p.opcode in DATA and p.dqpn == c.qpn and diff(p.psn, furthest) > 0, len(t.log), t.settings.quiet * 2):
        furthest = max((p.psn for p in c.copies()), key=lambda psn: diff(psn, edge))
        if diff(furthest, edge) > c.window:
            break
    t.need(diff(furthest, edge) <= c.window, "window", f"{diff(furthest, edge)} beyond cack, {c.window} agreed upon")
    t.need(ends(t, c), "done", "after the window stood still")


def immediates(t):
    """More WRITEs with immediate than may be in flight; nothing is acknowledged."""
    c = t.open()
    most = c.said["wimm"]
    c.write(16, count=most + 4, imm=1)
    c.gather([c.sent(i) for i in range(most)])
    t.rest()
    numbers = {p.psn: p.rqmsn for p in c.copies()}
    t.need(len(numbers) <= most, "wimm", f"{len(numbers)} of {most}")
    t.need(all(n == diff(psn, c.sq_psn) for psn, n in numbers.items()), "rqmsn", str(numbers))
    ends(t, c, most + 4)


def always_skip(t):
    """A SACK calls the EV of the first packet bad. It may come back only by a probe."""
    c = t.open()
    c.write(4 * c.mtu)
    c.gather([c.sent(i) for i in range(4)])
    p = c.copies(c.sent(0))[0]
    c.mute.add(p.ev)
    for q in c.copies():
        c.admit(q)
    c.sack(p, m=2)
    c.acknowledge()
    c.becomes(sent=1)
    c.probe()
    since = len(t.log)
    c.take_no_more()
    c.take_all(every=4)
    c.write(512 * c.mtu)
    c.gather([c.sent(4 + i) for i in range(512)])
    bad = [q.psn for q in c.copies(since=since) if q.ev == p.ev]
    t.need(not bad, "always-skip", f"EV {p.ev:08x}, PSNs {bad[:8]}")
    ends(t, c, 2)


def unexpected(t):
    """NACK UNEXP_EVENT, and NAK remote access error."""
    c = t.open()
    c.write(c.mtu)
    c.gather([c.sent(0)])
    if c.copies():
        c.nack(c.copies()[0], UNEXP)
        t.need(c.becomes(state="error")["state"] == "error", "unexp", "the connection goes on")
    c = t.open()
    c.write(c.mtu)
    c.gather([c.sent(0)])
    c.acknowledge(c.sent(0), 0, 0x62)
    said = c.becomes(state="error", failed="access")
    t.need(said["state"] == "error" and said["failed"] == "access", "nak", f"{said['state']}, {said['failed']}")


def forged(t):
    """Acknowledgements of what was never sent, with a wrong ICRC, and of somebody else; the packets were not taken."""
    other = ipaddress.ip_address(int(t.way.own) + 0x55)
    for rule, far, how in (("ack-unsent", 0x300000, {}), ("ack-icrc", 1, {"bad_icrc": True}), ("ack-other-host", 1, {"source": other})):
        c = t.open()
        c.write(2 * c.mtu)
        c.gather([c.sent(0), c.sent(1)])
        c.acknowledge(c.sent(far), 1, **how)
        c.probe()
        t.rest()
        said = c.state()
        t.need(said["sent"] == 0 and said["state"] == "rts", rule, f"{said['state']}, {said['sent']} complete")
        t.need(ends(t, c), "done", "after a forged ACK")
    c = t.open()
    c.write(4 * c.mtu)
    c.gather([c.sent(i) for i in range(4)])
    honest, c.cack = c.cack, c.sent(0x4000)
    if c.copies():
        c.sack(c.copies()[0])
    c.cack = honest
    asked = t.wait(lambda p: p.opcode == PROBE and p.dqpn == c.qpn or p.opcode in DATA and p.dqpn == c.qpn and p.rtx, len(t.log))
    t.need(asked and c.state()["sent"] == 0, "sack-unsent", "nothing is sent again")
    t.need(ends(t, c), "done", "after a SACK of what was never sent")


def wrapped(t):
    c = t.open(sq_psn=0xfffffe)
    c.write(6 * c.mtu)
    psns = [0xfffffe + i & M24 for i in range(6)]
    lost = psns[3]
    c.take_all(lambda p: p.psn == lost and not p.rtx)
    t.need(c.gather(psns) and second(t, c, lost) and ends(t, c), "wrap-sent", str([p.psn for p in c.copies()]))


def port_down(t):
    """With two ports: the kit's second one goes, and comes again."""
    if t.settings.ports < 2:
        return
    c = t.open()
    c.take_all()
    c.write(64 * c.mtu)
    c.gather([c.sent(i) for i in range(64)])
    if len({p.port for p in c.copies()}) < 2:
        return
    t.down.add(1)
    number = 0x5001
    for port in range(2):
        t.endpoint(number, 0, 1, port)
    if t.wait(is_answer(0, number)):
        c.probe()
        since = len(t.log)
        c.write(64 * c.mtu)
        c.gather([c.sent(64 + i) for i in range(64)])
        bad = [p.psn for p in c.copies(since=since) if p.port == 1]
        t.need(not bad, "port-down", f"PSNs {bad[:8]}")
    t.down.clear()
    t.endpoint(number + 1, 0, 3)
    t.wait(is_answer(0, number + 1))
    ends(t, c, 2)


SCENARIOS = (one_write, sprayed, hole, cut_off, silence, window, immediates, always_skip, unexpected, forged, wrapped, port_down)
