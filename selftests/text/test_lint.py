#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""test_lint.py - lint.py finds each kind of fault, and no other."""
import pathlib
import sys
import tempfile
import unittest

import lint


class Found(unittest.TestCase):
    def check(self, text, *kinds, name="README.md"):
        with tempfile.TemporaryDirectory() as folder:
            top = pathlib.Path(folder).resolve()
            page = top / name
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text)
            (top / "there.md").write_text("# One `code` heading, twice\n")
            found = [what.split(":")[0].split(" ")[-1] for _, what in lint.findings(page, top)]
        self.assertEqual(found, list(kinds))

    def test_length(self):
        self.check("word " * lint.LONGEST + "\n")
        self.check("word " * (lint.LONGEST + 1) + "\n", "words")
        self.check("- " + "word " * 20 + "\n- " + "word " * 20 + "\n")
        self.check("word " * 20 + "end.\n" + "Word " * 20 + "\n")

    def test_code_and_tables_are_no_prose(self):
        self.check("    " + "word " * 40 + "\n")
        self.check("```\n" + "word " * 40 + "\n```\n")
        self.check("| " + "word " * 40 + "|\n")
        self.check("see `" + "word " * 40 + "`\n")

    def test_after_code_there_is_prose(self):
        self.check("```\ncode\n```\n" + "word " * 40 + "\n", "words")

    def test_dates(self):
        self.check("It took 3 s on 28 November.\n", "date")
        self.check("Of 2026-11-28.\n", "date")
        self.check("| 28 November | 3 |\n", "date")
        self.check("It took 3 s on 28 November.\n", name="Documentation/lab/notes.md")
        self.check("You may see 28 of them.\n")

    def test_subject(self):
        self.check("What is lost comes again.\n", "What")
        self.check("Who waits, loses.\n", "Who")
        self.check("What is it?\n")

    def test_links(self):
        self.check("[a](there.md), [b](https://example.org/x), [c](there.md#one-code-heading-twice)\n")
        self.check("[a](gone.md)\n", "link")
        self.check("| [a](gone.md) |\n", "link")
        self.check("![a](gone.svg)\n", "link")
        self.check("[![a](gone.svg)](there.md)\n", "link")
        self.check("[a](there.md#other)\n", "heading")
        self.check("`[a](gone.md)`\n")

    def test_index(self):
        with tempfile.TemporaryDirectory() as folder:
            top = pathlib.Path(folder).resolve()
            (top / "Documentation").mkdir()
            index, page = top / lint.INDEX, top / "Documentation/page.md"
            index.write_text("[p](page.md)\n")
            page.write_text("Text.\n")
            self.assertEqual(lint.unlisted(top, [index, page]), [])
            index.write_text("nothing\n")
            self.assertEqual(lint.unlisted(top, [index, page]), ["Documentation/page.md"])


if __name__ == "__main__":
    sys.exit(unittest.main())
