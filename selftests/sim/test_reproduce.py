#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""test_reproduce.py - the scripts of "mrcsim reproduce" and "mrcsim sweep", without a simulator."""
import pathlib
import sys
import tempfile
import tomllib
import unittest
import xml.etree.ElementTree as xml

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tools/sim/reproduce"))
import chart  # noqa: E402
import figure as figures  # noqa: E402
import jobs  # noqa: E402
import scenarios  # noqa: E402
import sweep  # noqa: E402
import table  # noqa: E402

SMALL = HERE / "small.toml"


class Made:
    """A folder whose runs are given."""

    def __init__(self, metrics, goodput=()):
        self.metrics, self.goodput = metrics, goodput

    def result(self, name):
        return {"scenario": name, "hash": "0", "metrics": {"unfinished": 0, **self.metrics},
                "goodput": {"bucket_us": 5.0, "gbps": list(self.goodput)}}


def small(**changes):
    """small.toml with other text for some keys."""
    text = SMALL.read_text()
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, new)
    folder = tempfile.TemporaryDirectory()
    path = pathlib.Path(folder.name) / "x.toml"
    path.write_text(text)
    try:
        return figures.Figure(path)
    finally:
        folder.cleanup()


class Scenarios(unittest.TestCase):
    def test_tables_merge_and_lists_append(self):
        base = {"fabric": {"hosts": 2, "t1s": 4}, "fault": [{"t1": 1}]}
        out = scenarios.merge(base, {"fabric": {"hosts": 8}, "fault": [{"t1": 2}]})
        self.assertEqual(out, {"fabric": {"hosts": 8, "t1s": 4}, "fault": [{"t1": 1}, {"t1": 2}]})
        self.assertEqual(base["fault"], [{"t1": 1}])

    def test_a_workloads_file_is_found_from_any_folder(self):
        made = scenarios.anchor({"workload": {"file": "x.csv", "kind": "trace"}}, pathlib.Path("/a/b"))
        self.assertEqual(made["workload"], {"file": "/a/b/x.csv", "kind": "trace"})
        self.assertEqual(scenarios.anchor({"workload": {}}, pathlib.Path("/a")), {"workload": {}})

    def test_dead_cables_are_so_many_and_grow(self):
        def dead(percent):
            made = scenarios.expand({"fabric": {"hosts": 64, "hosts_per_t0": 8, "t1s": 10},
                                     "dead_cables": [{"percent": percent, "seed": 44}]})
            self.assertNotIn("dead_cables", made)
            return {(f["t0"], f["t1"]) for f in made["fault"]}
        self.assertEqual(len(dead(10)), 8)
        self.assertEqual(len(dead(50)), 40)
        self.assertLess(dead(10), dead(50))

    def test_dead_cables_refused(self):
        for bad in ({"percent": 101}, {"percent": "x"}, {"per": 1}, {"count": -1}, {"count": 10**9}):
            with self.assertRaises(scenarios.Mistake):
                scenarios.expand({"dead_cables": [bad]})

    def test_dead_cables_of_planes(self):
        made = scenarios.expand({"dead_cables": [{"count": 3, "planes": 2}]})["fault"]
        self.assertEqual([f["plane"] for f in made], [0, 0, 0, 1, 1, 1])

    def test_cuts(self):
        made = scenarios.expand({"cuts": [{"count": 2, "plane": 1, "at_us": 5, "every_us": 7}]})
        self.assertEqual([(f["t1"], f["at_us"]) for f in made["fault"]], [(0, 5), (1, 12)])

    def test_ranges_of_flows(self):
        made = scenarios.expand({"flow_range": [{"src": 0, "dst": 8, "hosts": 2, "bytes": 5}],
                                 "fan_in": [{"src": 3, "dst": 0, "hosts": 2}], "flow": [{"src": 7, "dst": 6}]})
        self.assertEqual(made, {"flow": [{"src": 7, "dst": 6}, {"src": 0, "dst": 8, "bytes": 5}, {"src": 1, "dst": 9, "bytes": 5},
                                         {"src": 3, "dst": 0}, {"src": 4, "dst": 0}]})

    def test_what_is_written_reads_the_same(self):
        table = {"name": 'a "b"', "fabric": {"trim": False, "hosts": 3}, "fault": [{"kind": "plane"}, {"t1": 2}]}
        self.assertEqual(tomllib.loads(scenarios.to_toml(table)), table)


