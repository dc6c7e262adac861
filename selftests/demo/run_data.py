# SPDX-License-Identifier: GPL-2.0
"""run_data.py - what one run of the demonstration left behind, and numbers of it.

A direction is named by sender and receiver, ("h1", "h2"). Times are seconds since
the mark "start". A phase is one of PHASES; its bounds are marks, of which "cut" and
"restore" are when the samples show the port down and up again.
"""
import bisect
import json
import pathlib
import re

PHASES = ("before", "during", "after")
SETTLED = 1.0           # s after a change that belong to no phase
BOUNDS = {"before": ("start", "cut"), "during": ("cut", "restore"), "after": ("restore", "end")}
DIRECTIONS = (("h1", "h2"), ("h2", "h1"))
SNAPSHOTS = ("start",) + PHASES
GAP_WINDOW = 1.0        # s of fine samples in which gaps are looked for


def json_lines(path):
    """Objects of a file of lines; a torn last line is left out."""
    objects = []
    for line in path.read_text().splitlines():
        try:
            objects.append(json.loads(line))
        except ValueError:
            break
    return objects


def text_of(path):
    return path.read_text(errors="replace") if path.exists() else ""


class Run:
    """Everything in one results folder; raises OSError, ValueError or KeyError when the
    run has not got far enough to be judged."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.about = json.loads((self.folder / "run.json").read_text())
        self.planes = self.about["planes"]
        self.plane = self.about["plane"] - 1
        marks = dict(reversed(line.split()) for line in text_of(self.folder / "marks").splitlines())
        zero, end = float(marks["start"]), float(marks["end"])
        self.samples = [s for s in json_lines(self.folder / "samples.jsonl") if s["t"] <= end + 0.2]
        for sample in self.samples:
            sample["t"] -= zero
        self.times = [s["t"] for s in self.samples]
        self.marks = {"start": 0.0, "cut": self.when(0, False)}
        self.marks["restore"] = self.when(self.marks["cut"], True)
        self.marks["end"] = end - zero
        if len(self.samples) < 10:
            raise ValueError("there are no samples")

    def when(self, since, up):
        """The first sample that shows the port so."""
        for sample in self.samples:
            if sample["t"] >= since and sample["up"] == up:
                return sample["t"]
        raise ValueError(f"the port never went {'up' if up else 'down'}")

    # ------------------------------------------------------------ intervals

    def bounds(self, phase):
        """Of the phase, without the time in which the change that begins it is noticed: table,
        verdict and numbers count the same packets."""
        first, last = BOUNDS[phase]
        settled = 0 if phase == PHASES[0] else SETTLED
        return self.marks[first] + settled, self.marks[last]

    def at(self, when):
        """The first sample at or after a time, or the last there is."""
        return self.samples[min(bisect.bisect_left(self.times, when), len(self.samples) - 1)]

    def packets(self, direction, start, end):
        """Packets the sender has put on each plane."""
        sender = direction[0]
        a, b = self.at(start)[sender]["tx"], self.at(end)[sender]["tx"]
        return [y - x for x, y in zip(a, b)]

    def throughput(self, direction, start, end):
        """MB/s of payload the receiver has accepted."""
        receiver = direction[1]
        a, b = self.at(start), self.at(end)
        span = b["t"] - a["t"]
        return (b[receiver]["payload"] - a[receiver]["payload"]) / span / 1e6 if span > 0 else 0.0

    def share(self, direction, start, end):
        """Of the plane that is cut, 0 ... 1."""
        packets = self.packets(direction, start, end)
        return packets[self.plane] / sum(packets) if sum(packets) else 0.0

    def longest_gap(self, direction, phase):
        """Milliseconds between two samples that show new payload, in the second before
        the cut or after the beginning of another phase: the truth, and at most one
        sampling period on either side."""
        receiver = direction[1]
        start, end = (self.marks[mark] for mark in BOUNDS[phase])
        if phase == "before":
            start = end - GAP_WINDOW
        first = max(bisect.bisect_left(self.times, start) - 1, 0)
        window = [s for s in self.samples[first:] if s["t"] <= start + GAP_WINDOW]
        longest, moved = 0.0, window[0]
        for before, now in zip(window, window[1:]):
            if now[receiver]["payload"] != before[receiver]["payload"]:
                longest, moved = max(longest, now["t"] - moved["t"]), now
        return 1000 * max(longest, window[-1]["t"] - moved["t"])

    # ---------------------------------------------------- what programs said

    def snapshot(self, name, host, what):
        """The objects mrcctl listed, none when it could not."""
        try:
            return json.loads((self.folder / "snap" / f"{name}-{host}-{what}.json").read_text())
        except (OSError, ValueError):
            return []

    def counters(self, name, host):
        return next((device["stats"] for device in self.snapshot(name, host, "stats")), {})

    def path_set(self, name, host):
        """The peer that most QPs talk to: the other host by its IPv6 GID."""
        return max(self.snapshot(name, host, "peer"), key=lambda peer: peer["qps"], default={})

    def retransmissions(self, host):
        """{cause: [count in each phase]}, causes that never happened left out."""
        dumps = [self.counters(name, host) for name in SNAPSHOTS]
        causes = {}
        for name in dumps[-1]:
            if name.startswith("rtx_"):
                values = [dump.get(name, 0) for dump in dumps]
                if values[-1] != values[0]:
                    causes[name[len("rtx_"):]] = [b - a for a, b in zip(values, values[1:])]
        return causes

    def statuses(self):
        """{program: exit status}"""
        return {s["program"]: s["status"] for s in json_lines(self.folder / "status.jsonl")}

    def verified(self, direction):
        """The client's and the server's last words, as dictionaries of strings."""
        name = "verify" + "".join(host[1:] for host in direction)
        words = []
        for end in ("client", "server"):
            lines = [line for line in text_of(self.folder / "log" / f"{name}-{end}").splitlines()
                     if line.startswith("mrc_verify: " + end)]
            words.append(dict(re.findall(r"(\w+)=(\S+)", lines[-1])) if lines else {})
        return words

    def write_bw(self):
        """What ib_write_bw says of itself: {"messages", "mib_s"}, {} if nothing."""
        rows = re.findall(r"^\s*\d+\s+(\d+)\s+[\d.]+\s+([\d.]+)\s+[\d.]+\s*$",
                          text_of(self.folder / "log" / "write_bw-client"), re.MULTILINE)
        return {"messages": int(rows[-1][0]), "mib_s": float(rows[-1][1])} if rows else {}
