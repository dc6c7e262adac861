# SPDX-License-Identifier: GPL-2.0
"""chart.py - a figure's points as SVG: bars, lines, or goodput over time.

One question a picture; units on the axes; series are named where they end, or in one line above bars. Colours are
those of all pictures (Documentation/pictures/svg.py), for light and for dark pages.
"""
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "Documentation/pictures"))
from svg import Picture  # noqa: E402

WIDTH, HEIGHT = 760, 360
LEFT, TOP, BOTTOM = 64, 78, 58
RIGHT_BARS, RIGHT_LINES = 20, 176


def number(value, digits):
    """As people write it: no more digits than asked for, large ones in groups."""
    if not math.isfinite(value):
        return "-" if math.isnan(value) else "not ended"
    return f"{value:,.{digits}f}"


def nice_step(top, wanted=5):
    raw = max(top, 1e-9) / wanted
    power = 10 ** math.floor(math.log10(raw))
    return next(f * power for f in (1, 2, 2.5, 5, 10) if f * power >= raw * 0.999)


def colours(figure):
    """Ours blue and green, published orange and violet, ideal grey; by name of the series."""
    ours, published, out = ["1", "3"], ["2", "4"], {}
    for s in figure.series:
        left = ours if s["kind"] == "ours" else published
        other = published if s["kind"] == "ours" else ours
        if s["kind"] == "ideal":
            out[s["name"]] = ("dim", "line")
        else:
            hue = left.pop(0) if left else other.pop()
            out[s["name"]] = (f"p{hue}", f"l{hue}")
    return out


class Frame:
    """Axes, and where a value lies between them."""

    def __init__(self, figure, top, right):
        self.figure = figure
        self.p = Picture(WIDTH, HEIGHT, figure.title, f"{figure.question} {figure.about}".split("\n")[0])
        self.x0, self.y0 = LEFT, TOP
        self.width, self.height = WIDTH - LEFT - right, HEIGHT - TOP - BOTTOM
        self.step = nice_step(top)
        self.top = self.step * math.ceil(top / self.step - 1e-9)
        self.p.text(15, 26, figure.question, "ink big")

    def y(self, value):
        return self.y0 + self.height * (1 - min(value / self.top, 1))

    def grid(self):
        digits = max(len(f"{self.step:g}".partition(".")[2]), 0)
        for i in range(round(self.top / self.step) + 1):
            y = self.y(i * self.step)
            self.p.line(self.x0, y, self.x0 + self.width, y, "faint stroke")
            self.p.text(self.x0 - 8, y + 4, number(i * self.step, digits), "dim end small")
        self.p.text(15, self.y0 - 12, self.figure.unit, "dim small")

    def x_title(self, text):
        self.p.text(self.x0 + self.width / 2, HEIGHT - 14, text, "dim mid small")


def legend(frame, hues):
    x = LEFT
    for s in frame.figure.series:
        fill, stroke = hues[s["name"]]
        if s["kind"] == "ideal":
            frame.p.line(x, 48, x + 16, 48, f"{stroke} thick dash")
        else:
            frame.p.rect(x, 41, 13, 13, fill, 2)
        frame.p.text(x + 22, 52, s["name"], "ink small")
        x += 44 + 6.3 * len(s["name"])


def _bar(frame, x, width, row, fill):
    _, _, low, high = row
    if not math.isfinite(high):
        return
    frame.p.rect(x, frame.y(high), width, frame.y(0) - frame.y(high), fill, 2, None if low == high else 0.45)
    if low != high:
        frame.p.rect(x, frame.y(low), width, frame.y(0) - frame.y(low), fill, 2)


def _value(frame, middle, row, digits):
    """Above its bar, on a patch of the page's colour: a line may cross there."""
    _, _, low, high = row
    if not math.isfinite(high):
        frame.p.text(middle, frame.y(0) - 5, number(high, digits), "dim mid small")
        return
    label = number(high, digits) if low == high else f"{number(low, digits)} to {number(high, digits)}"
    width = 6.2 * len(label) + 4
    frame.p.rect(middle - width / 2, frame.y(high) - 15, width, 13, "white", 2, 0.85)
    frame.p.text(middle, frame.y(high) - 5, label, "ink mid small")


def bars(figure, rows):
    hues = colours(figure)
    frame = Frame(figure, max(r[3] for r in rows if math.isfinite(r[3])) * 1.08, RIGHT_BARS)
    frame.grid()
    legend(frame, hues)
    solid = [s for s in figure.series if s["kind"] != "ideal"]
    group = frame.width / len(figure.places)
    width = min(group * 0.82 / len(solid), 64)
    for i, place in enumerate(figure.places):
        middle = frame.x0 + group * (i + 0.5)
        left = middle - width * len(solid) / 2
        for k, s in enumerate(solid):
            row = next(r for r in rows if r[0] == s["name"] and r[1] == place["label"])
            _bar(frame, left + k * width + 2, width - 4, row, hues[s["name"]][0])
        for s in figure.series:
            row = next(r for r in rows if r[0] == s["name"] and r[1] == place["label"])
            if s["kind"] == "ideal" and not math.isnan(row[3]):
                frame.p.line(left - 4, frame.y(row[3]), left + width * len(solid) + 4, frame.y(row[3]),
                             "line thick dash")
        for k, s in enumerate(solid):
            row = next(r for r in rows if r[0] == s["name"] and r[1] == place["label"])
            _value(frame, left + (k + 0.5) * width, row, figure.digits)
        frame.p.text(middle, frame.y(0) + 18, place["label"], "ink mid small")
    frame.x_title(figure.x.get("title", ""))
    return frame.p