class Figures(unittest.TestCase):
    def test_runs_of_each_series_at_each_place(self):
        made = small().scenarios()
        self.assertEqual(len(made), 4)
        self.assertEqual([m["fabric"]["planes"] for m in made.values()], [1, 2, 1, 2])
        self.assertEqual(["dead_cables" in m for m in made.values()], [False, False, True, True])

    def test_another_metric_needs_no_run_of_its_own(self):
        made = small(**{'set.dead_cables = [{ percent = 5 }]': 'metric = "fct_mean_us"'}).scenarios()
        self.assertEqual(len(made), 2)

    def test_points(self):
        rows = small().points(Made({"makespan_us": 25.0, "ideal_us": 20.0}))
        self.assertEqual(rows[0], ("ours", "1", 25.0, 25.0))
        self.assertIn(("theirs", "1", 20.0, 30.0), rows)
        self.assertIn(("ideal", "2", 20.0, 20.0), rows)

    def test_what_did_not_end_says_so(self):
        f = small()
        rows = f.points(Made({"makespan_us": 25.0, "ideal_us": 20.0, "unfinished": 1}))
        self.assertEqual(rows[0][2], float("inf"))
        self.assertIn("not ended", table.markdown(f, rows))
        self.assertEqual(table.against(f, rows, "1"), "worse")
        self.assertEqual(table.from_csv(table.to_csv(rows), "x")[0], rows[0])

    def test_mistakes_are_told(self):
        for old, new, said in (('chart = "bars"', 'chart = "pie"', "chart"), ("values = [[20, 30], nan]", "values = [1]", "2 values"),
                               ('of = "ours"', 'of = "nobody"', "of: no such"), ("[x]", "[y]", "y: no such key"),
                               ('name = "theirs"', 'name = "ours"', "of its own"), ('title = "Small"', "title = 5", "title")):
            with self.assertRaisesRegex(scenarios.Mistake, said):
                small(**{old: new})

    def test_a_metric_that_no_run_has(self):
        with self.assertRaisesRegex(scenarios.Mistake, "no such metric"):
            small(**{"makespan_us": "makespan"}).points(Made({"makespan_us": 1.0}))

    def test_all_that_are_published_here_load(self):
        self.assertGreaterEqual(len(figures.all_figures()), 3)


class Tables(unittest.TestCase):
    def rows(self, ours):
        return small().points(Made({"makespan_us": ours, "ideal_us": 20.0}))

    def test_csv_reads_the_same(self):
        text = table.to_csv(self.rows(25.0), "abc")
        self.assertEqual(table.engine_of(text), "abc")
        self.assertEqual(table.to_csv(table.from_csv(text, "x"), "abc"), text)
        with self.assertRaises(scenarios.Mistake):
            table.from_csv("series,x\n", "x")

    def test_against(self):
        f = small()
        self.assertEqual(table.against(f, self.rows(25.0), "1"), "within")
        self.assertEqual(table.against(f, self.rows(33.0), "1"), "10 % worse")
        self.assertEqual(table.against(f, self.rows(10.0), "1"), "50 % better")
        self.assertEqual(table.against(f, self.rows(10.0), "2"), "-")

    def test_better_than_the_ideal_is_a_mistake(self):
        self.assertEqual(table.impossible(small(), self.rows(25.0)), [])
        self.assertEqual(len(table.impossible(small(), self.rows(15.0))), 4)


