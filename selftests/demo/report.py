#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""report.py - the end of the demonstration: a table, a chart, a verdict.

    report.py RESULTS OUT [--vm-status N] [--colour]

RESULTS is what in_vm.sh left; demo.svg and demo.json go to OUT. Exit status 0 only
if every byte arrived right, and traffic left the dead plane and came back.
"""
import argparse
import json
import pathlib
import sys

import chart
from run_data import DIRECTIONS, PHASES, SETTLED, SNAPSHOTS, Run

GONE = 0.02             # share of the dead plane that counts as none: probes, and little traffic in all
BACK = 0.10             # share that counts as back
SPLAT = 86              # status of runvm
CAUSES = {              # of retransmissions, as the counters rtx_* are called
    "rack": "a packet sent later arrived first",
    "nack": "the receiver refused it",
    "trim": "a switch cut off its payload",
    "rto": "no acknowledgement in time",
    "plane": "its plane went down",
    "rnr": "no receive was posted",
    "sleek": "too many packets out of order",
    "spurious": "both copies arrived: this one was needless",
}


def arrow(direction):
    return " -> ".join(direction)


def measure(run):
    """All numbers of the table, as they go to demo.json."""
    result = {"about": run.about, "marks_s": run.marks, "directions": {}, "hosts": {},
              "ib_write_bw": run.write_bw(), "exit_status": run.statuses()}
    for direction in DIRECTIONS:
        client, server = run.verified(direction)
        result["directions"][arrow(direction)] = {
            "mb_per_s": {p: run.throughput(direction, *run.bounds(p)) for p in PHASES},
            "packets": {p: run.packets(direction, *run.bounds(p)) for p in PHASES},
            "share": {p: run.share(direction, *run.bounds(p)) for p in PHASES},
            "gap_ms": {p: run.longest_gap(direction, p) for p in PHASES},
            "verify_client": client,
            "verify_server": server,
        }
    for host in ("h1", "h2"):
        result["hosts"][host] = {
            "retransmissions": run.retransmissions(host),
            "evs": {name: run.path_set(name, host) for name in SNAPSHOTS[1:]},
        }
    return result


# ----------------------------------------------------------------- the verdict


def verify_checks(result):
    for name, d in result["directions"].items():
        client, server = d["verify_client"], d["verify_server"]
        right = int(server.get("bytes", 0))
        good = (right > 0 and client.get("errors") == "0" and server.get("errors") == "0"
                and client.get("messages") == server.get("messages"))
        yield good, f"{name}: {right / 1e6:.1f} MB in {server.get('messages', 0)} messages " \
                    "verified byte by byte"


def plane_checks(result):
    plane = result["about"]["plane"]
    for name, d in result["directions"].items():
        gone, back = d["share"]["during"], d["share"]["after"]
        yield gone < GONE, f"{name}: plane {plane} carried {gone:.1%} of the packets while cut"
        yield back > BACK, f"{name}: plane {plane} carries {back:.1%} again"
        before, moved = d["mb_per_s"]["before"], d["mb_per_s"]["during"]
        yield moved > 0, f"{name}: the transfer went on, {moved:.1f} MB/s of {before:.1f} before"


def checks(result, vm_status):
    """(passed, text) of everything the exit status stands for."""
    failed = [f"{name} ({status})" for name, status in result["exit_status"].items() if status]
    bandwidth = result["ib_write_bw"].get("mib_s", 0)
    yield from verify_checks(result)
    yield bandwidth > 0, f"Debian's ib_write_bw ran: {bandwidth:.1f} MiB/s, which is the emulator's speed"
    yield from plane_checks(result)
    yield (not failed and bool(result["exit_status"]),
           "every program ended well" if not failed else "ended badly: " + ", ".join(failed))
    yield (vm_status == 0, "the kernel logged no complaint" if vm_status != SPLAT
           else "the kernel logged a splat: see dmesg and console")


# ------------------------------------------------------------------- the table


class Table:
    WIDTH = 16

    def __init__(self, colour):
        self.colour = colour

    def paint(self, code, text):
        return f"\033[{code}m{text}\033[0m" if self.colour else text

    def row(self, label, cells=()):
        print(f"  {label:<34}" + "".join(f"{cell:>{self.WIDTH}}" for cell in cells))

    def heading(self, plane):
        print()
        print(self.paint("1", f"  {'':<34}" + "".join(
            f"{text:>{self.WIDTH}}" for text in ("before", f"plane {plane} cut", "after"))))

    def direction(self, name, d, dead):
        self.row(f"{name}  payload, MB/s", [f"{d['mb_per_s'][p]:.1f}" for p in PHASES])
        totals = {p: sum(d["packets"][p]) or 1 for p in PHASES}
        for plane in range(len(d["packets"]["before"])):
            counts = [d["packets"][p][plane] for p in PHASES]
            cells = [f"{n} {n / totals[p]:5.1%}" for n, p in zip(counts, PHASES)]
            label = f"packets on plane {plane + 1}"
            self.row(f"{'':<10}{label}{' (cut)' if plane == dead else ''}", cells)
        self.row(f"{'':<10}longest gap, ms", [f"{d['gap_ms'][p]:.0f}" for p in PHASES])

    def retransmissions(self, host, causes):
        if not causes:
            self.row(f"{host}  retransmissions", ["0"] * len(PHASES))
        for i, (cause, counts) in enumerate(sorted(causes.items())):
            label = f"{host}  retransmissions: " if i == 0 else ""
            self.row(f"{label:<22}{cause}", counts)

    def evs(self, host, snapshots):
        # usable: good or skip, on a plane that is up at both ends
        for i, state in enumerate(("good", "skip", "assumed_bad", "denied", "usable")):
            counts = [snapshots[p].get(state, "?") for p in PHASES]
            if any(counts) or state in ("good", "usable"):
                label = f"{host}  EVs: " if i == 0 else ""
                self.row(f"{label:<22}{state.replace('_', ' ')}", counts)

    def show(self, result):
        plane = result["about"]["plane"]
        self.heading(plane)
        for name, d in result["directions"].items():
            self.direction(name, d, plane - 1)
        for host, h in result["hosts"].items():
            self.retransmissions(host, h["retransmissions"])
        for host, h in result["hosts"].items():
            self.evs(host, h["evs"])
        self.notes(result)

    def notes(self, result):
        seen = {cause for h in result["hosts"].values() for cause in h["retransmissions"]}
        pauses = [float(d["verify_client"].get("max_gap_ms", "nan")) for d in result["directions"].values()]
        print("\n  No column has the second after a change. Longest gap: the longest time in which nothing arrived, in the"
              "\n  second before the cut and after each change. EVs are paths; usable: on a plane that is up at both ends.")
        print(f"  In the whole run a program waited {max(pauses):.0f} ms at most for a completion. Most of that is the "
              "emulated machine\n  standing still. The protocol itself pauses for microseconds:\n"
              "  Documentation/guide/performance.md, or make bench-failover.")
        for cause in sorted(seen):
            print(f"  {cause + ':':<10}{CAUSES.get(cause, 'see mrcctl stats show')}")

    def verdict(self, verdicts):
        print()
        for good, text in verdicts:
            print("  " + (self.paint("1;32", "ok") if good else self.paint("1;31", "!!")), text)


def main():
    parser = argparse.ArgumentParser(description="table, chart and verdict of a demonstration")
    parser.add_argument("results")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--vm-status", type=int, default=0)
    parser.add_argument("--colour", action="store_true")
    options = parser.parse_args()

    try:
        run = Run(options.results)
        result = measure(run)
    except (OSError, ValueError, KeyError) as e:
        print(f"report: the run has not got far enough to be judged: {e!r}", file=sys.stderr)
        return 1
    verdicts = list(checks(result, options.vm_status))
    result["verdict"] = [{"ok": bool(good), "text": text} for good, text in verdicts]
    (options.out / "demo.svg").write_text(chart.draw(run), encoding="utf-8")
    (options.out / "demo.json").write_text(json.dumps(result, indent=2) + "\n")
    table = Table(options.colour)
    table.show(result)
    table.verdict(verdicts)
    return 0 if all(good for good, _ in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
