# SPDX-License-Identifier: GPL-2.0
"""judge.py - count for each rule how often it was checked, and keep examples of packets that broke it."""
import collections

import layers

EXAMPLES = 3


class Judge:
    """Verdicts on all rules, over any number of packets."""

    def __init__(self):
        self.looked, self.disputed = collections.Counter(), collections.Counter()
        self.broken, self.examples = collections.Counter(), collections.defaultdict(list)
        self.said, self.stopped = collections.Counter(), None     # .stopped: why a file was not read to its end

    def watch(self, rule, verdict):
        self.looked[rule] += 1
        self.disputed[rule] += verdict == layers.DISPUTED
        self.broken[rule] += verdict == layers.BROKEN

    def example(self, rule, text):
        if len(self.examples[rule]) < EXAMPLES:
            self.examples[rule].append(text)

    def add(self, findings):
        """What rules.Run found."""
        self.looked.update(findings.looked)
        self.disputed.update(findings.disputed)
        for rule, texts in findings.rules.items():
            self.broken[rule] += len(texts)
            for text in texts[:EXAMPLES]:
                self.example(rule, text)

    def verdict(self, rule):
        if self.broken[rule]:
            return "BROKEN"
        if self.disputed[rule]:
            return "disputed"
        return "kept" if self.looked[rule] else "not seen"
