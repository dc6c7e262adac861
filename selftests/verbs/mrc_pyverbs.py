#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
mrc_pyverbs.py - rdma-core's own tests (package python3-pyverbs), judged by a list of skips.

	mrc_pyverbs.py TESTS SKIPS --dev mrc0 --gid 1

TESTS: where the package has them, some of them compressed. SKIPS: lines "PATTERN: REASON", as
in a shell; what skips and matches none is a failure, and so is a pattern that nothing
matches, for then the list is out of date. Prints TAP.
"""

import fnmatch
import gzip
import os
import shutil
import sys
import tempfile
import unittest


def unpack(source, target):
    for name in sorted(os.listdir(source)):
        path = os.path.join(source, name)
        if name.endswith(".gz"):
            with gzip.open(path) as packed, open(os.path.join(target, name[:-3]), "wb") as plain:
                shutil.copyfileobj(packed, plain)
        else:
            shutil.copy(path, target)


def read_skips(path):
    skips = []
    with open(path, encoding="ascii") as lines:
        for line in lines:
            line = line.strip()
            if line and not line.startswith("#"):
                pattern, reason = line.split(": ", 1)
                skips.append((pattern, reason))
    return skips


class Result(unittest.TestResult):
    """Prints each test when it has ended."""

    def __init__(self, skips):
        super().__init__()
        self.skips = skips
        self.used = set()
        self.number = 0
        self.counts = {"ok": 0, "skip": 0, "bad": 0}

    def say(self, kind, test, more=""):
        self.number += 1
        self.counts[kind] += 1
        name = test.id().removeprefix("tests.") if hasattr(test, "id") else str(test)
        print(f"{'not ok' if kind == 'bad' else 'ok'} {self.number} {name}{more}", flush=True)

    def addSuccess(self, test):
        self.say("ok", test)

    def addSkip(self, test, reason):
        name = test.id().removeprefix("tests.")
        for pattern, _ in self.skips:
            if fnmatch.fnmatch(name, pattern):
                self.used.add(pattern)
                self.say("skip", test, f" # SKIP {reason}")
                return
        self.say("bad", test, f" # skipped, and not in the list: {reason}")

    def fail(self, test, err):
        self.say("bad", test)
        for line in self._exc_info_to_string(err, test).splitlines():
            print(f"# {line}", flush=True)

    def addFailure(self, test, err):
        self.fail(test, err)

    def addError(self, test, err):
        self.fail(test, err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.fail(subtest, err)


def find_netdev(case, dev, port, gid):
    """
    Where they look for the address to connect to: the netdev below a PCI adapter. Devices of
    software have none below, and name theirs in "parent".
    """
    address = mac = None
    try:
        with open(f"/sys/class/infiniband/{dev}/parent", encoding="ascii") as parent:
            address, mac = case.get_ip_mac_address(parent.read().strip())
    except (OSError, KeyError, IndexError):
        pass
    case.args.append([dev, port, gid, address, mac])


def lend_buffers(test_mr):
    """rdma-core 44's DmaBufMR calls add_ref() of its buffer, which only C sees there: ours has it."""
    from pyverbs.dmabuf import DmaBuf  # pylint: disable=import-error,import-outside-toplevel
    from pyverbs.mr import DmaBufMR  # pylint: disable=import-error,import-outside-toplevel

    class Buffer(DmaBuf):
        """It goes when its last region has let go of it."""
        def add_ref(self, _region):
            """The region holds the buffer by itself."""

    def region(pd, length, access, offset=0, gpu=0, gtt=0):
        return DmaBufMR(pd, length, access, Buffer(length + offset, gpu, gtt), offset)
    test_mr.DmaBufMR = region


def run(tests, skips, args):
    with tempfile.TemporaryDirectory() as work:
        folder = os.path.join(work, "tests")
        os.mkdir(folder)
        unpack(tests, folder)
        sys.path[:0] = [work, folder]
        sys.argv = ["tests"] + args
        sys.dont_write_bytecode = True
        # They name the options, and import it by this name.
        import args_parser  # pylint: disable=import-error,import-outside-toplevel
        args_parser.parser.parse_args()
        import tests as suite  # pylint: disable=import-outside-toplevel
        import tests.base as base  # pylint: disable=import-error,import-outside-toplevel
        import tests.utils as utils  # pylint: disable=import-error,import-outside-toplevel
        import tests.test_mr as test_mr  # pylint: disable=import-error,import-outside-toplevel
        lend_buffers(test_mr)
        base.RDMATestCase._get_ip_mac = find_netdev  # pylint: disable=protected-access
        # A slow machine stands still for longer than the retries of half a second, and ten seconds.
        base.TIMEOUT = 18
        utils.POLL_CQ_TIMEOUT = 120
        result = Result(skips)
        only = os.environ.get("PYVERBS_ONLY")
        loader = unittest.defaultTestLoader
        if only:
            loader.testNamePatterns = [only]
        loader.loadTestsFromModule(suite).run(result)
    return result


def main():
    tests, skips = sys.argv[1], read_skips(sys.argv[2])
    result = run(tests, skips, sys.argv[3:])
    unused = [] if os.environ.get("PYVERBS_ONLY") else \
        [pattern for pattern, _ in skips if pattern not in result.used]
    for pattern in unused:
        print(f"# nothing skips by {pattern}")
    print(f"# Totals: {result.counts['ok']} ok, {result.counts['skip']} skipped, "
          f"{result.counts['bad']} bad, {len(unused)} patterns unused")
    return 1 if result.counts["bad"] or unused or not result.counts["ok"] else 0


if __name__ == "__main__":
    sys.exit(main())
