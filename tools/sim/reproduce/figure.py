# SPDX-License-Identifier: GPL-2.0
"""figure.py - one published figure: a TOML file of figures/, its runs, its points.

    title, unit, better     of the values: "less" or "more" is better
    question                the chart's heading
    source, about, assumed  paragraphs of the page
    metric, over            of a run: plus + metric / over * scale; in "time" charts its goodput * scale
    scale, plus
    [scenario]              what all runs share
    [x] title, unit, log    the axis; "lines" want numbers in at.value
    [[at]]                  label, value, set: one place of the axis, and what it changes in the scenario
    [[series]] name, kind   "ours": set, metric, over and scale as above; a run at each place
               values       "published": a number, a range [low, high] or nan for each place
               of           "ideal": metric, over, ... of that series' runs, or values
    chart                   bars, lines, or time (each of our series is a run: x is its time)
"""
import math
import pathlib
import tomllib

from scenarios import Mistake, anchor, merge

FOLDER = pathlib.Path(__file__).parents[1] / "figures"
KEYS = {"title", "question", "source", "about", "assumed", "unit", "better", "chart", "metric", "over", "scale", "plus",
        "digits", "scenario", "x", "at", "series"}
TEXTS = ("title", "question", "source", "about", "assumed", "unit", "chart")
SERIES_KEYS = {"name", "kind", "set", "metric", "over", "scale", "plus", "values", "of"}


class Figure:
    def __init__(self, path):
        self.name, self.path = path.stem, path
        try:
            table = tomllib.loads(path.read_text())
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
            raise Mistake(f"{path}: {e}") from None
        self.table = table
        for key in table:
            self._want(key in KEYS, f"{key}: no such key")
        for key in TEXTS:
            self._want(isinstance(table.get(key), str), f"{key}: a text is wanted")
            setattr(self, key, table[key].strip())
        self._want(self.chart in ("bars", "lines", "time"), "chart: bars, lines or time")
        self.better = table.get("better", "less")
        self._want(self.better in ("less", "more"), "better: less or more")
        self.digits, self.x = table.get("digits", 1), table.get("x", {})
        self.places = table.get("at", [{"label": ""}])
        self._places()
        self._all_series()

    def _want(self, good, what):
        if not good:
            raise Mistake(f"{self.path}: {what}")

    def _places(self):
        for place in self.places:
            self._want(isinstance(place.get("label"), str), "at.label: a text is wanted")
            self._want(self.chart != "lines" or isinstance(place.get("value"), (int, float)),
                       "at.value: lines want a number")
            self._want(not set(place) - {"label", "value", "set"}, f"at: {sorted(place)}: label, value and set")

    def _all_series(self):
        self.series = self.table.get("series", [])
        self._want(any(s.get("kind", "ours") == "ours" for s in self.series), "series: none is ours")
        names = [s.get("name") for s in self.series]
        self._want(len(set(names)) == len(names) and all(isinstance(n, str) for n in names),
                   "series.name: each has one of its own")
        for s in self.series:
            s.setdefault("kind", "ours")
            self._want(not set(s) - SERIES_KEYS, f"series {s['name']}: no such key: {sorted(set(s) - SERIES_KEYS)}")
            self._want(s["kind"] in ("ours", "published", "ideal"), "series.kind: ours, published or ideal")
            self._want(s["kind"] == "ours" or ("values" in s) != ("of" in s), f"series {s['name']}: values, or of")
            self._want("of" not in s or s["of"] in names, f"series {s['name']}: of: no such series")
            self._want("values" not in s or len(s["values"]) == len(self.places),
                       f"series {s['name']}: {len(self.places)} values are wanted")

    def ours(self):
        return [s for s in self.series if s["kind"] == "ours"]

    def job(self, series, i):
        """Series that only measure something else share their runs."""
        same = next(s for s in self.ours() if s.get("set") == series.get("set"))
        return f"{self.name}.{self.series.index(same)}.{i}"

    def scenarios(self):
        """By name of the job."""
        jobs = {}
        for s in self.ours():
            for i, place in enumerate(self.places):
                scenario = merge(merge(self.table.get("scenario", {}), place.get("set", {})), s.get("set", {}))
                jobs[self.job(s, i)] = anchor(scenario, self.path.parent)
        return jobs

    def _key(self, series, key, default=None):
        return series.get(key, self.table.get(key, default))

    def _measure(self, series, result):
        metrics = result["metrics"]
        value = 1.0
        for key, power in (("metric", 1), ("over", -1)):
            name = self._key(series, key)
            if not name or name == "none":
                continue
            self._want(name in metrics, f"{name}: no such metric in {result['scenario']}")
            value = value * metrics[name] if power > 0 else value / metrics[name] if metrics[name] else math.nan
        if metrics["unfinished"]:
            return math.inf
        return self._key(series, "plus", 0) + value * self._key(series, "scale", 1)

    def points(self, folder):
        """Rows (series, x, low, high): of what ran, and of what is published. x: a label, or a time."""
        if self.chart == "time":
            return self._over_time(folder)
        rows = []
        for s in self.series:
            source = next((o for o in self.series if o["name"] == s.get("of")), s)
            for i, place in enumerate(self.places):
                if "values" in s:
                    value = s["values"][i]
                    low, high = value if isinstance(value, list) else (value, value)
                else:
                    low = high = self._measure(s, folder.result(self.job(source, i)))
                rows.append((s["name"], place["label"], float(low), float(high)))
        return rows

    def _over_time(self, folder):
        rows = []
        for s in self.series:
            if s["kind"] != "ours":
                value = float(s["values"][0])
                rows.append((s["name"], "0", value, value))
                continue
            result = folder.result(self.job(s, 0))
            goodput, scale = result["goodput"], self._key(s, "scale", 1)
            rows += [(s["name"], f"{i * goodput['bucket_us']:g}", v * scale, v * scale)
                     for i, v in enumerate(goodput["gbps"])]
        return rows


def all_figures():
    return [Figure(p) for p in sorted(FOLDER.glob("*.toml"))]


def find(name):
    """A figure of this project by its name, or any file."""
    path = pathlib.Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if not path.exists():
        raise Mistake(f"{name}: no such figure; mrcsim reproduce lists them")
    return Figure(path)
