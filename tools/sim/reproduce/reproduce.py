#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""mrcsim reproduce - published figures, simulated: a table, a CSV and an SVG for each.

Without a name: which figures there are. NAME is one of them, or a TOML file (figure.py says what is in it).
Files go to --out: NAME.csv, NAME.svg; the runs to --work, where equal ones of the same simulator are not run again.
"""
import argparse
import pathlib
import subprocess
import sys

import figure as figures
import page
import table
from chart import draw
from jobs import Folder
from scenarios import Mistake

TOP = pathlib.Path(__file__).parents[3]


def options(argv):
    p = argparse.ArgumentParser(prog="mrcsim reproduce", description=__doc__.split("\n")[0])
    p.add_argument("name", nargs="*", help="figures, or TOML files; none: list them")
    p.add_argument("--all", action="store_true", help="every figure")
    p.add_argument("--out", default="out/figures", help="where NAME.csv and NAME.svg go")
    p.add_argument("--work", default="out/figures/runs", help="where runs are kept")
    p.add_argument("--workers", type=int, default=1, help="so many runs at once")
    p.add_argument("--jobs", action="store_true", help="print the runs' shell lines and run nothing")
    p.add_argument("--draw", action="store_true", help="from the CSV that is there: run nothing")
    p.add_argument("--page", action="store_true", help="also write the documentation's page, of all figures")
    return p.parse_args(argv)


def engine_commit():
    """Of the last commit that changed the engine; "+" if the tree has more."""
    def git(*words):
        return subprocess.run(["git", "-C", TOP, *words, "--", "kernel/engine"], capture_output=True, text=True, check=False)
    try:
        last = git("log", "-1", "--format=%h").stdout.strip()
        return (last + "+" * git("diff", "--quiet", "HEAD").returncode) if last else "-"
    except OSError:
        return "-"


def one(f, o):
    out = pathlib.Path(o.out)
    file = out / f"{f.name}.csv"
    if o.draw:
        rows = table.from_csv(file.read_text(), file)
    else:
        folder = Folder(pathlib.Path(o.work) / f.name, f.scenarios())
        if o.jobs:
            print("\n".join(folder.lines()))
            return True
        folder.run(o.workers)
        rows = f.points(folder)
        out.mkdir(parents=True, exist_ok=True)
        file.write_text(table.to_csv(rows, engine_commit()))
        rows = table.from_csv(file.read_text(), file)
    (out / f"{f.name}.svg").write_text(draw(f, rows))
    print(f"{f.name}: {f.title}\n{table.text(f, rows)}\n{out}/{f.name}.csv, {out}/{f.name}.svg\n", flush=True)
    bad = table.impossible(f, rows)
    for line in bad:
        print(f"mrcsim reproduce: {f.name}: {line}", file=sys.stderr)
    return not bad


def main(argv):
    o = options(argv)
    every = o.all or o.page
    if not o.name and not every:
        for f in figures.all_figures():
            print(f"{f.name:24} {f.question}")
        return 0
    good = True
    for f in figures.all_figures() if every else [figures.find(n) for n in o.name]:
        good = one(f, o) and good
    if o.page and not o.jobs:
        page.write(TOP, pathlib.Path(o.out))
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (Mistake, OSError) as e:
        print(f"mrcsim reproduce: {e}", file=sys.stderr)
        sys.exit(2)