def spread(labels, least=15):
    """Heights of labels, moved apart so that none lies on another: (y, what) pairs."""
    out, last = [], -1e9
    for y, what in sorted(labels, key=lambda a: a[0]):
        last = max(y, last + least)
        out.append((last, what))
    return out


def ends(frame, labels):
    """The names of lines, right of them: (y, name, fill)."""
    for y, (name, fill) in spread([(y, (name, fill)) for y, name, fill in labels]):
        frame.p.text(frame.x0 + frame.width + 10, y + 4, name, f"{fill} bold small")


def lines(figure, rows):
    hues = colours(figure)
    frame = Frame(figure, max(r[3] for r in rows if math.isfinite(r[3])) * 1.04, RIGHT_LINES)
    frame.grid()
    value = {p["label"]: p["value"] for p in figure.places}
    least, most = min(value.values()), max(value.values())
    scale = (lambda v: math.log(v)) if figure.x.get("log") else (lambda v: v)

    def at(label):
        return frame.x0 + frame.width * (scale(value[label]) - scale(least)) / (scale(most) - scale(least))

    for label in value:
        frame.p.line(at(label), frame.y(0), at(label), frame.y(0) + 5)
        frame.p.text(at(label), frame.y(0) + 19, label, "dim mid small")
    labels = []
    for s in figure.series:
        fill, stroke = hues[s["name"]]
        own = [r for r in rows if r[0] == s["name"] and math.isfinite(r[3])]
        if s["kind"] == "ideal":
            stroke += " dash"
        if len(own) > 1:
            frame.p.path([(at(r[1]), frame.y(r[3])) for r in own], f"{stroke} thick")
        for r in own:
            if s["kind"] != "ideal":
                frame.p.add(f'<circle cx="{at(r[1]):.1f}" cy="{frame.y(r[3]):.1f}" r="4" class="{fill}"/>')
            if r[2] != r[3]:
                frame.p.line(at(r[1]), frame.y(r[2]), at(r[1]), frame.y(r[3]), f"{stroke} thick")
        if len(own) == 1:  # its name goes below the point, where lines are rare
            frame.p.text(at(own[0][1]) + 6, frame.y(own[0][3]) + 28, s["name"], f"{fill} bold small")
        elif own and own[-1][1] != figure.places[-1]["label"]:
            frame.p.text(at(own[-1][1]) + 4, frame.y(own[-1][3]) + 19, s["name"] + ", then not all end", f"{fill} bold small")
        elif own:
            labels.append((frame.y(own[-1][3]), s["name"], fill))
    ends(frame, labels)
    frame.x_title(figure.x.get("title", ""))
    return frame.p


def time(figure, rows):
    """Of our series a line over time; of the others a level."""
    hues = colours(figure)
    frame = Frame(figure, max(r[3] for r in rows) * 1.04, RIGHT_LINES)
    frame.grid()
    unit = figure.x.get("unit", "us")
    per = 1000 if unit == "ms" else 1
    until = max(float(r[1]) for r in rows)
    step = nice_step(until / per, 8)
    for i in range(int(until / per / step + 1e-9) + 1):
        x = frame.x0 + frame.width * i * step * per / until
        frame.p.line(x, frame.y(0), x, frame.y(0) + 5)
        frame.p.text(x, frame.y(0) + 19, f"{i * step:g}", "dim mid small")
    labels = []
    for s in reversed(figure.series):
        fill, stroke = hues[s["name"]]
        own = [r for r in rows if r[0] == s["name"]]
        if s["kind"] == "ours":
            frame.p.path([(frame.x0 + frame.width * float(r[1]) / until, frame.y(r[3])) for r in own], f"{stroke} stroke")
            level = sorted(r[3] for r in own[-max(3, len(own) // 10):])
            labels.append((frame.y(level[len(level) // 2]), s["name"], fill))
        else:
            frame.p.line(frame.x0, frame.y(own[0][3]), frame.x0 + frame.width, frame.y(own[0][3]), f"{stroke} thick dash")
            labels.append((frame.y(own[0][3]), s["name"], fill))
    ends(frame, labels)
    for mark in figure.x.get("marks", []):
        x = frame.x0 + frame.width * mark["at_us"] / until
        frame.p.line(x, frame.y0 - 6, x, frame.y(0), "hotline stroke dash")
        frame.p.text(x + 4, frame.y0 - 10, mark["text"], "hot small")
    frame.x_title(figure.x.get("title", ""))
    return frame.p


def draw(figure, rows, dark_only=False):
    return {"bars": bars, "lines": lines, "time": time}[figure.chart](figure, rows).draw(dark_only)
