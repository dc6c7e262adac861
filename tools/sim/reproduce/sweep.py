#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""mrcsim sweep - one scenario with many values: prints the jobs, or runs them, and merges what they leave.

FILE is a TOML file:

  metrics = ["makespan_us", "rtx"]     columns of the result; none: all that do not depend on the machine
  [scenario.fabric]                    as a scenario file, below "scenario"
  hosts = 1024
  [[axis]]                             every value of each axis with every value of the others
  key = "host.evs"
  values = [32, 64, 128]
  [[axis]]
  key = "run.seed"
  values = [1, 2, 3]

  mrcsim sweep FILE                    the jobs, a line of shell each: mrcsim sweep FILE | parallel
  mrcsim sweep FILE --run -j 4         runs them here: GNU parallel, or xargs
  mrcsim sweep FILE --slurm | sbatch   an array job; the folder must be one that all machines see
  mrcsim sweep FILE --merge            result.csv, of jobs that have run
"""
import argparse
import csv
import io
import itertools
import pathlib
import sys
import tomllib

from jobs import TIMING, Folder
from scenarios import Mistake, anchor, merge, setting

MOST = 100_000


class Sweep:
    def __init__(self, path):
        self.path = path
        try:
            table = tomllib.loads(path.read_text())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
            raise Mistake(f"{path}: {e}") from None
        for key in table:
            self._want(key in ("metrics", "scenario", "axis"), f"{key}: no such key")
        self.metrics, self.axes = table.get("metrics", []), table.get("axis", [])
        self.scenario = table.get("scenario", {})
        self._want(isinstance(self.scenario, dict), "scenario: a table is wanted")
        self._want(isinstance(self.metrics, list) and all(isinstance(m, str) for m in self.metrics),
                   "metrics: a list of names is wanted")
        self._want(isinstance(self.axes, list), "axis: a list of tables is wanted: [[axis]]")
        count = 1
        for axis in self.axes:
            self._want(isinstance(axis, dict) and set(axis) == {"key", "values"} and isinstance(axis["key"], str),
                       "axis: key and values are wanted")
            self._want(isinstance(axis["values"], list) and axis["values"], f"axis {axis['key']}: no values")
            count *= len(axis["values"])
        self._want(count <= MOST, f"{count} jobs: at most {MOST}")

    def _want(self, good, what):
        if not good:
            raise Mistake(f"{self.path}: {what}")

    def points(self):
        """(name of the job, its value on each axis), in the file's order."""
        for i, values in enumerate(itertools.product(*(axis["values"] for axis in self.axes))):
            yield f"{i + 1:05}", values

    def scenarios(self):
        out = {}
        for name, values in self.points():
            scenario = self.scenario
            for axis, value in zip(self.axes, values):
                scenario = merge(scenario, setting(axis["key"], value))
            out[name] = anchor(scenario, self.path.parent)
        return out

    def merged(self, folder):
        """CSV: a line for each job, in the file's order, whatever the order in which they ran."""
        out, names = io.StringIO(), self.metrics
        writer = csv.writer(out, lineterminator="\n")
        results = [(values, folder.result(name)) for name, values in self.points()]
        if not names:
            names = sorted({m for _, r in results for m in r["metrics"]} - set(TIMING))
        writer.writerow([axis["key"] for axis in self.axes] + names + ["hash"])
        for values, result in results:
            missing = [n for n in self.metrics if n not in result["metrics"]]
            self._want(not missing, f"{', '.join(missing)}: no such metric in this run")
            writer.writerow([*values, *(result["metrics"].get(n, "") for n in names), result["hash"]])
        return out.getvalue()


def main(argv):
    p = argparse.ArgumentParser(prog="mrcsim sweep", description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("file", type=pathlib.Path)
    p.add_argument("--out", type=pathlib.Path, help="folder of jobs and results; out/sweep/NAME unless given")
    what = p.add_mutually_exclusive_group()
    what.add_argument("--run", action="store_true")
    what.add_argument("--slurm", action="store_true")
    what.add_argument("--merge", action="store_true")
    p.add_argument("-j", "--workers", type=int, default=1, help="with --run: so many at once")
    o = p.parse_args(argv)
    sweep = Sweep(o.file)
    folder = Folder(o.out or pathlib.Path("out/sweep") / o.file.stem, sweep.scenarios())
    if o.slurm:
        print(folder.slurm(), end="")
    elif not o.run and not o.merge:
        print("\n".join(folder.lines()))
    else:
        if o.run:
            folder.run(o.workers)
        file = folder.path / "result.csv"
        file.write_text(sweep.merged(folder))
        print(file)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (Mistake, OSError) as e:
        print(f"mrcsim sweep: {e}", file=sys.stderr)
        sys.exit(2)
