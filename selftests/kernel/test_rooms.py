#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""test_rooms.py [kernel-folder] - the module's folders call one way, down.

Reads includes, and who defines which function and who names it, in all files of kernel/ but
the engine's own (selftests/engine/test_arrows.py judges these). What it asks:

  rooms    a folder includes and calls folders below it in ROOMS, and no other
  circles  inside a folder, no two files need each other, but PAIRS
  headers  what a .c gives to others stands in the header beside it
  names    such a function begins with mrc_ and what the file is about: its first word; one that
           is the file's own does not
  engine   the engine is used through functions: no field of its STATE, and no call of what its
           files ask of each other (INSIDE)

A file and its header are one. Prints TAP lines without numbers; status 1 if any failed.
"""
import os
import re
import sys

# From the ground up; "" is mrc_main.c. Documentation/developer/architecture.md says what each is.
ROOMS = ["engine", "compat", "trace", "core", "path", "mem", "data", "verbs", "device", "genl", ""]
# Files of one folder that need each other, and why they are one idea. None today.
PAIRS = {}
# Functions that are named otherwise, and why.
NAMES = {
    "to_mrc_dev": "as all drivers call it",
    "to_mrc_pd": "likewise",
    "mrc_abi_show": "the name of the file in sysfs",
}
# Structs of the engine whose fields are its own; what it hands out (ops, infos, configurations) is not.
STATE = ("mrc_conn mrc_evset mrc_ev mrc_ev_past mrc_ev_count mrc_evplane mrc_spray mrc_port mrc_ep_req_table mrc_ep_req_slot mrc_damp "
         "mrc_incast mrc_incast_flow mrc_cc mrc_cc_ops mrc_udp mrc_crc mrc_dup mrc_dup_set mrc_entropy").split()
# Headers of the engine that are between its files.
INSIDE = ["mrc_conn_priv.h", "mrc_conn_calls.h"]
# Headers that are no room's: the ABI, the kernel's, what a probe writes.
ELSEWHERE = re.compile(r"linux/|rdma/|mrc_have\.h$")


def strip(text, strings=True):
    """Comments (and strings) away, line structure kept."""
    def blank(m):
        return re.sub(r"[^\n]", " ", m.group(0))
    pattern = r"/\*.*?\*/|//[^\n]*"
    if strings:
        pattern += r'|"(?:\\.|[^"\\\n])*"'
    return re.sub(pattern, blank, text, flags=re.S)


def no_directives(text):
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)


def heads(text):
    """(head, is_definition) of everything at file level."""
    text, depth, start = no_directives(text), 0, 0
    for i, ch in enumerate(text):
        if ch == "{":
            if depth == 0:
                head = text[start:i]
            depth += 1
        elif ch == "}":
            depth -= 1
            if depth == 0:
                yield head, True
                start = i + 1
        elif ch == ";" and depth == 0:
            yield text[start:i], False
            start = i + 1


def function(head):
    """The function that @head declares or begins, or None."""
    m = re.search(r"\b(\w+)\s*\((?:[^()]|\([^()]*\))*\)\s*$", head)
    if not m or "=" in head or re.search(r"\btypedef\b", head) or m.group(1).isupper():
        return None
    before = head[:m.start()].split()
    return m.group(1) if before and not re.match(r"\w+\s*\($", head[m.start():]) else None


class File:
    def __init__(self, top, path):
        self.path = path
        self.room, self.name = os.path.split(path)
        self.room = self.room.split("/")[0]
        self.unit = os.path.join(self.room, self.name.rsplit(".", 1)[0])
        raw = open(os.path.join(top, path)).read()
        self.text = strip(raw)
        self.includes = re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', strip(raw, False), re.M)
        self.public, self.declared, self.own = set(), set(), set()
        for head, body in heads(self.text):
            name = function(head)
            if not name:
                continue
            static = re.search(r"\bstatic\b", head)
            if body and (self.is_header or not static):
                self.public.add(name)
            elif body:
                self.own.add(name)
            elif not static:
                self.declared.add(name)
        self.words = set(re.findall(r"\b[a-zA-Z_]\w+\b", no_directives(self.text)))

    @property
    def is_header(self):
        return self.name.endswith(".h")


def read(top):
    files = []
    for folder, _, names in os.walk(top):
        room = os.path.relpath(folder, top)
        if room.startswith(("compat/probe", "compat/include", "compat/.have")):
            continue
        for name in sorted(names):
            if name.endswith((".c", ".h")) and not name.endswith(".mod.c"):
                files.append(File(top, os.path.normpath(os.path.join(room, name))))
    return files


def arrows(files):
    """unit -> unit it needs -> list of reasons; and what is wrong with the includes."""
    by_path = {f.path: f for f in files}
    given, found, bad = {}, {}, []
    for f in files:
        for name in f.public:
            given.setdefault(name, f.unit)

    def note(f, to, why):
        if to != f.unit:
            found.setdefault(f.unit, {}).setdefault(to, []).append(f"{f.path} {why}")

    for f in files:
        if f.room == "engine":
            continue
        for inc in f.includes:
            if ELSEWHERE.match(inc):
                continue
            to = by_path.get(inc) or (f.room == "compat" and by_path.get(f"compat/{inc}"))
            if not to:
                bad.append(f"{f.path}: \"{inc}\" is not named from kernel/ on")
                continue
            note(f, to.unit, f"includes {inc}")
        for name in f.words & set(given):
            if name not in f.own:
                note(f, given[name], f"uses {name}()")
    return found, bad


def check_rooms(found):
    level = {room: i for i, room in enumerate(ROOMS)}
    for unit, tos in found.items():
        room = os.path.dirname(unit)
        if room not in level:
            yield f"{unit}: the folder has no place in ROOMS"
            continue
        for to, why in tos.items():
            if level.get(os.path.dirname(to), -1) > level[room]:
                yield from (f"an arrow runs up: {w}" for w in why)


def check_circles(found):
    """Files of one folder that reach each other."""
    reach = {}

    def below(unit):
        if unit not in reach:
            reach[unit], todo = set(), [unit]
            while todo:
                for to in found.get(todo.pop(), {}):
                    if os.path.dirname(to) == os.path.dirname(unit) and to not in reach[unit]:
                        reach[unit].add(to)
                        todo.append(to)
        return reach[unit]

    used = set()
    for unit in sorted(found):
        for to in sorted(below(unit)):
            if unit < to and unit in below(to):
                pair = f"{unit} {to}"
                used.add(pair)
                if pair not in PAIRS:
                    why = found[unit].get(to, []) + found.get(to, {}).get(unit, [])
                    yield f"a circle: {pair}: {'; '.join(why[:4])}"
    yield from (f"{p}: mended, and still in PAIRS" for p in sorted(set(PAIRS) - used))


def check_headers(files):
    by_path = {f.path: f for f in files}
    for f in files:
        if f.room in ("engine", "compat", "") or f.is_header:
            continue
        beside = by_path.get(f.path[:-1] + "h")
        if not beside:
            yield f"{f.path} has no header beside it"
            continue
        yield from (f"{f.path}: {n}() is not in its header" for n in sorted(f.public - beside.declared))
        yield from (f"{beside.path}: {n}() is defined elsewhere or nowhere"
                    for n in sorted(beside.declared - f.public))


def check_names(files):
    for f in files:
        if f.room in ("engine", "compat", ""):
            continue
        noun = f.name.removeprefix("mrc_").split(".")[0].split("_")[0]
        prefixes = tuple(f"mrc_{n}_" for n in (noun, noun.rstrip("s")))
        for name in sorted(f.public):
            if name not in NAMES and not (name + "_").startswith(prefixes):
                yield f"{f.path}: {name}() does not begin with {prefixes[-1]}"
        for name in sorted(f.own):
            if name.startswith("mrc_") and name not in NAMES:
                yield f"{f.path}: {name}() is its own, and named as if others could call it"


def fields(files):
    """Names of the fields of each of the engine's STATE."""
    found = {}
    for f in files:
        for m in re.finditer(rf"\bstruct ({'|'.join(STATE)}) \{{", f.text):
            depth, end = 1, m.end()
            while depth:
                depth += {"{": 1, "}": -1}.get(f.text[end], 0)
                end += 1
            found[m.group(1)] = set(re.findall(r"(\w+)\)?\s*(?:\[[^\]]*\]|:\s*\d+|\([^;]*\))?\s*[;,]",
                                               f.text[m.end():end]))
    return found


