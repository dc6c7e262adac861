# SPDX-License-Identifier: GPL-2.0
"""table.py - a figure's points as CSV and as a table: ours, published, ideal."""
import csv
import io
import math

from chart import number
from scenarios import Mistake

HEAD = ["series", "x", "low", "high"]
ENGINE = "# engine "


def _text(value):
    return f"{value:.6g}"


def to_csv(rows, engine="-"):
    """engine: the commit that last changed it."""
    out = io.StringIO()
    out.write(f"{ENGINE}{engine}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEAD)
    for name, x, low, high in rows:
        writer.writerow([name, x, _text(low), _text(high)])
    return out.getvalue()


def from_csv(text, where):
    rows = list(csv.reader(line for line in io.StringIO(text) if not line.startswith("#")))
    if not rows or rows[0] != HEAD:
        raise Mistake(f"{where}: not a figure's points")
    try:
        return [(name, x, float(low), float(high)) for name, x, low, high in rows[1:]]
    except ValueError as e:
        raise Mistake(f"{where}: {e}") from None


def engine_of(text):
    first = text.split("\n", 1)[0]
    return first.removeprefix(ENGINE) if first.startswith(ENGINE) else "-"


def _cell(row, digits):
    if row[2] == row[3] or not math.isfinite(row[3]):
        return number(row[3], digits)
    return f"{number(row[2], digits)} to {number(row[3], digits)}"


def against(figure, rows, label):
    """How the first of ours compares with the first published value there."""
    def first(kind):
        s = next((s for s in figure.series if s["kind"] == kind), None)
        return next((r for r in rows if s and r[0] == s["name"] and r[1] == label), None)
    ours, published = first("ours"), first("published")
    if ours and published and math.isinf(ours[3]) and not math.isnan(published[3]):
        return "worse"
    if not ours or not published or math.isnan(ours[3]) or math.isnan(published[3]) or published[3] == 0:
        return "-"
    if published[2] <= ours[3] <= published[3] and published[2] != published[3]:
        return "within"
    edge = published[2] if ours[3] < published[2] else published[3]
    less = ours[3] < edge
    percent = abs(100 * (ours[3] / edge - 1))
    if percent < 0.5:
        return "equal"
    word = "better" if less == (figure.better == "less") else "worse"
    return f"{percent:.0f} % {word}"


def _phases(figure, rows):
    """Of goodput over time: means between the marks."""
    edges = [0.0] + [m["at_us"] for m in figure.x.get("marks", [])] + [math.inf]
    names = ["before"] + [m["text"] for m in figure.x.get("marks", [])]
    head = ["mean " + figure.unit] + [f"{'from ' if i else ''}{n}" for i, n in enumerate(names)]
    lines = []
    for s in figure.series:
        cells = [s["name"]]
        for a, b in zip(edges, edges[1:]):
            own = [r[3] for r in rows if r[0] == s["name"] and (s["kind"] != "ours" or a <= float(r[1]) < b)]
            cells.append(number(sum(own) / len(own), figure.digits) if own else "-")
        lines.append(cells)
    return [head] + lines


def cells(figure, rows):
    if figure.chart == "time":
        return _phases(figure, rows)
    compare = any(s["kind"] == "published" for s in figure.series)
    table = [[figure.x.get("title", "")] + [f"{s['name']}, {figure.unit}" for s in figure.series] +
             (["ours against published"] if compare else [])]
    for place in figure.places:
        line = [place["label"]]
        for s in figure.series:
            line.append(_cell(next(r for r in rows if r[0] == s["name"] and r[1] == place["label"]), figure.digits))
        table.append(line + ([against(figure, rows, place["label"])] if compare else []))
    return table


def markdown(figure, rows):
    head, *body = cells(figure, rows)
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(line) + " |" for line in body])


def text(figure, rows):
    """For a terminal."""
    table = cells(figure, rows)
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    return "\n".join("  ".join(c.ljust(w) if not i else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))).rstrip()
                     for line in table)


def impossible(figure, rows):
    """Values of ours that are better than the ideal: a mistake of the measure."""
    found = []
    for ideal in (s for s in figure.series if s["kind"] == "ideal"):
        for s in figure.ours():
            for r in rows:
                best = next((i for i in rows if i[0] == ideal["name"] and (i[1] == r[1] or figure.chart == "time")), None)
                if r[0] != s["name"] or best is None or not math.isfinite(r[3]) or math.isnan(best[3]) or figure.chart == "time":
                    continue
                if r[3] < best[3] * 0.99 if figure.better == "less" else r[3] > best[3] * 1.01:
                    found.append(f"{s['name']} at {r[1]}: {r[3]:g} is better than the ideal {best[3]:g}")
    return found
