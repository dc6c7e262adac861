#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""tokens.py ENGINE FILE FOLDER - one mutant for each operator, constant and truth value of FILE.

FILE is relative to ENGINE. Writes patches as run.sh reads them. Survivors point at
decisions that no unit test pins down; a few change nothing (x > y ? x - y : 0 with >=).
"""
import difflib
import os
import re
import sys

# What is looked for, what stands in its place. None: twice the number.
RULES = [
    (r"(?<![<>=\-])<(?![<=])", "<="), (r"(?<![<>=\-])>(?![>=])", ">="), (r"<=", "<"), (r"(?<!>)>=", ">"),
    (r"==", "!="), (r"!=", "=="), (r"&&", "||"), (r"\|\|", "&&"),
    (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " / "), (r" / ", " * "), (r" << ", " >> "),
    (r" \+= ", " -= "), (r" -= ", " += "),
    (r"\bmin_t\b", "max_t"), (r"\bmax_t\b", "min_t"), (r"\bmin\(", "max("), (r"\bmax\(", "min("),
    (r"(?<=[(\s])!(?=[\w(])", ""), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    (r"\b(?:[2-9]|[1-9]\d+)(?=(?:u|ull)?\b)", None),
]
# No decisions: declarations, checks, what onlookers see.
PASSED_BY = re.compile(r"\s*(case|struct|const struct|static const|#include|#ifndef|#endif)\b|.*\bmrc_(assert|trace)\b")


def mutants(text):
    """(line number, column, mutated line) of each."""
    blank = re.sub(r'/\*.*?\*/|"(?:\\.|[^"\\])*"', lambda m: re.sub(r"[^\n]", "\0", m.group(0)), text, flags=re.S)
    lines, depth = text.split("\n"), 0
    for i, line in enumerate(blank.split("\n")):
        if (depth or line.startswith("#define")) and not PASSED_BY.match(line):
            for pattern, instead in RULES:
                for m in re.finditer(pattern, line):
                    new = str(2 * int(m.group(0))) if instead is None else instead
                    yield i, m.start(), lines[i][:m.start()] + new + lines[i][m.end():]
        depth += line.count("{") - line.count("}")


def main():
    engine, name, folder = sys.argv[1:4]
    with open(os.path.join(engine, name)) as f:
        text = f.read()
    unit = os.path.basename(name).rsplit(".", 1)[0].removeprefix("mrc_")
    old = text.splitlines(keepends=True)
    os.makedirs(folder, exist_ok=True)
    for i, column, line in mutants(text):
        new = old[:i] + [line + "\n"] + old[i + 1:]
        with open(os.path.join(folder, f"{unit}-{i + 1}-{column + 1}.patch"), "w") as f:
            f.write(f"What: {old[i].strip()} becomes {line.strip()}\nTest: test_{unit}\n")
            f.writelines(difflib.unified_diff(old, new, f"a/kernel/engine/{name}", f"b/kernel/engine/{name}", n=1))


if __name__ == "__main__":
    main()
