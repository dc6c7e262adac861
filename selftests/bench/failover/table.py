#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""table.py - from traces to the table of failover.sh.

    table.py measure DIR RTT_US EVS CASE    one case's traces into DIR/result.json
    table.py print OUT                      the table of all that OUT/runs names
    table.py same DIR DIR                   were both packet for packet the same?
    table.py most DIR KEY US                is that figure at most so much in every phase?
"""
import json
import os
import statistics
import sys

from packets import DEAD, LONG_NS, Run

NAMES = {
    "none": "no failure",
    "own-link": "own link down (admin)",
    "own-queue": "own link down, queues in the host",
    "own-carrier": "own carrier",
    "peer-port": "peer's port",
    "black-hole": "black hole, both ways",
    "forward": "forward only",
    "reverse": "reverse only",
    "half-evs": "half of the plane's EVs",
    "flap": "flap: 2 ms down, 20 ms up",
    "lone": "a 4 KiB message each ms",
}
CONTROL = {"fixed": "a fixed window", "default": "a fixed window of 512 KiB", "nscc": "NSCC"}
MUCH = 1.5                  # the queues before the failure are a round trip's half
HIT = 1.5                   # a message is hit when it takes so many times the usual


# ------------------------------------------------------------------ measuring

def broken_and_mended(run):
    """When each failure began and ended."""
    return run.commands[0::2], run.commands[1::2]


def broken_sid(case, evs):
    """Whether a uSID is of what the case breaks, on its plane."""
    first = evs // 2 if case == "half-evs" else 0
    return lambda sid: sid >> 12 == DEAD and (sid & 0xfff) > first


def measure_usual(run, case, rtt, evs):
    broken, mended = broken_and_mended(run)
    mine = broken_sid(case, evs)
    end = mended[0] if mended else run.packets[-1][0] - run.zero
    back, least = run.recovery(rtt, end)
    resends, needless = run.resends()
    first, share = run.after(end, mine, rtt) if mended else (None, None)
    partial = case in ("half-evs",)
    return {
        "last": run.last_lost_into(end) if partial else run.last_into(end),
        "last_ack": run.last_ack_into(end),
        "lost": run.lost(end),
        "resends": resends, "needless": needless,
        "gap": run.gap(-5 * rtt, end),
        "back": back, "least": least,
        "first": first, "share": share,
        "loaded": run.loaded(rtt),
    }


def measure_none(run, rtt):
    resends, needless = run.resends()
    span = run.packets[-1][0] - run.zero
    times, sums = run.deliveries()
    return {"lost": run.lost(LONG_NS), "resends": resends, "needless": needless,
            "gap": run.gap(-20 * rtt, span),
            "gbps": 8 * sums[-1] / (times[-1] - times[0])}


def measure_flap(run):
    broken, mended = broken_and_mended(run)
    into = [sum(c[2] == DEAD and begin <= c[0] < end for c in run.copies)
            for begin, end in zip(mended, broken[1:] + [LONG_NS])]
    return {"gap": run.gap(broken[0] - 10 ** 6, LONG_NS), "lost": run.lost(LONG_NS),
            "up_packets": into}


def measure_lone(run, rtt):
    spare = max(20 * 10 ** 6, 5 * rtt)
    before = [late for post, late in run.latencies(-LONG_NS, spare) if post < -2 * rtt]
    usual = statistics.median(before)
    hit = [(post, late) for post, late in run.latencies(0, spare) if late > HIT * usual]
    return {"usual": usual, "hit": len(hit), "over": hit[-1][0] - hit[0][0] if hit else 0,
            "worst": max((late for _, late in hit), default=usual)}


def measure(prefix, rtt, evs, case):
    run = Run(prefix)
    if case == "none":
        result = measure_none(run, rtt)
    elif case == "flap":
        result = measure_flap(run)
    elif case == "lone":
        result = measure_lone(run, rtt)
    else:
        result = measure_usual(run, case, rtt, evs)
    result["unfinished"] = run.unfinished()
    result["hash"] = run.hash
    result["packets"] = len(run.packets)
    return result


def measure_dir(folder, rtt_us, evs, case):
    phases = sorted((name[:-4] for name in os.listdir(folder) if name.endswith(".log")),
                    key=float)
    results = {}
    for phase in phases:
        results[phase] = measure(os.path.join(folder, phase), int(rtt_us) * 1000, int(evs), case)
    with open(os.path.join(folder, "result.json"), "w") as file:
        json.dump(results, file, indent=1)


# ------------------------------------------------------------------- printing

def micros(ns):
    if ns is None or ns >= LONG_NS // 2:
        return "never"
    return f"{ns / 1000:.0f}" if ns >= 10000 else f"{ns / 1000:.1f}".rstrip("0").rstrip(".")


def pair(a, b):
    return a if a == b else f"{a}/{b}"


def span(values, rtt=None, loaded=None):
    """Median/maximum, and in round trips, without load and with it where that is much longer.

    A time that never came is the largest.
    """
    values = sorted(LONG_NS if v is None else v for v in values)
    middle, most = values[(len(values) - 1) // 2], values[-1]
    text = pair(micros(middle), micros(most))
    if rtt and most < LONG_NS // 2:
        units = [rtt] if not loaded or loaded < MUCH * rtt else [rtt, loaded]
        text += " (" + ", ".join(pair(f"{middle / u:.1f}", f"{most / u:.1f}") for u in units) + "x)"
    return text


def count(values):
    values = sorted(values)
    middle, most = values[(len(values) - 1) // 2], values[-1]
    return pair(f"{middle}", f"{most}")


def row_usual(case, results, rtt):
    def all_of(key):
        return [r[key] for r in results]

    loaded = statistics.median(all_of("loaded"))
    needless = f"{count(all_of('needless'))} of {count(all_of('resends'))}"
    back = "no dip" if max(all_of("back")) == 0 else span(all_of("back"), rtt, loaded)
    if max(all_of("back")):
        back += f", {100 * min(all_of('least')):.0f} %"
    cells = [span(all_of("last"), rtt, loaded), count(all_of("lost")), needless,
             span(all_of("gap"), rtt, loaded), back, span(all_of("first")), span(all_of("share"))]
    if case == "reverse":           # data go on, so what counts is the acknowledgements
        cells[0] = "acks: " + span(all_of("last_ack"), rtt, loaded)
        cells[5:] = ["-", "-"]
    return cells


def row_other(case, results):
    """What has columns of its own, as a sentence."""
    r = results[0]
    if case == "none":
        return (f"{r['gbps']:.1f} Gb/s of payload, longest gap {micros(r['gap'])}, "
                f"lost {r['lost']}, resends {r['resends']}")
    if case == "flap":
        return (f"longest gap {micros(r['gap'])}, lost {r['lost']}; packets into the plane in "
                f"each time it was up: {', '.join(map(str, r['up_packets']))}")
    return (f"{r['hit']} messages hit over {r['over'] / 1e6:.0f} ms, worst "
            f"{micros(r['worst'])} (usual {micros(r['usual'])})")


def print_case(line, out):
    """One row; True when the case is whole."""
    rtt_us, mbit, window, evs, cc, phases, case = line.split()
    folder = os.path.join(out, f"{rtt_us}-{evs}-{cc}", case)
    name = NAMES.get(case) or case.replace("hole-", "black hole of ") + " ms"
    try:
        results = list(json.load(open(os.path.join(folder, "result.json"))).values())
        status = open(os.path.join(folder, "rc")).read().strip()
    except OSError:
        results, status = [], "no result"
    stuck = sum(r["unfinished"] for r in results)
    if status != "0" or len(results) != int(phases) or stuck:
        print(f"| {name} | {rtt_us} | FAILED: status {status}, {len(results)} of {phases} "
              f"phases, {stuck} messages never done; see {folder} |")
        return False
    if "last" in results[0]:
        cells = row_usual(case, results, int(rtt_us) * 1000)
        print(f"| {name} | {rtt_us} | {' | '.join(cells)} |")
    else:
        print(f"| {name} | {rtt_us} | {row_other(case, results)} |")
    return True


def print_table(out):
    whole, section = True, None
    for line in sorted(open(os.path.join(out, "runs")), key=order):
        rtt_us, mbit, window, evs, cc, phases, case = line.split()
        if section != (evs, cc):
            section = evs, cc
            print(f"\n{evs} EVs a plane, {CONTROL[cc]}; us, median/worst of the phases "
                  "(x: round trips, without load; then with it, where queues stand)\n")
            print("| failure | RTT | last data into it | lost | needless resends | gap in "
                  "completions | back at 95 % of the rest | first data after repair | "
                  "its share again |")
            print("|---|---|---|---|---|---|---|---|---|")
        whole &= print_case(line, out)
    return whole


def order(line):
    rtt_us, mbit, window, evs, cc, phases, case = line.split()
    cases = list(NAMES)
    place = cases.index(case) if case in cases else len(cases) + int(case.removeprefix("hole-"))
    return int(evs), list(CONTROL).index(cc), place, int(rtt_us)


def same(one, other):
    a, b = (json.load(open(os.path.join(folder, "result.json"))) for folder in (one, other))
    hashes = [{phase: (r["packets"], r["hash"]) for phase, r in x.items()} for x in (a, b)]
    if not hashes[0] or hashes[0] != hashes[1]:
        print(f"NOT the same packets: {one} and {other}: {hashes}")
        return False
    print("\nrepeated: " + ", ".join(f"{n} packets, hash {h}" for n, h in hashes[0].values())
          + "; the same")
    return True


def most(folder, key, limit_us):
    results = json.load(open(os.path.join(folder, "result.json")))
    values = {phase: r[key] for phase, r in results.items()}
    print(f"{folder}: {key}: {values}, at most {limit_us} us; messages never done: "
          f"{[r['unfinished'] for r in results.values()]}")
    return bool(results) and not any(r["unfinished"] for r in results.values()) and all(
        v is not None and v <= float(limit_us) * 1000 for v in values.values())


def main(argv):
    what, args = argv[1], argv[2:]
    if what == "measure":
        measure_dir(*args)
        return 0
    return 0 if {"print": print_table, "same": same, "most": most}[what](*args) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
