#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""mrcsim timeline - a run as a trace for ui.perfetto.dev.

  mrcsim run job.toml --json | mrcsim timeline >trace.json

Each host is a process. A message is a slice at its source, from its start to its last byte at the receiver. Slices that
overlap are in rows of their own. Beside the hosts: steps of a trace, and the throughput of the fabric. Times are the
simulation's.
"""
import argparse
import heapq
import json
import sys

JOB = 1 << 30       # pid of what concerns all hosts


class Rows:
    """Numbers of rows (threads) for slices of one process that come in order of time: the lowest one that is free."""

    def __init__(self):
        self.free, self.busy, self.count = [], [], 0

    def take(self, begin, end):
        while self.busy and self.busy[0][0] <= begin:
            heapq.heappush(self.free, heapq.heappop(self.busy)[1])
        if not self.free:
            heapq.heappush(self.free, self.count)
            self.count += 1
        row = heapq.heappop(self.free)
        heapq.heappush(self.busy, (end, row))
        return row


def name(pid, text):
    return {"ph": "M", "pid": pid, "name": "process_name", "args": {"name": text}}


def rows_of(table):
    return [dict(zip(table["fields"], row)) for row in table["rows"]]


def slices(entries):
    """@entries: (pid, begin, took, text, args)."""
    rows = {}
    for pid, begin, took, text, args in sorted(entries, key=lambda e: (e[1], -e[2])):
        row = rows.setdefault(pid, Rows()).take(begin, begin + took)
        yield {"ph": "X", "pid": pid, "tid": row, "ts": begin, "dur": took, "name": text, "args": args}


def of_flow(flow):
    return flow["src"], flow["start_us"], flow["fct_us"], f"to {flow['dst']}", {key: flow[key] for key in ("bytes", "ideal_us", "fct_sender_us")}


def events(report):
    flows = [f for f in rows_of(report["flows"]) if f["fct_us"] >= 0]      # others did not end
    steps = [(JOB, s["begin_us"], s["end_us"] - s["begin_us"], f"step {s['step']}", {"lost_us": s["lost_us"], "flows": s["flows"]})
             for s in rows_of(report["steps"])] if "steps" in report else []
    yield name(JOB, report["scenario"] or "fabric")
    for host in sorted({f["src"] for f in flows}):
        yield name(host, f"host {host}")
    yield from slices([of_flow(f) for f in flows] + steps)
    width = report["goodput"]["bucket_us"]
    for n, gbps in enumerate(report["goodput"]["gbps"]):
        yield {"ph": "C", "pid": JOB, "ts": n * width, "name": "goodput", "args": {"Gb/s": gbps}}


def main(argv):
    p = argparse.ArgumentParser(prog="mrcsim timeline", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("report", nargs="?", default="-", help="what \"mrcsim run --json\" printed; none: standard input")
    o = p.parse_args(argv)
    try:
        if o.report == "-":
            report = json.load(sys.stdin)
        else:
            with open(o.report, encoding="utf-8") as f:
                report = json.load(f)
        made = list(events(report))
    except (OSError, ValueError, KeyError, TypeError) as e:
        print(f"mrcsim timeline: {o.report}: no report of mrcsim run --json with its flows: {e}", file=sys.stderr)
        return 2
    json.dump({"displayTimeUnit": "ns", "traceEvents": made}, sys.stdout)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