class Charts(unittest.TestCase):
    def drawn(self, f, rows):
        root = xml.fromstring(chart.draw(f, rows))
        return ["".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text")]

    def test_bars(self):
        f = small()
        said = self.drawn(f, f.points(Made({"makespan_us": 25.0, "ideal_us": 20.0})))
        for text in (f.question, "µs", "planes", "ours", "theirs", "25.0", "20.0 to 30.0"):
            self.assertIn(text, said)

    def test_lines(self):
        f = small(**{'chart = "bars"': 'chart = "lines"', 'label = "1"': 'label = "1"\nvalue = 1',
                     'label = "2"': 'label = "2"\nvalue = 2'})
        said = self.drawn(f, f.points(Made({"makespan_us": 25.0, "ideal_us": 20.0})))
        self.assertIn("a cable dead", said)

    def test_time(self):
        f = small(**{'chart = "bars"': 'chart = "time"', "values = [[20, 30], nan]": "values = [30, 30]",
                     'of = "ours"\nmetric = "ideal_us"': "values = [40, 40]"})
        rows = f.points(Made({}, [10, 20, 30, 30]))
        self.assertIn(("ours", "15", 30, 30), rows)
        self.assertIn("ours", self.drawn(f, rows))

    def test_labels_do_not_lie_on_each_other(self):
        ys = [y for y, _ in chart.spread([(100, "a"), (100, "b"), (101, "c")])]
        self.assertEqual(ys, [100, 115, 130])

    def test_steps(self):
        self.assertEqual([chart.nice_step(t) for t in (1, 63.7, 240, 108)], [0.2, 20, 50, 25])


class Sweeps(unittest.TestCase):
    def test_every_value_with_every_other(self):
        s = sweep.Sweep(HERE / "sweep.toml")
        made = s.scenarios()
        self.assertEqual(list(made), [f"{i:05}" for i in range(1, 9)])
        self.assertEqual(made["00008"]["host"]["evs"], 4)
        self.assertEqual(made["00008"]["fabric"], {"hosts": 16, "hosts_per_t0": 4, "t1s": 4, "planes": 2})

    def test_merged_in_the_files_order(self):
        s = sweep.Sweep(HERE / "sweep.toml")
        text = s.merged(Made({"makespan_us": 1, "rtx": 2, "lost_per_flow_max": 3, "wall_s": 4}))
        head, first, *_ = text.splitlines()
        self.assertEqual(head, "host.evs,fabric.planes,run.seed,makespan_us,rtx,lost_per_flow_max,unfinished,hash")
        self.assertEqual(first, "2,1,1,1,2,3,0,0")
        s.metrics = []
        self.assertNotIn("wall_s", s.merged(Made({"wall_s": 4})).splitlines()[0])

    def test_mistakes_are_told(self):
        for text, said in (("axis = 1", "axis"), ("[[axis]]\nkey = 1\nvalues = [1]", "key and values"), ("x = 1", "x: no such"),
                           ("[[axis]]\nkey = 'a'\nvalues = []", "no values"), ("a = ", "x.toml"), ("metrics = 1", "metrics")):
            with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(scenarios.Mistake, said):
                path = pathlib.Path(folder) / "x.toml"
                path.write_text(text)
                sweep.Sweep(path)


class Jobs(unittest.TestCase):
    def test_a_changed_scenario_loses_its_result(self):
        with tempfile.TemporaryDirectory() as path:
            jobs.Folder(path, {"a": {"fabric": {"hosts": 2}}, "b": {}})
            here = pathlib.Path(path)
            for name in "ab":
                (here / f"{name}.json").write_text("{}")
            folder = jobs.Folder(path, {"a": {"fabric": {"hosts": 4}}, "b": {}})
            self.assertFalse((here / "a.json").exists())
            self.assertEqual(folder.result("b"), {})
            with self.assertRaisesRegex(scenarios.Mistake, "has not run"):
                folder.result("a")

    def test_a_line_for_each_job(self):
        with tempfile.TemporaryDirectory() as path:
            folder = jobs.Folder(path, {"a": {}, "b": {}})
            self.assertEqual(len(list(folder.lines())), 2)
            self.assertIn("--array=1-2", folder.slurm())


if __name__ == "__main__":
    result = unittest.main(exit=False, argv=sys.argv[:1]).result
    sys.exit(0 if result.wasSuccessful() and result.testsRun else 1)
