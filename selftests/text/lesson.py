#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""lesson.py - the lessons as something to run, and whether what they print is true.

    lesson.py commands LESSON...            the commands of all, one after the other
    lesson.py check TRANSCRIPT LESSON...    TAP: one line for each command

A lesson is Markdown. Blocks of code that are marked "console" show what a person sees:
"lab# COMMAND", its further lines as they are, and its output. TRANSCRIPT is what "make shell"
printed when it was given the commands. A printed line is compared as follows.

  - words must be the same; runs of blanks count as one
  - numbers stand for any number, but 0 is 0 and what is not 0 is not
  - "..." as a line stands for any lines, within a line for any text
  - in a block after the comment "<!-- exact -->" numbers must be the same, too

A command whose expected output is "..." alone fails: any output would fit.
"""
import pathlib
import re
import sys

PROMPT = "lab# "
NUMBER = re.compile(r"(?<![\w.:])\d+(?:\.\d+)?(?=(?:[a-zA-Zµ%/]*)(?![\w:]))")


def consoles(text):
    """(exact, lines) of each console block."""
    exact = False
    for match in re.finditer(r"(<!-- exact -->\s*)?^```console\n(.*?)^```$", text, re.M | re.S):
        yield bool(match.group(1)), match.group(2).splitlines()


def complete(lines):
    """Whether these lines are a whole command: here documents and trailing backslashes."""
    if lines[-1].endswith("\\"):
        return False
    mark = re.search(r"<<-?'?(\w+)'?", lines[0])
    return not mark or lines[-1].strip() == mark.group(1) and len(lines) > 1


def steps(text):
    """[command, expected lines, exact] in order."""
    result = []
    for exact, lines in consoles(text):
        pending = None
        for line in lines:
            if pending is not None:
                pending.append(line)
                if complete(pending):
                    result[-1][0] = "\n".join(pending)
                    pending = None
            elif line.startswith(PROMPT):
                first = line[len(PROMPT):]
                result.append([first, [], exact])
                pending = None if complete([first]) else [first]
            elif result:
                result[-1][1].append(line)
    return result


def pattern(line, exact):
    """A regular expression for one printed line."""
    def literal(text):
        return re.sub(r"(\\ )+", r"\\s+", re.escape(text))

    def number(text):
        if exact:
            return re.escape(text)
        return r"0(?:\.0+)?" if float(text) == 0 else r"(?!0(?:\.0+)?(?![\d.]))\d+(?:\.\d+)?"

    out, at = "", 0
    line = line.strip()
    for piece in re.split(r"(\.\.\.)", line):
        if piece == "...":
            out += ".*"
            continue
        at = 0
        for match in NUMBER.finditer(piece):
            out += literal(piece[at:match.start()]) + number(match.group())
            at = match.end()
        out += literal(piece[at:])
    return re.compile(r"\s*" + out + r"\s*$")


def differs(expected, printed, exact):
    """The first expected line that was not printed in its place, or None."""
    def fits(e, p):
        if e == len(expected):
            return p == len(printed)
        if expected[e].strip() == "...":
            return any(fits(e + 1, q) for q in range(p, len(printed) + 1))
        return p < len(printed) and bool(pattern(expected[e], exact).match(printed[p])) and fits(e + 1, p + 1)

    if fits(0, 0):
        return None
    for e, line in enumerate(expected):
        if line.strip() != "..." and not any(pattern(line, exact).match(p) for p in printed):
            return line
    return f"{len(expected)} lines, {len(printed)} were printed"


def any_output(expected):
    """Whether the lesson expects no more than "..."."""
    return bool(expected) and all(line.strip() == "..." for line in expected)


def transcript(text, commands):
    """What each of the commands printed, in order; None for those that were not reached."""
    outputs, at = [], 0
    for i, command in enumerate(commands):
        start = text.find(PROMPT + command + "\n", at)
        if start < 0:
            outputs.append(None)
            continue
        start += len(PROMPT + command) + 1
        end = text.find(PROMPT, start)
        if i + 1 < len(commands):
            end = text.find(PROMPT + commands[i + 1] + "\n", start)
        outputs.append(text[start:end if end >= 0 else len(text)])
        at = start
    return outputs


def tidy(output):
    return [line for line in output.replace("\r", "").splitlines() if line.strip()]


def check(text, lessons):
    every = [(path, step) for path in lessons for step in steps(path.read_text())]
    outputs = transcript(text, [step[0] for _, step in every])
    failed = 0
    for number, ((path, (command, expected, exact)), output) in enumerate(zip(every, outputs), 1):
        name = f"{path.stem}: {command.splitlines()[0]}"
        wanted = [line for line in expected if line.strip()]
        why = "it was not run" if output is None else differs(wanted, tidy(output), exact)
        empty = any_output(wanted)
        failed += why is not None or empty
        print(f"{'not ok' if why or empty else 'ok'} {number} {name}".replace("#", "\\#"))
        if empty:
            print('# error of the lesson: it expects "..." alone, which any output fits')
        if why:
            print(f"# not printed: {why}")
            print("\n".join(f"# | {line}" for line in tidy(output or "")[:30]))
    print(f"1..{len(every)}")
    return 1 if failed or not every else 0


def main(argv):
    if argv[1] == "commands":
        for path in argv[2:]:
            print("\n".join(step[0] for step in steps(pathlib.Path(path).read_text())))
        return 0
    return check(pathlib.Path(argv[2]).read_text(errors="replace"), [pathlib.Path(p) for p in argv[3:]])


if __name__ == "__main__":
    sys.exit(main(sys.argv))
