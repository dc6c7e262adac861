#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""pages.py - keep mrcctl's manual pages and its table of commands alike.

    pages.py MRCCTL DIR           rewrite the generated parts of the pages in DIR
    pages.py --check MRCCTL DIR   name the pages that differ; status 1 if one does

"mrcctl __table" prints the table. Each object has a page, mrcctl-OBJECT.8. The lines between
'.\\" begin PART' and '.\\" end' are generated, all others are written by hand. PART is "name"
(NAME and SYNOPSIS), "keys" (each command with its keys), or "objects" (in mrcctl.8).
"""
import pathlib
import re
import subprocess
import sys
import textwrap

MANY = 6  # SYNOPSIS spells out so many optional keys
PART = re.compile(r'(\.\\" begin (\w+)\n)(.*?)(\.\\" end\n)', re.S)


def plain(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in ".'" else text


def filled(text):
    text = text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")
    return "\n".join(plain(line) for line in textwrap.wrap(text, 70, break_on_hyphens=False, break_long_words=False))


class Key:
    def __init__(self, name, values, flags, text):
        self.required, self.repeat, self.text = "required" in flags, "repeat" in flags, text
        # Capitals stand for a value, other words for themselves.
        values = re.sub(r"[A-Z]+|[a-z0-9]+", lambda m: ("\\fI" if m[0].isupper() else "\\fB") + m[0] + "\\fR", plain(values))
        self.pair = f"\\fB{plain(name)}\\fR {values}"

    def synopsis(self):
        again = "..." if self.repeat else ""
        return self.pair + (f" [{self.pair}]..." if again else "") if self.required else f"[{self.pair}]{again}"

    def entry(self):
        notes = [note for note, is_so in (("Required", self.required), ("May be repeated", self.repeat)) if is_so]
        return [".TP", self.pair, filled(self.text), *(note + "." for note in notes)]


class Verb:
    def __init__(self, words, text):
        self.words, self.text, self.keys = plain(words), text, []

    def synopsis(self):
        optional = [k for k in self.keys if not k.required]
        return [f".B mrcctl {self.words}", *(k.synopsis() for k in self.keys if k.required),
                *(["[\\fIKEY VALUE\\fR]..."] if len(optional) > MANY else [k.synopsis() for k in optional])]

    def section(self):
        return [f".SS mrcctl {self.words}", filled(self.text), *(line for k in self.keys for line in k.entry())]


def table(mrcctl):
    """{object: (help, [Verb])}"""
    out = {}
    for line in subprocess.run([mrcctl, "__table"], check=True, capture_output=True, text=True).stdout.splitlines():
        kind, name, *rest = line.split("\t")
        if kind == "object":
            obj, verbs = name, []
            out[name] = (rest[0], verbs)
        elif kind == "verb":
            verbs.append(Verb(f"{obj} {name}".strip(), rest[0]))
        else:
            verbs[-1].keys.append(Key(name, *rest))
    return out


def parts(name, text, verbs):
    synopsis = [line for v in verbs for line in [".PP", *v.synopsis()]][1:]
    return {"name": [".SH NAME", f"mrcctl\\-{name} \\- {plain(text)}", ".SH SYNOPSIS", *synopsis],
            "keys": [".SH COMMANDS", *(line for v in verbs for line in v.section())]}


def overview(all_objects):
    return {"objects": [line for name, (text, _) in all_objects.items()
                        for line in [".TP", f".BR mrcctl\\-{name} (8)", filled(text)]]}


def made(page, generated):
    """The text of @page, with its generated parts as they shall be."""
    text = page.read_text()
    if set(generated) != {m[2] for m in PART.finditer(text)}:
        sys.exit(f"{page.name} shall have the parts {', '.join(sorted(generated))}")
    return PART.sub(lambda m: m[1] + "\n".join(generated[m[2]]) + "\n" + m[4], text)


def main(args):
    check = args[:1] == ["--check"]
    if len(args) != 2 + check:
        sys.exit(__doc__)
    mrcctl, folder = args[check], pathlib.Path(args[check + 1])
    known = table(mrcctl)
    todo = {"mrcctl": overview(known), **{f"mrcctl-{name}": parts(name, *known[name]) for name in known}}
    faults = [f"{p.name} is of no object" for p in sorted(folder.glob("mrcctl-*.8")) if p.stem not in todo]
    for name, generated in todo.items():
        page = folder / f"{name}.8"
        text = made(page, generated) if page.exists() else None
        if text is None:
            faults.append(f"{page.name} is missing")
        elif text != page.read_text() and check:
            faults.append(f"{page.name} differs from mrcctl's table: make man")
        elif text != page.read_text():
            page.write_text(text)
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
