#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""report.py [-p TEST | -j] KERNEL ROOMS DIR... - what watch.py saw, as a table of ratios, a profile, or JSON.

DIR is <round>.<stack>, of two machines (pair.py) with a folder for each; KERNEL the User-Mode Linux that ran,
ROOMS a file "FUNCTION FOLDER" of mrc's.
Two runs of a test are differenced: the longer one's samples without the shorter one's are what its
packets cost. "us" is processor time of the kernel for 4 KiB of payload, both ends, or for a message.
What User-Mode Linux itself pays (groups.py) is not in it.
"""

import argparse
import bisect
import collections
import json
import os
import statistics
import subprocess

import groups

PERIOD_US = 1e6 / 4999
PAGES = {"w64k": 16, "w64k-1024": 16, "w1m": 256, "r64k": 16, "s64k": 16, "w64k-q16": 256, "s8k": 2, "mrch": 16}


class Symbols:
    """Names of addresses: the kernel's from its file, the modules' from /proc/kallsyms."""

    def __init__(self, kernel, kallsyms):
        table = []
        lines = subprocess.run(["nm", kernel], capture_output=True, text=True, check=True).stdout
        for line in lines.splitlines():
            words = line.split()
            if len(words) == 3 and words[1] in "tTwW":
                table.append((int(words[0], 16), words[2], ""))
        self.top = max(table)[0]
        with open(kallsyms, encoding="ascii") as file:
            for line in file:
                words = line.split()
                if len(words) == 4 and words[1] in "tTwW":
                    table.append((int(words[0], 16), words[2], words[3].strip("[]")))
        table.sort()
        self.table = table
        self.starts = [entry[0] for entry in table]

    def __call__(self, address):
        if address >= 0x7F0000000000 or address < self.starts[0]:
            return "[host]", ""
        at = bisect.bisect_right(self.starts, address) - 1
        start, name, module = self.table[at]
        if address - start > 0x8000:
            return "[host]", ""
        return name, module


def stack_of(directory):
    return os.path.basename(directory).partition(".")[2]


class Run:
    """One boot: a stack's tests."""

    def __init__(self, directory, kernel, rooms):
        self.stack = stack_of(directory)
        self.windows = collections.defaultdict(dict)
        with open(directory + "/marks", encoding="ascii") as file:
            for line in file:
                at, cpu, edge, test, messages, timers = line.split()
                self.windows[test].setdefault(int(messages), {})[edge] = (float(at), int(cpu), int(timers))
        self.symbols = Symbols(kernel, directory + "/kallsyms")
        self.rooms = rooms
        self.names = {}
        self.read(directory + "/samples")
        self.rung = {}
        self.count(directory + "/log")

    def name(self, address):
        known = self.names.get(address)
        if known is None:
            known = self.names[address] = self.symbols(int(address, 16))
        return known

    def group(self, chain):
        """The innermost function's. What this machine does for User-Mode Linux is nobody's, but a clock's reading."""
        for depth, address in enumerate(chain):
            name, module = self.name(address)
            if name != "[host]":
                group = groups.group_of(name, module, self.rooms)
                return (group if depth == 0 or group == "time" else groups.UML), name
        return groups.UML, "[host]"

    def read(self, path):
        """Samples by test and length."""
        edges = sorted((when["begin"][0], when["end"][0], test, n) for test, lengths in self.windows.items()
                       for n, when in lengths.items() if len(when) == 2)
        starts = [edge[0] for edge in edges]
        self.hits = collections.defaultdict(collections.Counter)
        with open(path, encoding="ascii") as file:
            for line in file:
                at, *chain = line.split()
                i = bisect.bisect_right(starts, float(at)) - 1
                if i >= 0 and float(at) <= edges[i][1] and chain:
                    self.hits[edges[i][2:]][self.group(chain)] += 1

    def count(self, path):
        """Doorbells by test and length."""
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                words = line.split()
                if len(words) == 4 and words[0] == "@RUNG":
                    self.rung[words[1], int(words[2])] = int(words[3])

    def doorbells(self, test):
        """For each message."""
        short, long = sorted(self.windows[test])
        return (self.rung.get((test, long), 0) - self.rung.get((test, short), 0)) / (long - short)

    def tests(self):
        return [test for test, lengths in self.windows.items()
                if len(lengths) == 2 and all(len(when) == 2 for when in lengths.values())]

    def cost(self, test):
        """Counter of us per unit by (group, function)."""
        short, long = sorted(self.windows[test])
        units = (long - short) * PAGES.get(test, 1)
        cost = collections.Counter(self.hits[test, long])
        cost.subtract(self.hits[test, short])
        return collections.Counter({what: hits * PERIOD_US / units for what, hits in cost.items()})

    def total(self, test):
        return sum(us for (group, _), us in self.cost(test).items() if group != groups.UML)

    def timers(self, test):
        when = self.windows[test][max(self.windows[test])]
        return when["end"][2] - when["begin"][2]


