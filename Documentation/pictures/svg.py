# SPDX-License-Identifier: GPL-2.0
"""svg.py - the style of all pictures: one set of classes, for light and for dark pages.

Colours stand in classes and not in variables, which some viewers do not know.
"""
from xml.sax.saxutils import escape

# (class, property, light, dark)
COLOURS = [
    ("ink", "fill", "#1f2328", "#e6edf3"),
    ("dim", "fill", "#59636e", "#9198a1"),
    ("line", "stroke", "#59636e", "#9198a1"),
    ("faint", "stroke", "#d1d9e0", "#3d444d"),
    ("paper", "fill", "#f6f8fa", "#151b23"),
    ("edge", "stroke", "#8c959f", "#656c76"),
    ("hot", "fill", "#cf222e", "#ff7b72"),
    ("hotline", "stroke", "#cf222e", "#ff7b72"),
    ("well", "fill", "#1a7f37", "#56d364"),
    ("wellline", "stroke", "#1a7f37", "#56d364"),
    ("p1", "fill", "#0969da", "#58a6ff"),
    ("p2", "fill", "#d4730b", "#f0a04b"),
    ("p3", "fill", "#1b8a6b", "#3fc39c"),
    ("p4", "fill", "#8250df", "#b794f4"),
    ("l1", "stroke", "#0969da", "#58a6ff"),
    ("l2", "stroke", "#d4730b", "#f0a04b"),
    ("l3", "stroke", "#1b8a6b", "#3fc39c"),
    ("l4", "stroke", "#8250df", "#b794f4"),
    ("white", "fill", "#ffffff", "#0d1117"),
]

FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif"
MONO = "font-family:ui-monospace,SFMono-Regular,Menlo,'DejaVu Sans Mono',monospace"


def style(dark_only=False):
    def rules(column):
        return "".join(f".{c[0]}{{{c[1]}:{c[column]}}}" for c in COLOURS)
    base = (f"text{{{FONT};font-size:13px}}.mono{{{MONO};font-size:12px}}.small{{font-size:11px}}"
            ".bold{font-weight:600}.big{font-size:15px;font-weight:600}"
            ".mid{text-anchor:middle}.end{text-anchor:end}"
            ".stroke{fill:none;stroke-width:1.5}.thick{fill:none;stroke-width:2.5}"
            ".dash{stroke-dasharray:4 3}")
    if dark_only:
        return base + rules(3)
    return base + rules(2) + "@media(prefers-color-scheme:dark){" + rules(3) + "}"


class Picture:
    def __init__(self, width, height, title, description):
        self.width, self.height = width, height
        self.title, self.description = title, description
        self.parts = []

    def add(self, text):
        self.parts.append(text)

    def text(self, x, y, text, classes="ink"):
        self.add(f'<text x="{x:g}" y="{y:g}" class="{classes}">{escape(text)}</text>')

    def spans(self, x, y, pieces, classes="ink"):
        """Pieces of one line, (text, class) each."""
        inner = "".join(f'<tspan class="{c}">{escape(t)}</tspan>' for t, c in pieces)
        self.add(f'<text x="{x:g}" y="{y:g}" class="{classes}">{inner}</text>')

    def rect(self, x, y, width, height, classes="paper edge", radius=4, opacity=None):
        more = f' fill-opacity="{opacity}"' if opacity is not None else ""
        self.add(f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius}" '
                 f'class="{classes}"{more}/>')

    def line(self, x1, y1, x2, y2, classes="line stroke"):
        self.add(f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" class="{classes}"/>')

    def path(self, points, classes, close=False):
        d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + ("Z" if close else "")
        self.add(f'<path d="{d}" class="{classes}"/>')

    def arrow(self, x1, y1, x2, y2, line="line", head="dim", more=""):
        length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5 or 1
        ux, uy = (x2 - x1) / length, (y2 - y1) / length
        bx, by = x2 - 9 * ux, y2 - 9 * uy
        self.line(x1, y1, bx, by, f"{line} stroke {more}".strip())
        points = [(x2, y2), (bx - 4 * uy, by + 4 * ux), (bx + 4 * uy, by - 4 * ux)]
        self.path(points, head, close=True)

    def cross(self, x, y, size=7):
        self.line(x - size, y - size, x + size, y + size, "hotline thick")
        self.line(x - size, y + size, x + size, y - size, "hotline thick")

    def draw(self, dark_only=False):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                f'width="{self.width}" height="{self.height}" role="img">\n'
                f"<title>{escape(self.title)}</title><desc>{escape(self.description)}</desc>\n"
                "<!-- SPDX-License-Identifier: GPL-2.0 -->\n"
                f"<style>{style(dark_only)}</style>\n" + "\n".join(self.parts) + "\n</svg>\n")
