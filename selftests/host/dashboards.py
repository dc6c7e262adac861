#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Checks Grafana dashboards by the rules of Grafana's published schema.

    dashboards.py [--told FILE] BOARD...      prints a line for each violation; exit status 1 if there is one
    dashboards.py --mutants BOARD...          breaks the boards in many ways, and prints each way that is not found

The rules: kinds/dashboard/dashboard_kind.cue of grafana/grafana (types, closed structures, words, grid), the panel
options of timeseries, stat and table, the queries of its Prometheus data source, and the names of its units. Beyond the
schema: ids and places are unique, variables are defined, each query has text. FILE is an exposition of metrics: labels
and metrics that it does not have are violations.
"""
import argparse
import copy
import json
import re
import sys

UNITS = set("""none string short percent percentunit sishort hex0x hex sci locale bool bool_yes_no bool_on_off
    bits bytes kbytes mbytes gbytes tbytes decbits decbytes deckbytes decmbytes decgbytes
    pps binBps Bps binbps bps KBs Kbits MBs Mbits GBs Gbits
    cps ops reqps rps wps iops cpm opm rpm wpm
    hertz ns µs ms s m h d dtdurationms dtdurations timeticks dateTimeAsIso dateTimeFromNow""".split())
REDUCERS = set("""lastNotNull last firstNotNull first min max mean median variance stdDev sum count range delta step
    diff diffperc logmin allIsZero allIsNull changeCount distinctCount allValues uniqueValues""".split())
BUILT_IN = set("__interval __interval_ms __range __range_s __range_ms __rate_interval __from __to __dashboard __org "
               "__user timeFilter".split())
SPAN = re.compile(r"\d+(ms|[smhdwMy])")
MOMENT = re.compile(r"now([-+]\d+[smhdwMy])?(/[smhdwMy])?|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


class Schema:
    """A value's type. check() yields "path: what is wrong"."""

    def __init__(self, kind, test=None, says=""):
        self.kind, self.test, self.says = kind, test, says

    def check(self, value, path):
        # A bool is an int to Python, and none to JSON.
        if not isinstance(value, self.kind) or (isinstance(value, bool) and bool not in self.kind):
            yield f"{path}: {json.dumps(value)[:40]} is not {self.says or self.kind[0].__name__}"
        elif self.test and not self.test(value):
            yield f"{path}: {json.dumps(value)[:40]} is not {self.says}"


class Items(Schema):
    def __init__(self, item, least=0):
        super().__init__((list,))
        self.item, self.least = item, least

    def check(self, value, path):
        yield from super().check(value, path)
        if isinstance(value, list):
            if len(value) < self.least:
                yield f"{path}: is empty"
            for n, one in enumerate(value):
                yield from self.item.check(one, f"{path}[{n}]")


class Fields(Schema):
    """Required fields, optional ones as Maybe, and no others."""

    def __init__(self, **fields):
        super().__init__((dict,))
        self.fields = fields
        self.required = {k for k, v in self.fields.items() if not isinstance(v, Maybe)}

    def check(self, value, path):
        yield from super().check(value, path)
        if not isinstance(value, dict):
            return
        for name in sorted(self.required - value.keys()):
            yield f"{path}: {name} is missing"
        for name, one in value.items():
            if name in self.fields:
                yield from self.fields[name].check(one, f"{path}.{name}")
            else:
                yield f"{path}: {name} is not in the schema"


class Maybe(Schema):
    def __init__(self, of):
        super().__init__(())
        self.of = of

    def check(self, value, path):
        yield from self.of.check(value, path)


def words(*list_):
    return Schema((str, int), lambda v: v in list_, "one of " + ", ".join(map(str, list_)))


def number(least, most=2**32 - 1):
    return Schema((int,), lambda v: least <= v <= most, f"a whole number in {least} ... {most}")


TEXT = Schema((str,))
NAME = Schema((str,), bool, "a text that is not empty")
FLAG = Schema((bool,))
REAL = Schema((int, float), says="a number")
ANY = Schema((dict,))
SOURCE = Fields(type=words("prometheus"), uid=words("${datasource}"))
GRID = Fields(x=number(0, 23), y=number(0), w=number(1, 24), h=number(1), static=Maybe(FLAG))
STEP = Fields(value=Schema((int, float, type(None)), says="a number or null"), color=NAME)
FIELDS = Fields(
    unit=Maybe(Schema((str,), lambda v: v in UNITS, "a unit of Grafana")), min=Maybe(REAL), max=Maybe(REAL),
    decimals=Maybe(number(0)), displayName=Maybe(TEXT), description=Maybe(TEXT), noValue=Maybe(TEXT),
    filterable=Maybe(FLAG), mappings=Maybe(Items(ANY)), links=Maybe(Items(ANY)), custom=Maybe(ANY),
    color=Maybe(Fields(mode=NAME, fixedColor=Maybe(TEXT), seriesBy=Maybe(words("min", "max", "last")))),
    thresholds=Maybe(Fields(mode=words("absolute", "percentage"), steps=Items(STEP, 1))))
