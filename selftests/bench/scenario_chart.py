#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""scenario_chart.py - results of `mrcsim run --json` as SVG, one picture a scenario.

    scenario_chart.py OUTDIR RESULT.json...

Left: payload delivered over time. Right: completion times over the ideal, as the
part of the flows that had finished by then, with the expectation if there is one.
"""
import json
import math
import os
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 1000, 360
TOP, PLOT_H = 96, 200
PANELS = ((70, 420), (570, 380))    # left edge and width
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"
INK, MUTED, GRID, LINE, LIMIT = "#1f2933", "#66727f", "#e3e8ed", "#1f3a5f", "#c8372d"


def steps(top, wanted=4):
    """0 and up to top in steps of 1, 2 or 5 times a power of ten."""
    raw = max(top, 1e-9) / wanted
    power = 10 ** math.floor(math.log10(raw))
    step = next(f * power for f in (1, 2, 5, 10) if f * power >= raw)
    return [i * step for i in range(math.ceil(top / step) + 1)]


class Panel:
    def __init__(self, out, place, xs, ys, title):
        self.out, (self.left, self.width) = out, place
        self.x0, self.x1, self.y1 = xs[0], xs[-1], ys[-1]
        self.text(self.left, TOP - 14, title, INK, 13)
        for y in ys:
            self.line([(self.x0, y), (self.x1, y)], GRID, 1)
            self.text(self.left - 8, self.at(0, y)[1] + 4, f"{y:g}", MUTED, 11, "end")
        for x in xs:
            self.text(self.at(x, 0)[0], TOP + PLOT_H + 18, f"{x:g}", MUTED, 11, "middle")

    def at(self, x, y):
        return (self.left + (x - self.x0) / ((self.x1 - self.x0) or 1) * self.width,
                TOP + PLOT_H - y / (self.y1 or 1) * PLOT_H)

    def line(self, points, color, width, dash=""):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (self.at(*p) for p in points))
        self.out.append(f'<polyline points="{path}" fill="none" stroke="{color}" '
                        f'stroke-width="{width}" stroke-dasharray="{dash}"/>')

    def text(self, x, y, text, color, size, anchor="start"):
        self.out.append(f'<text x="{x:.1f}" y="{y:.1f}" fill="{color}" font-size="{size}" '
                        f'text-anchor="{anchor}">{escape(text)}</text>')


def goodput(out, result):
    bucket, values = result["goodput"]["bucket_us"], result["goodput"]["gbps"]
    xs, ys = steps(bucket * len(values)), steps(max(values, default=1))
    panel = Panel(out, PANELS[0], xs, ys, "payload delivered, Gb/s")
    panel.line([((i + 0.5) * bucket, v) for i, v in enumerate(values)], LINE, 1.8)
    panel.text(PANELS[0][0] + PANELS[0][1], TOP + PLOT_H + 36, "µs", MUTED, 11, "end")


def slowdown(out, result):
    fields = result["flows"]["fields"]
    fct, ideal = fields.index("fct_us"), fields.index("ideal_us")
    ratios = sorted(r[fct] / r[ideal] for r in result["flows"]["rows"]
                    if r[fct] > 0 and r[ideal] > 0)
    expected = result["expect"].get("max_over_ideal")
    if not ratios:
        return
    top = max(ratios[-1], expected or 1)
    xs = [1 + x for x in steps(top - 1 or 0.1)]
    panel = Panel(out, PANELS[1], xs, [0, 25, 50, 75, 100], "% of flows finished by ...")
    n = len(ratios)
    panel.line([(ratios[0], 0)] + [(r, 100 * (i + 1) / n) for i, r in enumerate(ratios)], LINE, 1.8)
    if expected:
        panel.line([(expected, 0), (expected, 100)], LIMIT, 1.2, "5 4")
        panel.text(panel.at(expected, 0)[0], TOP - 2, f"expected {expected:g}", LIMIT, 11, "middle")
    panel.text(PANELS[1][0] + PANELS[1][1], TOP + PLOT_H + 36, "times the ideal", MUTED, 11, "end")


def verdict(result):
    if not result["expect"]:
        return ""
    if result["unmet"]:
        return "not met: " + "; ".join(result["unmet"])
    return "as expected: " + ", ".join(f"{k} {v:g}" for k, v in result["expect"].items())


def draw(result):
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           f'font-family="{FONT}"><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>']
    head = Panel.__new__(Panel)
    head.out = out
    head.text(24, 30, result["scenario"], INK, 18)
    head.text(24, 50, result["about"], MUTED, 13)
    head.text(24, HEIGHT - 16, verdict(result)[:150], LIMIT if result["unmet"] else MUTED, 12)
    if result["goodput"]["gbps"]:
        goodput(out, result)
    slowdown(out, result)
    return "\n".join(out + ["</svg>", ""])


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    for name in sys.argv[2:]:
        with open(name, encoding="utf-8") as f:
            result = json.load(f)
        target = os.path.join(sys.argv[1], result["scenario"] + ".svg")
        with open(target, "w", encoding="utf-8") as f:
            f.write(draw(result))
        print(target)


if __name__ == "__main__":
    main()
