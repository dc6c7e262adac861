#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""scenario_table.py - results of `mrcsim run --json`, a line a scenario.

    scenario_table.py RESULT.json...
"""
import json
import sys

COLUMNS = (("max_over_ideal", "max/ideal"), ("max_over_healthy", "/healthy"),
           ("slowdown_mean", "mean"), ("rtx_percent", "rtx %"), ("lost_per_flow_max", "lost/flow"),
           ("t1_rtt_max", "t1 RTT"), ("hops_per_s", "Mhops/s"), ("rss_mib", "MiB"))


def cell(name, value):
    if value is None:
        return "-"
    return f"{value / 1e6:.1f}" if name == "hops_per_s" else f"{value:.4g}"


def main():
    print(f"{'scenario':24}" + "".join(f"{title:>11}" for _, title in COLUMNS) + "  expectations")
    for name in sys.argv[1:]:
        try:
            with open(name, encoding="utf-8") as f:
                result = json.load(f)
        except ValueError:
            print(f"{name}: no result")
            continue
        cells = "".join(f"{cell(k, result['metrics'].get(k)):>11}" for k, _ in COLUMNS)
        verdict = "not met: " + "; ".join(result["unmet"]) if result["unmet"] else "met"
        print(f"{result['scenario']:24}{cells}  {verdict}")


if __name__ == "__main__":
    main()