MATCHED = Fields(matcher=Fields(id=NAME, options=Maybe(TEXT)), properties=Items(Fields(id=NAME, value=Maybe(ANY))))
TARGET = Fields(
    refId=NAME, expr=NAME, datasource=SOURCE, legendFormat=Maybe(TEXT), instant=Maybe(FLAG), range=Maybe(FLAG),
    exemplar=Maybe(FLAG), hide=Maybe(FLAG), interval=Maybe(TEXT), editorMode=Maybe(words("code", "builder")),
    format=Maybe(words("time_series", "table", "heatmap")))
REDUCE = Fields(calcs=Items(Schema((str,), lambda v: v in REDUCERS, "a calculation of Grafana"), 1),
                values=Maybe(FLAG), limit=Maybe(number(1)), fields=Maybe(TEXT))
OPTIONS = {
    "timeseries": Fields(
        legend=Fields(displayMode=words("list", "table", "hidden"), placement=words("bottom", "right"),
                      showLegend=Maybe(FLAG), calcs=Maybe(Items(TEXT)), sortBy=Maybe(TEXT), sortDesc=Maybe(FLAG),
                      width=Maybe(number(0))),
        tooltip=Fields(mode=words("single", "multi", "none"), sort=Maybe(words("none", "asc", "desc"))),
        timezone=Maybe(Items(TEXT))),
    "stat": Fields(
        reduceOptions=REDUCE, colorMode=Maybe(words("value", "background", "background_solid", "none")),
        graphMode=Maybe(words("none", "line", "area")), justifyMode=Maybe(words("auto", "center")),
        textMode=Maybe(words("auto", "value", "value_and_name", "name", "none")),
        orientation=Maybe(words("auto", "vertical", "horizontal")), text=Maybe(ANY), wideLayout=Maybe(FLAG)),
    "table": Fields(
        showHeader=Maybe(FLAG), cellHeight=Maybe(words("sm", "md", "lg")), footer=Maybe(ANY),
        frameIndex=Maybe(number(0)),
        sortBy=Maybe(Items(Fields(displayName=TEXT, desc=Maybe(FLAG))))),
}
PANEL = {
    kind: Fields(
        id=number(1), type=words(kind), title=NAME, description=Maybe(TEXT), datasource=SOURCE, gridPos=GRID,
        targets=Items(TARGET, 1), options=options, transparent=Maybe(FLAG), links=Maybe(Items(ANY)),
        fieldConfig=Fields(defaults=FIELDS, overrides=Items(MATCHED)), interval=Maybe(TEXT), repeat=Maybe(TEXT),
        repeatDirection=Maybe(words("h", "v")), maxDataPoints=Maybe(number(1)), pluginVersion=Maybe(TEXT),
        transformations=Maybe(Items(Fields(id=NAME, options=ANY, disabled=Maybe(FLAG)))))
    for kind, options in OPTIONS.items()}
VARIABLE = Fields(
    name=Schema((str,), lambda v: re.fullmatch(r"\w+", v), "a name"),
    type=words("query", "datasource", "custom", "interval", "textbox", "constant"),
    query=NAME, label=Maybe(TEXT), datasource=Maybe(SOURCE), refresh=Maybe(words(0, 1, 2)), hide=Maybe(words(0, 1, 2)),
    includeAll=Maybe(FLAG), multi=Maybe(FLAG), regex=Maybe(TEXT), sort=Maybe(number(0, 8)), description=Maybe(TEXT))
