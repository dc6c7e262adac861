# SPDX-License-Identifier: GPL-2.0
"""chart.py - one run of the demonstration as SVG.

Small multiples: a column per direction, above the payload delivered, below what part
of the packets each plane carried, over the same time.
"""
import math
from xml.sax.saxutils import escape

from run_data import DIRECTIONS, PHASES

WIDTH, HEIGHT = 1080, 640
LEFT, TOP = 76, 132                 # of the first panel
PANEL_W, GUTTER = 440, 84
UPPER_H, LOWER_H, BETWEEN = 190, 170, 46
BIN = 0.5                           # s

FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Helvetica, Arial, sans-serif"
INK, MUTED, GRID, PAPER = "#1f2933", "#66727f", "#e3e8ed", "#ffffff"
LINE, DEAD = "#1f3a5f", "#c8372d"
# Told apart by people who see colours differently too (after Paul Tol).
PLANES = ("#4477aa", "#ee7733", "#44aa88", "#bb99cc", "#ccbb44", "#66ccee", "#aa3377", "#999999")


def nice_step(top, wanted=4):
    """A step of 1, 2 or 5 times a power of ten."""
    raw = max(top, 1e-9) / wanted
    power = 10 ** math.floor(math.log10(raw))
    return next(f * power for f in (1, 2, 5, 10) if f * power >= raw)


class Svg:
    def __init__(self):
        self.parts = []

    def add(self, tag, text=None, **attributes):
        attrs = "".join(f' {k.rstrip("_").replace("_", "-")}="{v}"' for k, v in attributes.items())
        self.parts.append(f"<{tag}{attrs}/>" if text is None
                          else f"<{tag}{attrs}>{escape(text)}</{tag}>")

    def text(self, x, y, text, size=12, fill=MUTED, anchor="start", **more):
        self.add("text", text, x=f"{x:.1f}", y=f"{y:.1f}", font_size=size, fill=fill,
                 text_anchor=anchor, **more)

    def line(self, x1, y1, x2, y2, stroke=GRID, **more):
        self.add("line", x1=f"{x1:.1f}", y1=f"{y1:.1f}", x2=f"{x2:.1f}", y2=f"{y2:.1f}",
                 stroke=stroke, **more)

    def path(self, points, **more):
        steps = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.add("polygon" if more.get("fill", "none") != "none" else "polyline",
                 points=steps, **more)

    def document(self):
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
                f'width="{WIDTH}" height="{HEIGHT}" font-family="{FONT}" role="img">')
        return "\n".join([head, *self.parts, "</svg>", ""])


class Panel:
    """A rectangle with a time axis and a value axis."""

    def __init__(self, svg, x, y, height, duration, top):
        self.svg, self.x0, self.y0, self.height = svg, x, y, height
        self.duration, self.top = duration, top

    def x(self, t):
        return self.x0 + PANEL_W * min(max(t / self.duration, 0), 1)

    def y(self, value):
        return self.y0 + self.height * (1 - value / self.top)

    def grid(self, step, label):
        for i in range(round(self.top / step) + 1):
            y = self.y(i * step)
            self.svg.line(self.x0, y, self.x0 + PANEL_W, y)
            self.svg.text(self.x0 - 8, y + 4, label(i * step), 11, anchor="end")

    def time_axis(self, with_title):
        bottom = self.y0 + self.height
        step = nice_step(self.duration, 6)
        self.svg.line(self.x0, bottom, self.x0 + PANEL_W, bottom, MUTED)
        for i in range(int(self.duration / step + 1e-6) + 1):
            x = self.x(i * step)
            self.svg.line(x, bottom, x, bottom + 4, MUTED)
            self.svg.text(x, bottom + 17, f"{i * step:g}", 11, anchor="middle")
        if with_title:
            self.svg.text(self.x0 + PANEL_W / 2, bottom + 36, "time, s", 12, anchor="middle")

    def title(self, text):
        self.svg.text(self.x0, self.y0 - 10, text, 12)


def bins(run):
    """Intervals of about BIN seconds, none of which a cut or restoration divides."""
    edges = [0.0]
    for mark in ("cut", "restore", "end"):
        start, end = edges[-1], run.marks[mark]
        n = max(1, round((end - start) / BIN))
        edges += [start + (end - start) * (i + 1) / n for i in range(n)]
    return list(zip(edges, edges[1:]))


def shares(packets):
    """Cumulated parts, from 0 to 1; nothing at all is shared evenly among none."""
    total = sum(packets)
    heights = [0.0]
    for n in packets:
        heights.append(heights[-1] + (n / total if total else 0))
    return heights


def draw_throughput(run, panel, direction):
    svg = panel.svg
    points = [((a + b) / 2, run.throughput(direction, a, b)) for a, b in bins(run)]
    line = [(panel.x(t), panel.y(min(v, panel.top))) for t, v in points]
    area = [(line[0][0], panel.y(0)), *line, (line[-1][0], panel.y(0))]
    svg.path(area, fill=LINE, fill_opacity=0.10, stroke="none")
    svg.path(line, fill="none", stroke=LINE, stroke_width=2, stroke_linejoin="round")
    for phase in PHASES:
        start, end = run.bounds(phase)
        mean = run.throughput(direction, start, end)
        svg.text(panel.x((start + end) / 2), panel.y(0) - 10, f"mean {mean:.1f} MB/s", 12, LINE,
                 "middle", font_weight=600, paint_order="stroke", stroke=PAPER, stroke_width=4)