class Ends:
    """Two boots, of which each is one end: what both took."""

    def __init__(self, directory, kernel, rooms):
        self.stack = stack_of(directory)
        self.ends = [Run(f"{directory}/{side}", kernel, rooms) for side in "12"]
        self.tests = self.ends[0].tests
        self.timers = self.ends[0].timers
        self.doorbells = self.ends[0].doorbells

    def cost(self, test):
        both = self.ends[0].cost(test)
        both.update(self.ends[1].cost(test))
        return both

    def total(self, test):
        return sum(end.total(test) for end in self.ends)


def spread(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f}-{max(values):.2f})"


def table(runs):
    stacks = sorted({run.stack for run in runs}, key=lambda name: (name != "rxe", name))
    base = stacks[0]
    print(f"us of kernel time, median (spread); x: {base}'s time by it, above 1 is better; timer interrupts;"
          " doorbells a message")
    for test in runs[0].tests():
        cells = {stack: [run.total(test) for run in runs if run.stack == stack and test in run.tests()]
                 for stack in stacks}
        for stack in stacks:
            if not cells[stack]:
                continue
            timers = [run.timers(test) for run in runs if run.stack == stack and test in run.tests()]
            rung = [run.doorbells(test) for run in runs if run.stack == stack and test in run.tests()]
            ratio = statistics.median(cells[base]) / max(statistics.median(cells[stack]), 1e-9) if cells[base] else 0
            print(f"{test:<10} {stack:<16} {spread(cells[stack]):<24} x {ratio:5.2f}   {int(statistics.median(timers)):<6}"
                  f" {statistics.median(rung):.2f}")


def figures(runs):
    """{test: {stack: [median, least, most]}} in us."""
    result = collections.defaultdict(dict)
    for test in runs[0].tests():
        for stack in sorted({run.stack for run in runs}):
            costs = [run.total(test) for run in runs if run.stack == stack and test in run.tests()]
            if costs:
                result[test][stack] = [round(us, 2) for us in (statistics.median(costs), min(costs), max(costs))]
    print(json.dumps({"rounds": len(runs) // len({run.stack for run in runs}), "us": result}))


def profile(runs, test):
    for stack in sorted({run.stack for run in runs}):
        costs = [run.cost(test) for run in runs if run.stack == stack and test in run.tests()]
        if not costs:
            continue
        by_group = collections.defaultdict(collections.Counter)
        for cost in costs:
            for (group, name), us in cost.items():
                by_group[group][name] += us / len(costs)
        sums = {group: sum(names.values()) for group, names in by_group.items()}
        total = sum(us for group, us in sums.items() if group != groups.UML)
        print(f"{test} {stack}: {total:.3f} us, and User-Mode Linux's own {sums.get(groups.UML, 0):.3f}")
        for group, us in sorted(sums.items(), key=lambda item: -item[1]):
            if group != groups.UML and us > 0.002 * total:
                names = " ".join(f"{name} {value:.3f}" for name, value in by_group[group].most_common(6))
                print(f"  {group:<22} {us:7.3f} {100 * us / total:5.1f} %  {names}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("-p", dest="test", help="the profile of this test")
    parser.add_argument("-j", dest="json", action="store_true", help="the figures only")
    parser.add_argument("kernel")
    parser.add_argument("rooms")
    parser.add_argument("runs", nargs="+")
    args = parser.parse_args()
    with open(args.rooms, encoding="ascii") as file:
        rooms = dict(line.split() for line in file)
    runs = [(Ends if os.path.isdir(directory + "/2") else Run)(directory.rstrip("/"), args.kernel, rooms)
            for directory in args.runs]
    if args.json:
        figures(runs)
    elif args.test:
        profile(runs, args.test)
    else:
        table(runs)


main()