BOARD = Fields(
    uid=Schema((str,), lambda v: re.fullmatch(r"[\w-]{1,40}", v), "an identifier of at most 40 characters"),
    title=NAME, description=Maybe(TEXT), tags=Maybe(Items(NAME)), schemaVersion=number(38, 65535),
    version=Maybe(number(0)),
    editable=Maybe(FLAG), graphTooltip=Maybe(words(0, 1, 2)), style=Maybe(words("dark", "light")),
    refresh=Maybe(Schema((str,), SPAN.fullmatch, "a time")), liveNow=Maybe(FLAG), weekStart=Maybe(TEXT),
    time=Maybe(Fields(**{k: Schema((str,), MOMENT.fullmatch, "a moment") for k in ("from", "to")})),
    timezone=Maybe(Schema((str,), lambda v: v in ("browser", "utc", "") or "/" in v, "a time zone")),
    templating=Fields(list=Items(VARIABLE)), annotations=Maybe(Fields(list=Items(ANY))), links=Maybe(Items(ANY)),
    panels=Items(Schema((dict,)), 1))
BOARD.fields["SPDX-License-Identifier"] = TEXT      # Grafana ignores it
BOARD.required.add("SPDX-License-Identifier")


def told(text):
    """Metrics and labels of an exposition. Those of histograms are told by their suffixes, too."""
    metrics = set(re.findall(r"^# TYPE (\S+)", text, re.M)) | set(re.findall(r"^(\w+)[{ ]", text, re.M))
    return metrics, set(re.findall(r'[{,](\w+)="', text)) | {"instance", "job"}


def queries(board):
    """(path, query, legend) of panels and variables."""
    for p in board["panels"]:
        for n, t in enumerate(p["targets"]):
            yield f"{p['title']}.targets[{n}]", t["expr"], t.get("legendFormat", "")
    for v in board["templating"]["list"]:
        if v["type"] == "query":
            yield f"variable {v['name']}", v["query"], ""


def by_reference(board, metrics, labels):
    names = [v["name"] for v in board["templating"]["list"]]
    for n in sorted({n for n in names if names.count(n) > 1}):
        yield f"two variables are named {n}"
    if not any(v["name"] == "datasource" and v["type"] == "datasource" for v in board["templating"]["list"]):
        yield "no variable chooses the data source"
    for v in board["templating"]["list"]:
        if v["type"] == "query" and "datasource" not in v:
            yield f"variable {v['name']} has no data source"
    for path, query, legend in queries(board):
        for name in re.findall(r"\$\{?(\w+)", query):
            if name not in names and name not in BUILT_IN:
                yield f"{path}: ${name} is no variable"
        for opening, closing in ("()", "{}", "[]"):
            if query.count(opening) != query.count(closing):
                yield f"{path}: {opening} and {closing} do not match"
        if metrics:
            for name in re.findall(r"\bmrcd?_\w+", query):
                if name not in metrics:
                    yield f"{path}: {name} is no metric of mrcd"
            for name in re.findall(r"\{\{(\w+)\}\}", legend):
                if name not in labels:
                    yield f"{path}: {name} is no label of mrcd"


def by_place(board):
    ids, taken = set(), {}
    for p in board["panels"]:
        if p["id"] in ids:
            yield f"two panels have the id {p['id']}"
        ids.add(p["id"])
        g = p["gridPos"]
        if g["x"] + g["w"] > 24:
            yield f"{p['title']}: leaves the grid of 24 columns"
        for place in ((x, y) for x in range(g["x"], g["x"] + g["w"]) for y in range(g["y"], g["y"] + g["h"])):
            if taken.setdefault(place, p) is not p:
                yield f"{p['title']}: lies over {taken[place]['title']}"
                break
        refs = [t["refId"] for t in p["targets"]]
        if len(refs) != len(set(refs)):
            yield f"{p['title']}: two targets have one refId"
        steps = p["fieldConfig"]["defaults"].get("thresholds", {}).get("steps", [])
        values = [s["value"] for s in steps]
        if values and (values[0] is not None or None in values[1:] or values[1:] != sorted(values[1:])):
            yield f"{p['title']}: thresholds are not in order, the first without a value"


def violations(board, metrics=(), labels=()):
    found = list(BOARD.check(board, "dashboard"))
    if not found:
        for n, p in enumerate(board["panels"]):
            path = f"panels[{n}] {p.get('title', '')}"
            if p.get("type") in PANEL:
                found += PANEL[p["type"]].check(p, path)
            else:
                found.append(f"{path}: {json.dumps(p.get('type'))} is no panel that this check knows")
    # What follows reads fields that are there.
    return found or [*by_place(board), *by_reference(board, metrics, labels)]


