# SPDX-License-Identifier: GPL-2.0
"""concepts.py - the pictures of concepts.md that need no measurement."""
from svg import Picture


def packet():
    p = Picture(760, 300, "Anatomy of an MRC packet",
                "Headers of a data packet from left to right: Ethernet, outer IPv6 with the path, "
                "inner IP, UDP with the entropy value, BTH, METH, RETH, payload, ICRC.")
    fields = [("Ethernet", "14", 74, "paper edge", None), ("outer IPv6", "40", 112, "p2", .25),
              ("inner IP", "20 or 40", 92, "p1", .22), ("UDP", "8", 66, "p1", .22),
              ("BTH", "12", 66, "p3", .25), ("METH", "4 + 4", 70, "p3", .25),
              ("RETH", "16", 66, "p3", .25),
              ("payload", "up to 4096", 130, "paper edge", None), ("ICRC", "4", 54, "paper edge", None)]
    x, places = 15, {}
    for name, size, width, classes, opacity in fields:
        p.rect(x, 60, width, 46, classes, 3, opacity)
        p.text(x + width / 2, 80, name, "ink mid bold")
        p.text(x + width / 2, 97, size, "dim mid small")
        places[name] = x + width / 2
        x += width
    p.text(15, 28, "One packet of a WRITE", "ink big")
    p.text(15, 47, "bytes of each header below its name", "dim small")

    def note(name, y, lines, at=None):
        at = at if at is not None else places[name]
        p.line(places[name], 106, places[name], y - 16)
        for i, (text, classes) in enumerate(lines):
            p.text(at, y + 17 * i, text, classes)

    note("outer IPv6", 246, [("The path. Switches read this alone.", "ink"),
                             ("fcbb:bb00:1001:1101:1002:1202::", "ink mono"),
                             ("block : T0 : T1 : T0 : host", "dim small")], 15)
    p.line(places["inner IP"], 106, places["inner IP"], 124)
    p.line(places["UDP"], 106, places["UDP"], 124)
    p.line(places["inner IP"], 124, places["UDP"], 124)
    middle = (places["inner IP"] + places["UDP"]) / 2
    p.line(middle, 124, middle, 136)
    for i, text in enumerate(("The entropy value (EV):", "UDP source port and flow", "label. Acknowledgements", "name the path by it.")):
        p.text(165, 154 + 17 * i, text, "ink")
    note("BTH", 246, [("Queue pair", "ink"), ("and PSN", "ink")], places["BTH"] - 52)
    note("METH", 154, [("Number of", "ink"), ("the message,", "ink"), ("timestamp", "ink")],
         places["METH"] - 37)
    note("RETH", 246, [("Address in the peer's memory. Every", "ink"),
                       ("packet has one, so it is placed when", "ink"),
                       ("it arrives, in any order.", "ink")], places["RETH"] - 30)
    p.line(places["ICRC"], 106, places["ICRC"], 136)
    p.text(745, 154, "Checksum of inner", "ink end")
    p.text(745, 171, "headers and payload", "ink end")
    return p


def uform(p, x, y, parts, used):
    """A uSID carrier at x: the block, then uSIDs; the first `used` are gone."""
    rest = parts[used:]
    pieces = [("fcbb:bb00:", "dim"), (rest[0], "hot bold"), ((":" if len(rest) > 1 else "") + ":".join(rest[1:]) + "::", "ink")]
    p.spans(x, y, pieces, "mono mid")


def path():
    p = Picture(760, 300, "One path, hop by hop",
                "A packet from h1 to h2 through a T0, a T1 and a T0 switch. Each switch removes its "
                "own uSID from the destination address.")
    names = [("h1", "host"), ("p1-t0-1", "T0"), ("p1-t1-1", "T1"), ("p1-t0-2", "T0"), ("h2", "host")]
    ys = [214, 138, 72, 138, 214]
    xs = [70, 200, 380, 560, 690]
    parts = ["1001", "1101", "1002", "1202"]
    p.text(15, 28, "The sender writes the path into the destination address", "ink big")
    for i in range(4):
        p.arrow(xs[i] + (0, 46, 46, 32)[i] , ys[i] + (-20, -8, 8, 16)[i],
                xs[i + 1] - (30, 47, 47, 0)[i], ys[i + 1] + (20, 8, -8, -20)[i], "l1", "p1")
    for (name, tier), x, y in zip(names, xs, ys):
        p.rect(x - 46, y - 18, 92, 36)
        p.text(x, y - 1, name, "ink mid bold")
        p.text(x, y + 13, tier, "dim mid small")
    uform(p, 122, 262, parts, 0)
    p.text(122, 280, "leaves h1", "dim mid small")
    uform(p, 190, 98, parts, 1)
    p.text(190, 80, "1001 is removed here", "dim mid small")
    uform(p, 575, 98, parts, 2)
    p.text(575, 80, "1101 was removed at the T1", "dim mid small")
    uform(p, 640, 262, parts, 3)
    p.text(640, 280, "arrives at h2, whose SID this is", "dim mid small")
    p.text(380, 130, "Another T1, another path:", "ink mid")
    p.text(380, 148, "1102 in place of 1101", "ink mid")
    p.text(380, 200, "Red: the uSID that is routed by.", "dim mid small")
    p.text(380, 216, "A switch shifts it out and forwards.", "dim mid small")
    return p


def lost():
    p = Picture(760, 376, "Life of a lost packet",
                "Four packets leave by four planes. The second is lost. The receiver places the others "
                "and reports the hole; the sender retransmits by another plane.")
    left, right = 230, 530
    p.text(15, 28, "A packet is lost, and nobody waits for a timeout", "ink big")
    p.text(left, 56, "sender", "ink mid bold")
    p.text(right, 56, "receiver", "ink mid bold")
    p.line(left, 64, left, 364, "faint thick")
    p.line(right, 64, right, 364, "faint thick")
    for i in range(4):
        y, plane = 80 + 20 * i, i + 1
        p.text(left - 12, y + 4, f"PSN {10 + i}, plane {plane}", "ink end")
        if plane == 2:
            p.arrow(left, y, 372, y + 17, "l2", "p2")
            p.cross(385, y + 19)
        else:
            p.arrow(left, y, right, y + 36, f"l{plane}", f"p{plane}")
            p.text(right + 12, y + 40, f"{10 + i} placed in memory at once", "ink")
    p.arrow(right, 206, left, 242, "line", "dim", "dash")
    p.text(right + 12, 200, "SACK: everything to 10,", "ink")
    p.text(right + 12, 217, "and 12, 13; 11 is missing", "ink")
    p.text(left - 12, 246, "12 and 13 left later and arrived.", "ink end")
    p.text(left - 12, 263, "After a short wait, 11 is lost.", "ink end")
    p.arrow(left, 284, right, 320, "l3", "p3")
    p.text(left - 12, 288, "11 again, plane 3", "ink end")
    p.text(right + 12, 324, "11 placed; the message is", "ink")
    p.text(right + 12, 341, "complete, in its turn", "ink")
    p.arrow(right, 332, left, 364, "line", "dim", "dash")
    p.text(left - 12, 320, "The EV that lost it has one", "dim end small")
    p.text(left - 12, 335, "loss against it. Enough of them,", "dim end small")
    p.text(left - 12, 350, "and it is probed before it is used.", "dim end small")
    return p
