#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""stage.py - lay out the documents as one folder that mkdocs can read.

    stage.py TREE OUT

Links in the repository are relative to its files, and mkdocs knows one folder only. So the documents beside
Documentation/ get a place in it, manual pages become HTML by mandoc(1), and a link to any other file becomes its name.
"""
import pathlib
import re
import shutil
import subprocess
import sys

LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^(```|~~~)")
BLOCK = re.compile(r"^([-*] |\d+\. |\|)")  # a list or a table
MANUALS = "reference/man"

# Documents that lie elsewhere: where the site has them.
ELSEWHERE = {
    "README.md": "index.md",
    "Documentation/README.md": "contents.md",
    "CONTRIBUTING.md": "developer/contributing.md",
    "SECURITY.md": "operations/reporting.md",
    "CHANGELOG.md": "changes.md",
    "tools/conform/README.md": "reference/mrc-conform.md",
    "Documentation/netlink/specs": "reference/netlink.md",
}


def place(source):
    """Where in the site the file @source of the tree is; None: nowhere."""
    if source in ELSEWHERE:
        return ELSEWHERE[source]
    path = pathlib.PurePosixPath(source)
    if path.parts[0] != "Documentation":
        return None
    inside = path.relative_to("Documentation")
    if str(inside.parent) == MANUALS and path.suffix[1:].isdigit():
        return f"{inside}.md"
    return str(inside) if path.suffix in (".md", ".svg", ".png") else None


def relative(target, of):
    up = len(pathlib.PurePosixPath(of).parent.parts)
    here, there = pathlib.PurePosixPath(of).parent.parts, pathlib.PurePosixPath(target).parts
    same = 0
    while same < min(up, len(there) - 1) and here[same] == there[same]:
        same += 1
    return "/".join([".."] * (up - same) + list(there[same:]))


def relink(text, source):
    """@text of the file @source, with links as its place in the site wants them."""
    folder = pathlib.PurePosixPath(source).parent

    def one(match):
        before, link, after = match.groups()
        if re.match(r"[a-z]+:|#", link):
            return match[0]
        file, _, anchor = link.partition("#")
        parts = []
        for part in (folder / file).parts:
            if part != "..":
                parts.append(part)
            elif parts:
                parts.pop()
        target = place("/".join(parts))
        if target is None:
            return before.lstrip("!")[1:-2]
        return before + relative(target, place(source)) + ("#" + anchor if anchor else "") + after

    lines, fenced = [], False
    for line in text.split("\n"):
        if FENCE.match(line):
            fenced = not fenced
        # Whoever reads Markdown on a code host needs no empty line there; mkdocs does.
        if not fenced and BLOCK.match(line) and lines and re.match(r"[^\s|#-]", lines[-1]) and not BLOCK.match(lines[-1]):
            lines.append("")
        lines.append(line if fenced or line.startswith("    ") else LINK.sub(one, line))
    return "\n".join(lines)


def manual(path):
    """A manual page as HTML; its names of others are links."""
    name = path.name
    html = subprocess.run(["mandoc", "-T", "html", "-O", "fragment,man=../%N.%S/", str(path)], check=True,
                          capture_output=True, text=True).stdout
    known = {p.name for p in path.parent.iterdir()}
    html = re.sub(r'<a class="Xr" href="\.\./([^"/]+)/">([^<]*)</a>',
                  lambda m: m[0] if m[1] in known else m[2], html)
    # One block for Markdown, which an empty line would end; except where lines are kept.
    html = re.sub(r"\n\s*\n", "\n", html)
    page, section = name.rsplit(".", 1)
    return f"# {page}({section})\n\n<div class=\"manual\">\n{html}</div>\n"


def places(tree):
    """Each file that the site has, and where."""
    files = sorted(p for p in (tree / "Documentation").rglob("*") if p.is_file())
    files += [tree / name for name in ELSEWHERE if (tree / name).is_file()]
    found = {path: place(path.relative_to(tree).as_posix()) for path in files}
    return {path: target for path, target in found.items() if target}


def stage(tree, out):
    shutil.rmtree(out, ignore_errors=True)
    for path, target in places(tree).items():
        source = path.relative_to(tree).as_posix()
        to = out / target
        to.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".md":
            to.write_text(relink(path.read_text(), source))
        elif path.suffix in (".svg", ".png"):
            shutil.copyfile(path, to)
        else:
            to.write_text(manual(path))
    spec = tree / "Documentation/netlink/specs/mrc.yaml"
    to = out / ELSEWHERE["Documentation/netlink/specs"]
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text("# Netlink specification\n\nAfter this page you know every operation and attribute of the family `mrc`. "
                  "The kernel's `ynl` tools read this file.\n\n```yaml\n" + spec.read_text() + "```\n")
    shutil.copyfile(pathlib.Path(__file__).with_name("site.css"), out / "site.css")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    stage(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