def mutants(board):
    """(name, board): each is wrong in one way."""
    def of(name, change):
        other = copy.deepcopy(board)
        change(other)
        return name, other

    def panel(name, change, n=0):
        return of(name, lambda b: change(b["panels"][n]))

    def typed(kind, name, change):
        for n, p in enumerate(board["panels"]):
            if p["type"] == kind:
                yield panel(name, change, n)
                return

    yield of("no title", lambda b: b.pop("title"))
    yield of("uid too long", lambda b: b.update(uid="m" * 41))
    yield of("schemaVersion as text", lambda b: b.update(schemaVersion="38"))
    yield of("refresh in words", lambda b: b.update(refresh="often"))
    yield of("from nowhere", lambda b: b["time"].update({"from": "yesterday"}))
    yield of("editable as number", lambda b: b.update(editable=1))
    yield of("unknown field", lambda b: b.update(pannels=[]))
    yield of("no panel", lambda b: b.update(panels=[]))
    yield of("one id twice", lambda b: b["panels"][1].update(id=b["panels"][0]["id"]))
    yield of("one place twice", lambda b: b["panels"][1].update(gridPos=b["panels"][0]["gridPos"]))
    yield of("no variable of the data source", lambda b: b["templating"]["list"].pop(0))
    yield of("unknown type of variable", lambda b: b["templating"]["list"][0].update(type="source"))
    yield panel("beyond the grid", lambda p: p["gridPos"].update(x=20, w=12))
    yield panel("no width", lambda p: p["gridPos"].update(w=0))
    yield panel("half a row", lambda p: p["gridPos"].update(h=4.5))
    yield panel("unknown type", lambda p: p.update(type="graf"))
    yield panel("empty title", lambda p: p.update(title=""))
    yield panel("no target", lambda p: p.update(targets=[]))
    yield panel("no refId", lambda p: p["targets"][0].pop("refId"))
    yield panel("one refId twice", lambda p: p["targets"].append(p["targets"][0]))
    yield panel("empty query", lambda p: p["targets"][0].update(expr=""))
    yield panel("query with an open bracket", lambda p: p["targets"][0].update(expr="sum(mrc_qps"))
    yield panel("undefined variable", lambda p: p["targets"][0].update(expr='mrc_qps{instance="$hsot"}'))
    yield panel("unknown metric", lambda p: p["targets"][0].update(expr="mrc_qpz"))
    yield panel("unknown label", lambda p: p["targets"][0].update(legendFormat="{{plain}}"))
    yield panel("unknown format", lambda p: p["targets"][0].update(format="tabular"))
    yield panel("another data source", lambda p: p["datasource"].update(uid="prometheus1"))
    yield panel("another data source of a target", lambda p: p["targets"][0]["datasource"].update(type="loki"))
    yield panel("unknown unit", lambda p: p["fieldConfig"]["defaults"].update(unit="packets/s"))
    yield panel("minimum as text", lambda p: p["fieldConfig"]["defaults"].update(min="0"))
    yield panel("no overrides", lambda p: p["fieldConfig"].pop("overrides"))
    yield panel("unknown option", lambda p: p["options"].update(legnd={}))
    yield from typed("stat", "unknown calculation", lambda p: p["options"]["reduceOptions"].update(calcs=["latest"]))
    yield from typed("stat", "unknown colour mode", lambda p: p["options"].update(colorMode="backgrnd"))
    yield from typed("stat", "thresholds in disorder", lambda p: p["fieldConfig"]["defaults"].update(
        thresholds={"mode": "absolute", "steps": [{"value": 1, "color": "red"}, {"value": None, "color": "green"}]}))
    yield from typed("timeseries", "legend on the left", lambda p: p["options"]["legend"].update(placement="left"))
    yield from typed("timeseries", "tooltip of all", lambda p: p["options"]["tooltip"].update(mode="all"))


def main():
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--told", metavar="FILE", help="exposition of mrcd's metrics")
    ask.add_argument("--mutants", action="store_true", help="try faults instead")
    ask.add_argument("board", nargs="+")
    args = ask.parse_args()
    facts = told(open(args.told).read()) if args.told else ((), ())
    wrong = tried = 0
    for path in args.board:
        with open(path) as f:
            board = json.load(f)
        if args.mutants:
            for name, mutant in mutants(board):
                tried += 1
                if not violations(mutant, *facts):
                    wrong += 1
                    print(f"{path}: is not found: {name}")
        else:
            for text in violations(board, *facts):
                wrong += 1
                print(f"{path}: {text}")
    if args.mutants:
        print(f"{tried} mutants, {wrong} not found")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
