#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""test_workload.py - the flow lists of "mrcsim workload": what they move, and that their order is the collective's."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/sim/reproduce"))
import workload  # noqa: E402

REDUCING = ("ring", "tree", "double-tree", "halving-doubling")


def heard(flows, ranks):
    """Of whose data each rank may have heard at the end, if data moves only along the dependencies."""
    carries, knows = [], [{r} for r in range(ranks)]
    for src, dst, _, after, _, _ in flows.rows:
        data = {src}.union(*(carries[i] for i in after))
        carries.append(data)
        knows[dst] |= data
    return knows


class Patterns(unittest.TestCase):
    def made(self, pattern, ranks, size=1 << 20, chunks=4):
        return workload.make(pattern, ranks, size, 2.5, chunks)

    def test_order(self):
        """What a flow waits for is before it, and touches its source."""
        for pattern in workload.PATTERNS:
            rows = self.made(pattern, 8).rows
            for i, (src, dst, size, after, compute_us, step) in enumerate(rows):
                self.assertNotEqual(src, dst)
                self.assertGreater(size, 0)
                self.assertGreater(step, 0)
                for a in after:
                    self.assertLess(a, i)
                    self.assertIn(src, rows[a][:2], f"{pattern} {i} waits for {a}")

    def test_everybody_hears_of_everybody(self):
        for pattern in REDUCING:
            for ranks in (2, 4, 8, 16):
                self.assertEqual(heard(self.made(pattern, ranks), ranks), [set(range(ranks))] * ranks, pattern)
        for ranks in (3, 5, 7):
            for pattern in ("ring", "tree", "double-tree"):
                self.assertEqual(heard(self.made(pattern, ranks), ranks), [set(range(ranks))] * ranks, pattern)

    def test_bytes(self):
        """What each rank sends at least: 2 (n - 1) / n of its data; trees: all of it, once up and once down an edge."""
        n, size = 8, 1 << 20
        for pattern in ("ring", "halving-doubling"):
            sent = [0] * n
            for src, _, part, *_ in self.made(pattern, n).rows:
                sent[src] += part
            self.assertEqual(sent, [2 * (n - 1) * size // n] * n, pattern)
        for pattern in ("tree", "double-tree"):
            self.assertEqual(sum(r[2] for r in self.made(pattern, n).rows), 2 * (n - 1) * size, pattern)
        self.assertEqual(sum(r[2] for r in self.made("alltoall", n).rows), (n - 1) * size)

    def test_alltoall_goes_to_each_once(self):
        pairs = {(r[0], r[1]) for r in self.made("alltoall", 6).rows}
        self.assertEqual(len(pairs), 30)

    def test_pipeline_there_and_back(self):
        rows = self.made("pipeline", 4, chunks=3).rows
        self.assertEqual(len(rows), 2 * 3 * 3)
        self.assertEqual(sum(r[1] > r[0] for r in rows), 9)

    def test_refused(self):
        for pattern, ranks, size in (("ring", 1, 10), ("tree", 8, 0), ("halving-doubling", 6, 10)):
            with self.assertRaises(ValueError):
                workload.make(pattern, ranks, size)

    def test_csv(self):
        head, first, second, *_ = workload.make("alltoall", 3, 300, 1.5).csv()
        self.assertEqual((head, first), (workload.HEAD, "0,0,1,100,,1.5,1"))
        self.assertEqual(second, "1,1,2,100,,1.5,1")


if __name__ == "__main__":
    result = unittest.main(exit=False, argv=sys.argv[:1]).result
    sys.exit(0 if result.wasSuccessful() and result.testsRun else 1)
