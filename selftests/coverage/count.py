#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""count.py [--missing] ENGINE EXPORT.text EXPORT.lcov - lines and branches, from llvm-cov's exports.

A branch is one way out of one condition (llvm's counting: every operand of && and ||,
every case of a switch), at each place of use of a macro or inline function's caller:
min_t() in two lines is two conditions. Of an inline function in a header the copies in
different files are one.

Not counted, because no test may make them happen:
  - conditions of mrc_assert(): the failing side is a bug of the engine by definition
    (the lines behind it do count);
  - conditions that are literally constant, such as the 0 of do { } while (0).
"""
import collections
import json
import os
import sys

LINES_GOAL, BRANCHES_GOAL = 95.0, 90.0
EXPANSION = 1   # llvm's CounterMappingRegion::ExpansionRegion


class Sources:
    def __init__(self):
        self.files = {}

    def text(self, name, l1, c1, l2, c2):
        if name not in self.files:
            with open(name, encoding='utf-8') as f:
                self.files[name] = f.read().split('\n')
        lines = self.files[name][l1 - 1:l2]
        if l1 == l2:
            return lines[0][c1 - 1:c2 - 1]
        return '\n'.join([lines[0][c1 - 1:]] + lines[1:-1] + [lines[-1][:c2 - 1]])


def excluded(sources, names, place, chain):
    """Is this condition one of mrc_assert's, or a constant?"""
    text = sources.text(names, *place)
    if 'mrc_assert(' in text or text in ('0', '1', 'true', 'false'):
        return True
    return any(sources.text(name, *site).startswith('mrc_assert') for name, site in chain)


def branches_of(export, sources):
    """{(file, line, col, ...): [taken, not taken]} and the text of each."""
    found = collections.defaultdict(lambda: [0, 0])
    texts = {}
    for function in export['data'][0]['functions']:
        names = function['filenames']
        site = {}   # of a macro's expansion: where it is used
        for l1, c1, l2, c2, _, file, expanded, kind in function['regions']:
            if kind == EXPANSION:
                site[expanded] = (file, (l1, c1, l2, c2))
        for l1, c1, l2, c2, yes, no, file, _, _ in function['branches']:
            chain, at = [], file
            while at in site:
                at, place = site[at]
                chain.append((names[at], place))
            if excluded(sources, names[file], (l1, c1, l2, c2), chain):
                continue
            used = chain[-1][1] if chain else (l1, c1, l2, c2)
            key = (names[at],) + used + tuple(p for _, p in chain) + (l1, c1, l2, c2)
            found[key][0] += yes
            found[key][1] += no
            texts[key] = sources.text(names[file], l1, c1, l2, c2)
    return found, texts


def lines_of(lcov):
    """{file: {line: count}}; only files that define functions."""
    found, current, with_code = collections.defaultdict(dict), None, set()
    for row in open(lcov, encoding='utf-8'):
        kind, _, rest = row.strip().partition(':')
        if kind == 'SF':
            name, current = rest, found[rest]
        elif kind == 'FN':
            with_code.add(name)
        elif kind == 'DA':
            line, count = rest.split(',')[:2]
            current[int(line)] = max(current.get(int(line), 0), int(count))
    return {name: found[name] for name in with_code}


def percent(part, whole):
    return 100.0 * part / whole if whole else 100.0


def report_missing(files, lines, branches, texts):
    for file in files:
        for line, count in sorted(lines[file].items()):
            if not count:
                print(f'{os.path.basename(file)}:{line}: line never runs')
        for key, ways in sorted(branches.items(), key=lambda x: x[0][:3]):
            if key[0] == file and 0 in ways:
                what = 'never' if ways == [0, 0] else 'always' if ways[0] else 'never true'
                print(f'{os.path.basename(file)}:{key[1]}: {what}: {" ".join(texts[key].split())}')


def main():
    args = [a for a in sys.argv[1:] if a != '--missing']
    engine, text, lcov = os.path.realpath(args[0]), args[1], args[2]
    with open(text, encoding='utf-8') as f:
        branches, texts = branches_of(json.load(f), Sources())
    lines = lines_of(lcov)
    files = sorted(f for f in lines if f.startswith(engine + '/') and 'mrc_env' not in f)

    print(f'{"file":<18}{"lines":>14}{"":>9}{"branches":>15}')
    total = [0, 0, 0, 0]
    for file in files:
        ways = [w > 0 for k, v in branches.items() if k[0] == file for w in v]
        row = [sum(c > 0 for c in lines[file].values()), len(lines[file]), sum(ways), len(ways)]
        total = [a + b for a, b in zip(total, row)]
        print(f'{os.path.basename(file):<18}{row[0]:>6} of {row[1]:>4}{percent(*row[:2]):>7.1f} %'
              f'{row[2]:>6} of {row[3]:>4}{percent(*row[2:]):>7.1f} %')
    if '--missing' in sys.argv:
        report_missing(files, lines, branches, texts)
    got = percent(*total[:2]), percent(*total[2:])
    print(f'engine coverage: lines {got[0]:.1f} %, branches {got[1]:.1f} %'
          f' ({total[0]} of {total[1]} lines, {total[2]} of {total[3]} branches)')
    if got[0] < LINES_GOAL or got[1] < BRANCHES_GOAL:
        sys.exit(f'goal: lines {LINES_GOAL} %, branches {BRANCHES_GOAL} %')


if __name__ == '__main__':
    main()
