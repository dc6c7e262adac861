#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""test_lesson.py - lesson.py finds the commands, and tells true output from wrong."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

import lesson

LESSON = """Text.

```console
lab# h1 one
printed 5 of 9
lab# cat >f <<'END'
a
END
lab# two
```

    lab# not this

```console
lab# three
0 lost
...
last
```
"""


class Commands(unittest.TestCase):
    def test_found(self):
        self.assertEqual([s[0] for s in lesson.steps(LESSON)],
                         ["h1 one", "cat >f <<'END'\na\nEND", "two", "three"])
        self.assertEqual([s[1] for s in lesson.steps(LESSON)],
                         [["printed 5 of 9"], [], [], ["0 lost", "...", "last"]])

    def test_transcript(self):
        text = "boot\nlab# a\n1\n2\nlab# b\nlab# c\n3\n"
        self.assertEqual(lesson.transcript(text, ["a", "b", "c", "d"]), ["1\n2\n", "", "3\n", None])


class Compared(unittest.TestCase):
    def same(self, expected, printed, exact=False):
        self.assertIsNone(lesson.differs(expected, printed, exact))

    def other(self, expected, printed, exact=False):
        self.assertIsNotNone(lesson.differs(expected, printed, exact))

    def test_numbers(self):
        self.same(["5 of 9"], ["123 of 7"])
        self.same(["rtt 1.5 ms"], ["rtt 0.042 ms"])
        self.same(["17us"], ["4us"])
        self.other(["5 of 9"], ["0 of 7"])
        self.other(["0 lost"], ["1 lost"])
        self.same(["0 lost"], ["0 lost"])
        self.other(["5 of 9"], ["123 of 7"], exact=True)

    def test_names_and_addresses_are_no_numbers(self):
        self.other(["eth1 up"], ["eth2 up"])
        self.other(["fd00:6d72:63::1"], ["fd00:6d72:63::2"])
        self.other(["10.77.0.1/24"], ["10.77.0.2/24"])

    def test_words_and_blanks(self):
        self.same(["a   b"], ["  a b "])
        self.other(["a up"], ["a down"])
        self.other(["a"], ["a", "b"])
        self.other(["a", "b"], ["a"])

    def test_dots(self):
        self.same(["a ... z"], ["a b c z"])
        self.same(["a", "...", "z"], ["a", "b", "c", "z"])
        self.same(["a", "..."], ["a"])
        self.other(["a", "...", "z"], ["a", "b"])


class Checked(unittest.TestCase):
    def check(self, output):
        """Exit status and TAP for a lesson of one command that expects @output and prints "a"."""
        tap = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(tap):
            path = pathlib.Path(folder, "1-x.md")
            path.write_text(f"```console\nlab# one\n{output}```\n")
            return lesson.check("lab# one\na\n", [path]), tap.getvalue()

    def test_true_output(self):
        self.assertEqual(self.check("a\n"), (0, "ok 1 1-x: one\n1..1\n"))
        self.assertEqual(self.check("a\n...\n")[0], 0)

    def test_dots_alone_are_an_error_of_the_lesson(self):
        for output in ("...\n", "...\n\n...\n"):
            status, tap = self.check(output)
            self.assertEqual(status, 1)
            self.assertTrue(tap.startswith("not ok 1 1-x: one\n# error of the lesson: "), tap)


if __name__ == "__main__":
    sys.exit(unittest.main())