def check_engine(files):
    engine = [f for f in files if f.room == "engine"]
    glue = [f for f in files if f.room != "engine"]
    inside = {n for f in engine if f.name in INSIDE for n in f.public | f.declared}
    of = fields(engine)
    yield from (f"the engine has no struct {s}" for s in STATE if s not in of)
    declared = re.compile(rf"\bstruct ({'|'.join(STATE)})\s+\**(\w+)\s*[;,)=\[]")
    members = {(s, n) for f in glue if f.is_header for s, n in declared.findall(f.text)}
    for f in glue:
        for name in sorted(inside & f.words):
            yield f"{f.path}: {name}() is between the engine's files"
        own = set(declared.findall(f.text))
        for struct, name in sorted(members | own):
            before = r"(?:->|\.)" if (struct, name) not in own else r"(?:->|\.|(?<![\w>.]))"
            for m in re.finditer(rf"{before}{name}(?:\[[^\]]*\])?(?:->|\.)(\w+)", f.text):
                if m.group(1) in of.get(struct, ()):
                    line = f.text.count("\n", 0, m.start()) + 1
                    yield f"{f.path}:{line}: {m.group(0).lstrip('.->')} is the engine's own"


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    top = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "../../kernel")
    files = read(top)
    found, bad = arrows(files)
    n = sum(len(why) for tos in found.values() for why in tos.values())
    tests = [
        ("includes are named from kernel/ on", bad),
        ("folders call one way, down", list(check_rooms(found))),
        ("no two files of a folder need each other", list(check_circles(found))),
        ("what a file gives stands in the header beside it", list(check_headers(files))),
        ("functions are named after their file", list(check_names(files))),
        ("the engine is used through functions", list(check_engine(files))),
        # It must see something, or it would pass on an empty folder.
        ("enough was read to judge", [] if n > 500 else [f"only {n} arrows were found"]),
    ]
    for name, wrong in tests:
        for w in sorted(set(wrong)):
            print("#", w)
        print("not ok" if wrong else "ok", "- rooms:", name)
    return any(wrong for _, wrong in tests)


if __name__ == "__main__":
    sys.exit(main())
