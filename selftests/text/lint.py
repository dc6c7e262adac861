#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""lint.py - the language of the documents, and their links.

    lint.py TOP         one TAP line for each strict page, a comment for each other one

Strict pages are those of STRICT. Of all others the number of findings is reported, until
their turn comes. A finding is

  - a sentence of more than LONGEST words; code counts as one word
  - a date, outside of Documentation/lab
  - a sentence whose subject is "What ..." or "Who ..."
  - a link to a file or a heading that does not exist

Blocks of code and tables are not prose; links in tables count.
"""
import pathlib
import re
import sys
import unicodedata

LONGEST = 25
STRICT = ("*.md", "Documentation/*.md", "Documentation/tutorial/*.md", "Documentation/guide/*.md",
          "Documentation/operations/*.md", "Documentation/reference/*.md", "Documentation/developer/*.md")
INDEX = "Documentation/README.md"
MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
DATE = re.compile(rf"\b\d{{1,2}}\.? (?:{MONTHS})\b|\b(?:{MONTHS}) \d{{1,2}}\b(?! *:)|\b20\d\d-\d\d-\d\d\b")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|!\[[^\]]*\]\([^)]*\))*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^\s*(```|~~~)")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")


def blocks(text):
    """(line number, kind, text): paragraphs, items, headings, tables; code is left out."""
    fence, kind, start, lines = None, None, 0, []
    text = re.sub(r"<!--.*?-->", lambda m: "\n" * m.group().count("\n"), text, flags=re.S)
    after_blank = True
    for number, line in enumerate(text.splitlines() + [""], 1):
        mark = FENCE.match(line)
        if fence or mark:
            if lines:
                yield start, kind, " ".join(lines)
                lines = []
            if mark and (fence is None or mark.group(1) == fence):
                fence = None if fence else mark.group(1)
            continue
        code = line.startswith("    ") and not lines and after_blank
        if not line.strip() or code:
            if lines:
                yield start, kind, " ".join(lines)
            lines = []
            after_blank = True
            continue
        after_blank = False
        new = ("heading" if line.startswith("#") else "table" if line.lstrip().startswith("|")
               else "item" if ITEM.match(line) else None)
        if lines and (new or kind in ("heading", "table")):
            yield start, kind, " ".join(lines)
            lines = []
        if not lines:
            start, kind = number, new or "prose"
        lines.append(ITEM.sub("", line).strip() if new == "item" else line.strip())


def plain(text):
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = LINK.sub(lambda m: m.group(2), text)
    text = re.sub(r"`[^`]*`", "Code", text)
    return re.sub(r"[*_]{1,2}(\S[^*_]*)[*_]{1,2}", r"\1", text)


def sentences(text):
    """A colon before a list ends none; a full stop after "e.g." and numbers neither."""
    text = plain(text).replace("e.g.", "eg").replace("i.e.", "ie").replace(" vs.", " vs")
    return [s.strip() for s in re.split(r"(?<=[.!?])[\"')]*\s+(?=[A-Z\"'(\d])", text) if s.strip()]


def words(sentence):
    return [w for w in re.split(r"\s+", sentence) if re.search(r"\w", w)]


def slug(heading):
    """The anchor that code hosting sites make of a heading."""
    text = plain(re.sub(r"`([^`]*)`", r"\1", heading.lstrip("#").strip())).lower()
    text = "".join(c for c in text if c in " -_" or unicodedata.category(c)[0] in "LN")
    return text.replace(" ", "-")


def anchors(path, cache={}):
    if path not in cache:
        cache[path] = {slug(text) for _, kind, text in blocks(path.read_text()) if kind == "heading"}
    return cache[path]


def language(number, text, dated):
    for sentence in sentences(text):
        count = len(words(sentence))
        if count > LONGEST:
            yield number, f"{count} words: {sentence[:60]} ..."
        if re.match(r"(What|Who|Whoever)\b", sentence) and not sentence.endswith("?"):
            yield number, f"subject is {sentence.split()[0]}: {sentence[:60]} ..."
    if not dated and DATE.search(plain(text)):
        yield number, f"date: {DATE.search(plain(text)).group()}"


def links(page, top, number, text):
    for match in LINK.finditer(re.sub(r"`[^`]*`", "", text)):
        inner = match.group(2)
        for target in [match.group(3)] + [m.group(3) for m in LINK.finditer(inner)]:
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists():
                yield number, f"dead link: {target}"
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                yield number, f"no such heading: {target}"
            elif top not in file.parents and file != top:
                yield number, f"link out of the tree: {target}"


def findings(page, top):
    dated = "Documentation/lab" in page.as_posix()
    for number, kind, text in blocks(page.read_text()):
        if kind in ("prose", "item"):
            yield from language(number, text, dated)
        elif not dated and DATE.search(plain(text)):
            yield number, f"date: {DATE.search(plain(text)).group()}"
        yield from links(page, top, number, text)


def unlisted(top, pages):
    """Pages of Documentation that the index does not link."""
    index = top / INDEX
    listed = {(index.parent / m.group(3).partition("#")[0]).resolve()
              for m in LINK.finditer(index.read_text())}
    return [p.relative_to(top).as_posix() for p in pages
            if p.is_relative_to(index.parent) and p != index and p not in listed
            and p.parent / "README.md" not in listed]


def main(argv):
    top = pathlib.Path(argv[1]).resolve()
    pages = sorted(p for p in list(top.glob("*.md")) + list((top / "Documentation").rglob("*.md")))
    strict = {p for pattern in STRICT for p in top.glob(pattern)}
    count, failed, others = 0, 0, []
    for page in pages:
        found = list(findings(page, top))
        name = page.relative_to(top).as_posix()
        if page not in strict:
            others.append(f"# {name}: {len(found)} findings")
            continue
        count += 1
        failed += bool(found)
        print(f"{'not ok' if found else 'ok'} {count} {name} reads well and its links lead somewhere")
        for number, text in found:
            print(f"# {name}:{number}: {text}")
    missing = unlisted(top, pages)
    count += 1
    failed += bool(missing)
    print(f"{'not ok' if missing else 'ok'} {count} {INDEX} has every page"
          + "".join(f"\n# not in it: {name}" for name in missing))
    print("\n".join(others))
    print(f"1..{count}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
