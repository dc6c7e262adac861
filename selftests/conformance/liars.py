#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""liars.py - the active kit plays with mrcsim's foreign peer, as an honest one and with each of its lies.

    liars.py PROGRAM
"""
import json
import os
import shlex
import subprocess
import sys

sys.dont_write_bytecode = True

HERE = os.path.dirname(os.path.realpath(__file__))
KIT = os.path.join(HERE, "../../tools/conform")
sys.path[:0] = [HERE, KIT]

from mutate_lua import Verdicts     # noqa: E402  pylint: disable=wrong-import-position
from questions import QUESTIONS, asked      # noqa: E402  pylint: disable=wrong-import-position

ENDS = {"IPv6": ("fd00:6d72:63::2", "fd00:6d72:63::1"), "IPv4": ("10.77.0.2", "10.77.0.1")}
# tools/sim/foreign/habits.h: bit, what the lie is, the rule that it breaks.
LIES = (
    (1, "any timestamp", "sack-stamp"), (2, "bitmaps that forget", "bitmap-shows"), (4, "cack that runs back", "left-edge"),
    (8, "NACKs of what was never sent", "nack-sent"), (16, "no buffer for most packets", "answers-a"),
    (32, "any number of bytes", "rcvd-once"), (64, "PSNs beyond the window", "window"),
)
ONE_PORT = {"port-down"}        # it has no second one
# Locators of the kit and of the stranger, and the way there from either; there is no switch.
KIT_AT, STRANGER_AT = "fcbb:bb00:1202::", "fcbb:bb00:1201::"
WAYS = {"plain": None, "SRv6": (STRANGER_AT, KIT_AT), "SRv6 with SRH": (STRANGER_AT + "," + STRANGER_AT, KIT_AT + "," + KIT_AT)}


def play(program, ends, lies, ways=None):
    """(status, {rule's text: verdict})"""
    own, device = ends
    command, options = [program, device, own, str(lies)], []
    if ways:
        command += [STRANGER_AT, ways[1]]
        options = ["--locator", KIT_AT, "--path", "1=" + ways[0]]
    done = subprocess.run([sys.executable, "-I", os.path.join(KIT, "mrc-conform-active"), "--json", "--padded", "--patience", "2",
                           "--own", own, "--device", device, *options, "--simulated", shlex.join(command)],
                          capture_output=True, text=True, check=False)
    rules = [json.loads(line) for line in done.stdout.splitlines()]
    return done.returncode, {rule["text"]: rule["verdict"] for rule in rules}


def main():
    tap, program = Verdicts(), sys.argv[1]
    for name, ends, way in ((n, e, w) for n, e in ENDS.items() for w in WAYS):
        code, verdicts = play(program, ends, 0, WAYS[way])
        bad = [text for text, verdict in verdicts.items() if verdict in ("broken", "disputed")]
        unseen = [n for n, q in asked(WAYS[way]).items() if verdicts.get(q.text) != "kept"]
        tap.test(code == 0 and not bad and set(unseen) == ONE_PORT,
                 f"{name}, {way}: an honest stranger breaks no rule, and is asked for all", [str(code), *bad, *unseen])
    for bit, lie, rule in LIES:
        code, verdicts = play(program, ENDS["IPv6"], bit)
        broken = [text for text, verdict in verdicts.items() if verdict == "broken"]
        tap.test(code == 1 and QUESTIONS[rule].text in broken, f"a liar is caught: {lie}", [str(code), *broken])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