def draw_shares(run, panel, direction):
    svg = panel.svg
    columns = []
    for a, b in bins(run):
        packets = run.packets(direction, a, b)
        if sum(packets):
            columns.append((a, b, shares(packets)))
    for plane in range(run.planes):
        upper = [(panel.x(t), panel.y(h[plane + 1])) for a, b, h in columns for t in (a, b)]
        lower = [(panel.x(t), panel.y(h[plane])) for a, b, h in columns for t in (a, b)]
        svg.path(upper + lower[::-1], fill=PLANES[plane % len(PLANES)], stroke=PAPER,
                 stroke_width=0.8, fill_opacity=0.92)
    if not columns:
        return
    for phase in PHASES:
        start, end = run.bounds(phase)
        heights = shares(run.packets(direction, start, end))
        for plane in range(run.planes):
            part = heights[plane + 1] - heights[plane]
            if part > 0.08:
                svg.text(panel.x((start + end) / 2),
                         panel.y((heights[plane] + heights[plane + 1]) / 2) + 4,
                         f"{part:.0%}", 11, PAPER, "middle", font_weight=600)


def draw_marks(run, panel, labels):
    svg = panel.svg
    for mark, label in (("cut", f"plane {run.plane + 1} cut"), ("restore", "restored")):
        x = panel.x(run.marks[mark])
        svg.line(x, panel.y0 - (16 if labels else 0), x, panel.y0 + panel.height, DEAD,
                 stroke_width=1.4, stroke_dasharray="5 3")
        if labels:
            svg.text(x + 5, panel.y0 - 7, label, 12, DEAD, font_weight=600)


def draw_band(run, panel):
    start, end = run.marks["cut"], run.marks["restore"]
    panel.svg.add("rect", x=f"{panel.x(start):.1f}", y=panel.y0, fill=DEAD, fill_opacity=0.06,
                  width=f"{panel.x(end) - panel.x(start):.1f}", height=panel.height)


def draw_direction(run, svg, x, direction):
    end = run.marks["end"]
    peak = max(run.throughput(direction, a, b) for a, b in bins(run))
    step = nice_step(peak * 1.08)
    top = step * max(1, math.ceil(peak * 1.08 / step))
    gap = run.longest_gap(direction, "during")
    svg.text(x, TOP - 32, f"{direction[0]} → {direction[1]}", 15, INK, font_weight=700)
    svg.text(x + 82, TOP - 32, f"longest gap in delivery around the cut: {gap:.0f} ms", 12)
    upper = Panel(svg, x, TOP, UPPER_H, end, top)
    upper.grid(step, lambda v: f"{v:g}")
    draw_band(run, upper)
    draw_throughput(run, upper, direction)
    draw_marks(run, upper, True)
    upper.time_axis(False)
    lower = Panel(svg, x, TOP + UPPER_H + BETWEEN, LOWER_H, end, 1.0)
    lower.grid(0.25, lambda v: f"{v:.0%}")
    draw_shares(run, lower, direction)
    draw_marks(run, lower, False)
    lower.time_axis(True)
    for panel, title in ((upper, "payload delivered, MB/s"), (lower, "share of packets sent")):
        cx, cy = panel.x0 - 50, panel.y0 + panel.height / 2
        svg.text(cx, cy, title, 12, MUTED, "middle", transform=f"rotate(-90 {cx:.1f} {cy:.1f})")


def draw_legend(run, svg):
    y = HEIGHT - 26
    x = LEFT
    for plane in range(run.planes):
        svg.add("rect", x=x, y=y - 10, width=14, height=12, rx=2,
                fill=PLANES[plane % len(PLANES)], fill_opacity=0.92)
        note = " (cut)" if plane == run.plane else ""
        svg.text(x + 20, y, f"plane {plane + 1}{note}", 12, INK)
        x += 90 + (40 if note else 0)
    svg.text(WIDTH - 32, y, f"kernel {run.about['kernel']}, {run.about['size'] // 1024} KiB "
             "writes, measured at the hosts' interfaces", 11, anchor="end")


def draw(run):
    """The whole picture, as the text of an SVG file."""
    svg = Svg()
    svg.add("title", "RDMA over MRC while a plane of its fabric is cut and restored")
    svg.add("rect", width=WIDTH, height=HEIGHT, fill=PAPER)
    svg.text(LEFT, 36, f"One RDMA transfer over {run.planes} SRv6 planes, and plane "
             f"{run.plane + 1} dies", 20, INK, font_weight=700)
    offered = run.about["load"] * run.about["size"] / 1e6
    svg.text(LEFT, 58, f"Each host offers {offered:.1f} MB/s, which four planes or three can carry; "
             "every byte is checked", 13)
    for i, direction in enumerate(DIRECTIONS):
        draw_direction(run, svg, LEFT + i * (PANEL_W + GUTTER), direction)
    draw_legend(run, svg)
    return svg.document()
