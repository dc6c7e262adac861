#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""test_arrows.py [engine-folder] - gate 2 of the engine: its calls run one way.

Reads the engine's sources: which file defines each function (static inlines of headers, too), and
which files name it. The order is that of files.mk, lowest first: folders, and the files of each folder. A
file may call files of earlier folders and earlier files of its own folder; headers without a .c lie
below the files of their folder. Calls that break this are listed in KNOWN until they are
mended; an entry that is mended is an error, too.
Prints TAP lines without numbers; status 1 if any failed.
"""
import os
import re
import subprocess
import sys

# "caller callee": calls against the order, in parts that are being rebuilt.
KNOWN = {
    "ev share",		# each change of what is usable changes the shares
}
# Tables of functions, constants and types are no calls; nor is what asserts.
IGNORED = {"mrc_assert"}

HEADER_OF = {"conn_priv": "conn", "conn_calls": "conn"}


def strip(text):
    """Comments and strings away, line structure kept."""
    def blank(m):
        return re.sub(r"[^\n]", " ", m.group(0))
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"', blank, text, flags=re.S)


def functions(text):
    """(name, body) of each function defined at file level; macros are passed by."""
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
    depth, start = 0, 0
    for i, ch in enumerate(text):
        if ch == "{":
            if depth == 0:
                head, at = text[start:i], i
            depth += 1
        elif ch == "}":
            depth -= 1
            if depth == 0:
                m = re.search(r"\b(mrc_\w+)\s*\((?:[^()]|\([^()]*\))*\)\s*$", head)
                if m:
                    yield m.group(1), text[at:i]
                start = i + 1
        elif ch == ";" and depth == 0:
            start = i + 1


def unit(path):
    name = os.path.basename(path).rsplit(".", 1)[0].removeprefix("mrc_")
    return HEADER_OF.get(name, name)


def sources(folder):
    """(room, path) of each source, sorted."""
    for room in sorted(os.listdir(folder)):
        for name in sorted(os.listdir(os.path.join(folder, room))) if "." not in room else []:
            yield room, os.path.join(folder, room, name)


def levels(folder):
    """unit -> its place, by files.mk; and what of the folder has none."""
    mk = "include %s/files.mk\nall:;@echo $(MRC_ENGINE_ROOMS); echo $(MRC_ENGINE_OBJS:.o=)\n" % folder
    rooms, objs = subprocess.run(["make", "-s", "-f", "-"], input=mk, text=True, check=True,
                                 capture_output=True).stdout.splitlines()
    rooms, objs = rooms.split(), objs.split()
    level, lost = {}, []
    for room, path in sources(folder):
        obj = f"{room}/mrc_{unit(path)}"
        if room not in rooms or (path.endswith(".c") and obj not in objs):
            lost.append(f"{path} has no place in files.mk")
        else:
            level[unit(path)] = (rooms.index(room), objs.index(obj) if obj in objs else -1)
    return level, lost


def read(folder):
    defined, bodies = {}, []
    for _, path in sources(folder):
        for func, body in functions(strip(open(path).read())):
            where = (unit(path), path.endswith(".h"))
            defined.setdefault(func, where)
            bodies.append((where, func, body))
    return defined, bodies


def calls(folder):
    """caller unit -> callee unit -> list of "function calls function"."""
    defined, bodies = read(folder)
    found = {}
    for (caller, inline), func, body in bodies:
        for callee in set(re.findall(r"\bmrc_\w+(?=\s*\()", body)) - IGNORED:
            if callee not in defined:
                continue
            to, to_inline = defined[callee]
            # State's own accessors stand in mrc_conn_calls.h for want of a lower place.
            if caller == to or (to == "conn" and to_inline) or (caller == "conn" and inline):
                continue
            found.setdefault(caller, {}).setdefault(to, []).append(f"{func}() calls {callee}()")
    return found


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "../../kernel/engine")
    level, bad = levels(folder)
    found = calls(folder)
    seen = set()

    for caller, to in sorted(found.items()):
        for callee, what in sorted(to.items()):
            if callee not in level or caller not in level or level[callee] < level[caller]:
                continue
            seen.add(f"{caller} {callee}")
            if f"{caller} {callee}" not in KNOWN:
                bad += [f"mrc_{caller} calls up to mrc_{callee}: {w}" for w in sorted(what)]
    bad += [f"{k}: mended, and still in KNOWN" for k in sorted(set(KNOWN) - seen)]
    # It must see something, or it would pass on an empty folder.
    n = sum(len(w) for to in found.values() for w in to.values())
    if n < 100:
        bad.append(f"only {n} calls between files were found")
    for b in bad:
        print("#", b)
    print("not ok" if bad else "ok", "- arrows: calls between the engine's files run one way")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
