#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""errors.py [ERRORS.TXT]: is the table of errors whole, and does what it names exist?

Every call of api.txt is in it; every error of the listing is; every error number that the library's
sources or manual pages name for a call is provoked, or has a reason not to be; what provokes it stands where the
table says; and refusals.cc provokes nothing that the table does not have. Prints TAP.
"""
import errno
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
LIB = os.path.join(TOP, "tools", "lib", "mrc")
# What the listing names: its text, "Errors:" and the calls' own.
LISTED = {"EINVAL", "EBUSY", "E2BIG", "ENOENT", "EPERM", "EIO", "EOPNOTSUPP", "ETIMEDOUT"}
ERRNO = r"\bE[A-Z0-9]{3,}\b"
# Any call that makes something may say so.
NO_ERROR = {"ENOMEM"}


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def table(name):
    """[(call, errno, where, text)]"""
    out = []
    for line in read(name).splitlines():
        if line and not line.startswith("#"):
            out.append(tuple((line.split(None, 3) + [""])[:4]))
    return out


def calls():
    return re.findall(r"^call .*?\b(\w+)\(", read(HERE, "api.txt"), re.M)


def part(source, name):
    """The text of a function or test case: from its head to the next brace in the first column."""
    head = re.search(r"^(?:TEST_F\w*\(\w+, %s\b|[a-z][\w \*]*\b%s\()" % (name, name), source, re.M)
    return source[head.start():source.index("\n}\n", head.start())] if head else ""


def refusals():
    """{(call, errno): [why]} of refusals.cc."""
    names = dict(re.findall(r'\*?(\w+) = "(mrc_ctl_\w+)"', read(HERE, "refusals.h")))
    out = {}
    for alias, err, why in re.findall(r'^    \{(\w+), (E\w+), "([^"]*)"', read(HERE, "refusals.cc"), re.M):
        out.setdefault((names[alias], err), []).append(why)
    return out


def provoked(row):
    call, err, where, text = row
    if where == "-":
        return bool(text)
    if where == "refusals.cc":
        return text in refusals().get((call, err), [])
    file, _, name = where.partition(":")
    found = part(read(HERE, file), name)
    # Polling says -1 or less, and no number; mpair.c makes calls for tests.
    return bool(text) and text in found and (err in text or "EXPECT_GT(0" in text) and \
        (call in found or "mpair_" in found)


def said_in_sources():
    """(call, errno): what a public call's own body returns, and its messages name."""
    out = set()
    for file in sorted(os.listdir(LIB)):
        if not file.endswith(".c"):
            continue
        source = read(LIB, file)
        for call in calls():
            body = part(source, call)
            out |= {(call, e) for e in re.findall(r"(?:return|mrc_debug\(|mrc_minus\(|mrc_null\()\(?(E[A-Z0-9]+)", body)}
        out |= {(call, err) for err, call in re.findall(r'mrc_debug\((E[A-Z0-9]+), "(mrc_\w+)[:\"]', source)}
    return {p for p in out if p[1] not in NO_ERROR and p[0] in calls()}


def main():
    rows = table(sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "errors.txt"))
    have = {(r[0], r[1]) for r in rows}
    checks = [
        ("every call of the listing is in the table", sorted(set(calls()) - {r[0] for r in rows})),
        ("no other call is", sorted({r[0] for r in rows} - set(calls()))),
        ("every error of the listing is", sorted(LISTED - {r[1] for r in rows})),
        ("none is there twice", sorted({r[:2] for r in rows if [x[:2] for x in rows].count(r[:2]) > 1})),
        ("each is provoked where it says, or has a reason", [r[:3] for r in rows if not provoked(r)]),
        ("what refusals.cc provokes is in it", sorted(set(refusals()) - have)),
        ("what calls return is in it", sorted(said_in_sources() - have)),
    ]
    manual = read(TOP, "Documentation/reference/man/mrc.7") + read(TOP, "Documentation/reference/man/mrc_ctl.7")
    named = {e for e in re.findall(ERRNO, manual) if hasattr(errno, e)} - NO_ERROR
    checks.append(("what the manual names is in it", sorted(named - {r[1] for r in rows})))
    bad = 0
    for i, (what, wrong) in enumerate(checks, 1):
        for w in wrong:
            print("# %s" % (w,))
        print("%sok %d - %s" % ("not " if wrong else "", i, what))
        bad += bool(wrong)
    print("1..%d" % len(checks))
    return 1 if bad else 0


sys.exit(main())
