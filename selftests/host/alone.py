#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""alone.py GROUP... -- FLAG...: each name in each source means in its group what it means where the source is alone.

A group is a file that includes sources (tools/lib/unity.mk). A name of file scope in one hides a name of a header in
those behind it, and a compiler says nothing. Prints where that is so, and exits 1. Wants libclang for Python."""
import os
import re
import sys

from clang import cindex
from clang.cindex import CursorKind as Kind

NAMES = (Kind.DECL_REF_EXPR, Kind.MEMBER_REF_EXPR, Kind.CALL_EXPR, Kind.OVERLOADED_DECL_REF)


def place(cursor):
    at = cursor.location
    return f"{os.path.realpath(at.file.name)}:{at.line}" if at.file else ""


def meaning(cursor):
    """What has no name outside its file is known by its place."""
    name = cursor.get_usr()
    return place(cursor) if "@aN" in name or not name.startswith("c:@") else name


def collect(found, cursor):
    for child in cursor.get_children():
        to = child.referenced
        if to is not None and to.kind != Kind.NAMESPACE and (child.kind.is_reference() or child.kind in NAMES):
            found.add((child.location.line, child.location.column, child.spelling, meaning(to)))
        collect(found, child)


def meanings(index, path, sources, flags):
    """Of each of @sources, which @path is or includes: lines, columns, names and what they mean."""
    unit = index.parse(path, args=flags)
    for remark in unit.diagnostics:
        if remark.severity >= cindex.Diagnostic.Error:
            sys.exit(f"{path}: {remark.location.file}:{remark.location.line}: {remark.spelling}")
    found = {source: set() for source in sources}
    for top in unit.cursor.get_children():
        file = top.location.file and os.path.realpath(top.location.file.name)
        if file in found:
            collect(found[file], top)
    return found


def main():
    split = sys.argv.index("--")
    groups, flags = sys.argv[1:split], sys.argv[split + 1:]
    index = cindex.Index.create()
    total = differ = 0
    for group in groups:
        with open(group, encoding="utf-8") as file:
            sources = [os.path.realpath(os.path.join(os.path.dirname(group), name))
                       for name in re.findall('#include "(.*)"', file.read())]
        grouped = meanings(index, group, sources, flags)
        for source in sources:
            alone = meanings(index, source, [source], flags)[source]
            total += len(alone)
            for line, column, name, means in sorted(grouped[source] - alone):
                differ += 1
                print(f"{source}:{line}:{column}: {name} is {means} in {group}")
    print(f"{total} names, {differ} differ")
    sys.exit(differ > 0 or total == 0)


main()
