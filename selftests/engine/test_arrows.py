#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""test_arrows.py [engine-folder] - gate 2 of the engine: its calls run one way.

Reads the engine's sources: who defines which function (static inlines of headers, too),
who names it. The order is LEVELS: a file may call files of earlier levels; within a
level, files may not call each other unless the level says they are in order. What breaks
this is listed in KNOWN until it is mended; an entry there that is mended is an error, too.
Prints TAP lines without numbers; status 1 if any failed.
"""
import os
import re
import sys

# Lowest first. A file that is not here is an error. Header inlines count to their file's level.
LEVELS = [
    "env env_user env_kernel",
    "types psn list rand stats",
    "wire evgen entropy damp incast", "ask", "port",
    "udp crc deth",
    "cc_fixed", "nscc_state", "nscc_cfg", "nscc", "cc",
    "credit", "ev", "rot", "share", "plane", "suspect", "blame", "verify", "miss", "probe", "updown",
    "flowlet",
    "rtt", "latest", "resent", "room", "snd", "rack", "sleek", "budget", "rnr", "pto",
    "rcv",
    "msg",
    "mpr", "exec", "defer",
    "sack", "ctl",
    "tx", "ack", "rx",
    "conn",
]
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


def read(folder):
    defined, bodies = {}, []
    for name in sorted(os.listdir(folder)):
        if not name.endswith((".c", ".h")):
            continue
        for func, body in functions(strip(open(os.path.join(folder, name)).read())):
            where = (unit(name), name.endswith(".h"))
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
    level = {u: i for i, line in enumerate(LEVELS) for u in line.split()}
    found = calls(folder)
    bad, seen = [], set()

    for name in sorted(os.listdir(folder)):
        if name.endswith((".c", ".h")) and unit(name) not in level:
            bad.append(f"{name} has no place in the order")
    for caller, to in sorted(found.items()):
        for callee, what in sorted(to.items()):
            if level.get(callee, 99) < level.get(caller, 99):
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
