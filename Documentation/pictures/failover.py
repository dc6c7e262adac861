# SPDX-License-Identifier: GPL-2.0
"""failover.py - pictures of one failure, from figures that "make bench-failover" leaves.

failover.json beside this file holds one run: plane 2 of four drops everything in silence, and
works again 2 ms later. Times are microseconds after the failure. draw.py -m makes it anew.
"""
import json
import pathlib

from svg import Picture

HERE = pathlib.Path(__file__).parent
BIN = 80                # us
FROM, TO = -400, 2800   # us


def measure(folder):
    """failover.json's contents, from a folder such as out/failover/40-8-fixed/black-hole."""
    import sys
    sys.path.insert(0, str(HERE.parents[1] / "selftests/bench/failover"))
    from packets import DATA, TO_B, TO_A, FROM_A, FROM_B, DEAD, Run
    run = Run(str(pathlib.Path(folder) / "0"))
    result = json.loads((pathlib.Path(folder) / "result.json").read_text())["0"]
    planes = {1: [], 2: [], 3: [], 4: []}
    bins = (TO - FROM) // BIN
    for plane in planes:
        planes[plane] = [0] * bins
    seen = set()
    for r in run.packets:
        when = (r[0] - run.zero) / 1000
        if r[6] == TO_B and r[7] in DATA and r[1] not in seen:
            seen.add(r[1])
            if FROM <= when < TO:
                planes[r[5]][int((when - FROM) // BIN)] += r[3]
    broken, mended = run.commands[0], run.commands[1]
    resent = sorted(c[0] for c in run.copies if c[3] and 0 <= c[0] < mended)
    return {
        "bin_us": BIN, "from_us": FROM,
        "gbps": {p: [round(8 * n / BIN / 1000, 2) for n in row] for p, row in planes.items()},
        "events_us": {
            "broken": broken / 1000, "mended": mended / 1000,
            "last_into": result["last"] / 1000,
            "last_resent": resent[-1] / 1000 if resent else None,
            "gap": result["gap"] / 1000,
            "first_back": result["first"] / 1000,
            "share_back": result["share"] / 1000,
        },
        "lost": result["lost"], "resends": result["resends"], "needless": result["needless"],
    }


def load():
    return json.loads((HERE / "failover.json").read_text())


def us(value):
    return f"{value:.0f} µs" if value >= 10 else f"{value:.1f} µs"


def throughput():
    data = load()
    events = data["events_us"]
    p = Picture(760, 330, "Throughput of four planes while one fails",
                "Stacked throughput of four planes of 10 Gb/s. Plane 2 fails in silence at 0 and works "
                "again at 2 ms; the other planes carry on at full rate.")
    x0, y0, width, height = 58, 46, 600, 224
    bins = len(data["gbps"]["1"])
    top = 40.0

    def at_x(time):
        return x0 + (time - data["from_us"]) / (bins * data["bin_us"]) * width

    def at_y(rate):
        return y0 + height - rate / top * height

    for rate in (0, 10, 20, 30, 40):
        p.line(x0, at_y(rate), x0 + width, at_y(rate), "faint stroke")
        p.text(x0 - 8, at_y(rate) + 4, str(rate), "dim end small")
    p.text(x0 - 8, 28, "Gb/s", "dim end small")
    for time in (0, 500, 1000, 1500, 2000, 2500):
        p.line(at_x(time), y0 + height, at_x(time), y0 + height + 5)
        p.text(at_x(time), y0 + height + 19, f"{time / 1000:g} ms", "dim mid small")
    base = [0.0] * bins
    for plane in ("1", "3", "4", "2"):  # the one that fails lies on top
        row = data["gbps"][plane]
        tops = [b + r for b, r in zip(base, row)]
        points = []
        for i, value in enumerate(tops):
            a = data["from_us"] + i * data["bin_us"]
            points += [(at_x(a), at_y(value)), (at_x(a + data["bin_us"]), at_y(value))]
        for i in range(bins - 1, -1, -1):
            a = data["from_us"] + i * data["bin_us"]
            points += [(at_x(a + data["bin_us"]), at_y(base[i])), (at_x(a), at_y(base[i]))]
        p.add('<g fill-opacity=".85">')
        p.path(points, f"p{plane}", close=True)
        p.add("</g>")
        p.text(x0 + width + 10, at_y((base[-1] + tops[-1]) / 2) + 4, f"plane {plane}", f"p{plane} bold")
        base = tops
    for name, text in (("broken", "plane 2 goes silent"), ("mended", "plane 2 works again")):
        x = at_x(events[name])
        p.line(x, y0 - 10, x, y0 + height, "hotline stroke dash")
        p.text(x + 5, y0 - 6, text, "hot")
    middle = (events["broken"] + events["mended"]) / 2
    p.text(at_x(middle), at_y(35), f"out of use after {us(events['last_into'])}", "ink mid bold")
    p.text(at_x(middle), at_y(32), f"{data['lost']} packets lost, each retransmitted once"
           if data["needless"] == 0 and data["resends"] == data["lost"]
           else f"{data['lost']} packets lost, {data['resends']} retransmitted", "dim mid")
    p.text(x0, 316, "Four planes of 10 Gb/s, round trip 40 µs, virtual time (make bench-failover). "
           "One WRITE stream, no link goes down.", "dim small")
    return p


def plane_dies():
    data = load()
    events = data["events_us"]
    p = Picture(760, 330, "What happens when a plane dies",
                "Timeline of a silent failure: the plane goes silent, two packets are overdue, the plane "
                "is suspect, lost packets are retransmitted, probes go on, the plane is used again.")
    p.text(15, 28, "Plane 2 drops everything; no link goes down", "ink big")
    x0, x1, y = 40, 720, 180
    p.line(x0, y, x1, y, "line thick")
    steps = [
        (60, events["broken"], "p2", "up", ["The plane goes silent.", "Packets keep leaving by it:", "nobody knows yet."]),
        (212, events["last_into"], "hot", "down", ["Two packets by different EVs are", "overdue, later ones of other", "planes arrived: it is suspect.", "No data leaves by it now."]),
        (372, events["last_resent"], "p3", "up", ["The last of the lost packets", f"({data['lost']}) is retransmitted by", "the other planes."]),
        (528, None, "dim", "down", ["Probes ask the plane, at first", "every 0.2 ms, then less and", "less often. No answer."]),
        (668, None, "well", "up", ["One probe is answered:", "the plane is used again.",
                                   f"Full share {us(events['share_back'])}", "after it was mended."]),
    ]
    for x, when, colour, side, lines in steps:
        p.add(f'<circle cx="{x}" cy="{y}" r="7" class="{colour}"/>')
        if when is not None:
            label = "0" if x == 60 else us(when)
        else:
            label = "meanwhile" if colour == "dim" else "later"
        p.text(x, y + (24 if side == "up" else -16), label, "ink mid bold")
        for i, text in enumerate(lines):
            top = y - 42 - 17 * (len(lines) - 1 - i) if side == "up" else y + 48 + 17 * i
            p.text(x, top, text, "ink mid" if x not in (60, 668) else ("ink" if x == 60 else "ink end"))
    # texts at the edges begin or end there
    p.text(15, 316, "Measured in virtual time: four planes of 10 Gb/s, round trip 40 µs "
           "(make bench-failover). Not to scale.", "dim small")
    return p
