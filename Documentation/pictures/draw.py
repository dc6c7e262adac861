#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""draw.py - makes the pictures of this folder.

    draw.py                 all of them
    draw.py --check         fails if one is not as this script would make it
    draw.py -m FOLDER       take failover.json's figures from a run of "make bench-failover",
                            such as out/failover/40-8-fixed/black-hole
    draw.py -c FILE         take cost.json's figures from a run of "make bench-cpu": out/cpu/report.json
    draw.py --dark FOLDER   the dark ones only, into FOLDER, to look at them
"""
import json
import pathlib
import sys

import concepts
import cost
import failover

HERE = pathlib.Path(__file__).parent
PICTURES = {
    "packet": concepts.packet,
    "path": concepts.path,
    "lost-packet": concepts.lost,
}
if (HERE / "failover.json").exists():   # measured, see -m
    PICTURES["plane-dies"] = failover.plane_dies
    PICTURES["failover"] = failover.throughput
if (HERE / "cost.json").exists():       # measured, see -c
    PICTURES["cost"] = cost.cost


def main(argv):
    if argv[:1] == ["-m"]:
        text = json.dumps(failover.measure(argv[1]), separators=(",", ":")).replace('],"', '],\n"')
        (HERE / "failover.json").write_text(text + "\n")
        argv = argv[2:]
    if argv[:1] == ["-c"]:
        (HERE / "cost.json").write_text(json.dumps(cost.measure(argv[1])) + "\n")
        PICTURES["cost"] = cost.cost
        argv = argv[2:]
    dark = argv[:1] == ["--dark"]
    folder = pathlib.Path(argv[1]) if dark else HERE
    stale = []
    for name, draw in PICTURES.items():
        path, text = folder / f"{name}.svg", draw().draw(dark)
        if argv == ["--check"]:
            if not path.exists() or path.read_text() != text:
                stale.append(path.name)
        else:
            path.write_text(text)
    if stale:
        print("made by another draw.py: " + ", ".join(stale), file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
