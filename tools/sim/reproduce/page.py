#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""page.py - Documentation/guide/figures.md, from the figures' TOML files and the CSV files beside the pictures.

    page.py --check TOP     fails if the page or a picture is not as this script would make it
"""
import pathlib
import sys

import chart
import figure as figures
import table

PAGE, PICTURES = "Documentation/guide/figures.md", "Documentation/pictures/figures"

HEAD = """# Published figures, simulated here

After this page you know how MRC's engine compares with figures that others published, and how to repeat each.

`mrcsim reproduce NAME` runs one figure, `mrcsim reproduce --all` all of them, `make figures` makes this page. The
simulator runs the module's protocol code, so a figure shows this engine in the published setting. It shows neither
a NIC nor the time that this host's CPU takes.

- **Ours** is a run of `mrcsim`. **Published** is the number that the source prints, or reads from its plot.
- **Ideal** is the bound of the links: nobody can be better.
- Where a parameter is not public, the paragraph says so. Where it decides the result, the chart shows a range.
- A figure is a file of `tools/sim/figures`; a copy with other parameters runs by `mrcsim reproduce FILE.toml`.

"""


def section(f, folder):
    rows, engine = rows_of(f, folder), table.engine_of(_text(f, folder))
    parts = [f"## {f.title}", f"![{f.question}](../pictures/figures/{f.name}.svg)", f.about, f"Assumed: {f.assumed}",
             f"Published in: {f.source}", table.markdown(f, rows), f"`mrcsim reproduce {f.name}`, engine of commit {engine}."]
    return "\n\n".join(parts) + "\n\n"


def _text(f, folder):
    return (folder / f"{f.name}.csv").read_text()


def rows_of(f, folder):
    return table.from_csv(_text(f, folder), f"{f.name}.csv")


def made(folder):
    """The page's text, of figures that have run."""
    return (HEAD + "".join(section(f, folder) for f in figures.all_figures())).rstrip("\n") + "\n"


def write(top, folder):
    (top / PAGE).write_text(made(folder))


def check(top):
    folder, stale = top / PICTURES, []
    if (top / PAGE).read_text() != made(folder):
        stale.append(PAGE)
    for f in figures.all_figures():
        if (folder / f"{f.name}.svg").read_text() != chart.draw(f, rows_of(f, folder)):
            stale.append(f"{f.name}.svg")
    known = {f.name for f in figures.all_figures()}
    stale += [p.name for p in folder.iterdir() if p.stem not in known]
    for name in stale:
        print(f"{name}: not as make figures would make it", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    if sys.argv[1:2] != ["--check"] or len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(check(pathlib.Path(sys.argv[2])))
