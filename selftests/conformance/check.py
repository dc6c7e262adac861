#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""check.py - judge captures of MRC traffic.

    check.py [--want "C0 C1 ..."] [--outer srv6|srh|none] [--planes N] [--mpr N]
             [--dscp DATA,RTX,CONTROL,PROBE] [--plain] [--no-tshark] FILE...

--plain: the QPs are those of mrc.h; their data is not padded, byte 1 of BTH is zero, and nothing
is sent that MRC 1.0 has not.
Every frame is decoded by tshark, whose outer layers must be as ours, by tshark with mrc.lua, which
must read every field alike, and by packet.py; all of them together are held against rules.py.
Prints TAP, one test for each rule.
"""
import argparse
import collections
import os
import sys

sys.dont_write_bytecode = True

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../tools/conform")]

import dissector   # noqa: E402  pylint: disable=wrong-import-position
import layers   # noqa: E402  pylint: disable=wrong-import-position
import packet   # noqa: E402  pylint: disable=wrong-import-position
import pcap     # noqa: E402  pylint: disable=wrong-import-position
import rules    # noqa: E402  pylint: disable=wrong-import-position
import tshark   # noqa: E402  pylint: disable=wrong-import-position


# What MRC 1.0 has not: SEND, READ, ATOMIC, SEND with invalidate.
OURS = {*range(0xc0, 0xc6), *range(0xcc, 0xd1), 0xd2, 0xd3, 0xd4, 0xd6, 0xd7, *packet.COPY}

DATAGRAMS = (0x64, 0x65)        # RoCEv2's, of which only the copies are looked at


class Tap:
    def __init__(self):
        self.count = self.failed = 0
        print("TAP version 13")

    def test(self, ok, name, why=()):
        self.count += 1
        self.failed += not ok
        print(f"{'' if ok else 'not '}ok {self.count} - {name}")
        for line in list(why)[:6]:
            print(f"# {line}")

    def end(self):
        print(f"1..{self.count}")
        return 1 if self.failed else 0


def decode(paths, classes, plain, bad):
    """All MRC packets, and by file what the frames are: a Packet, or None."""
    packets, frames = [], {}
    for path in paths:
        frames[path] = []
        for time, raw in pcap.read(path):
            p = None
            try:
                p = packet.Packet(raw, classes, time, plain, DATAGRAMS)
                packets.append(p)
            except layers.NotMrc:
                pass
            except layers.Bad as e:
                bad[str(e)].append(f"{os.path.basename(path)} frame {len(frames[path]) + 1}: "
                                   f"{raw.hex()[:400]}")
            frames[path].append(p)
    return packets, frames


def outer_is(packets, kind):
    for p in packets:
        outer = p.frame.outer
        yield kind == ("none" if not outer else "srh" if outer.srh else "srv6")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--want", default="")
    parser.add_argument("--outer", choices=("srv6", "srh", "none"))
    parser.add_argument("--planes", type=int, default=1)
    parser.add_argument("--mpr", type=int)
    parser.add_argument("--dscp", default="8,12,46,10")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--no-tshark", action="store_true")
    parser.add_argument("file", nargs="+")
    return parser.parse_args()


def main():
    args, tap, bad = arguments(), Tap(), collections.defaultdict(list)
    data, rtx, control, *probe = map(int, args.dscp.split(","))
    packets, frames = decode(args.file, packet.Classes(data, rtx, control, probe),
                             args.plain, bad)
    count = collections.Counter(p.opcode for p in packets)
    print("# seen:", " ".join(f"{op:02X}:{n}" for op, n in sorted(count.items())))
    tap.test(packets and not bad, f"each of {len(packets)} packets is right in itself",
             (f"{rule}: {len(where)} times, {where[0]}" for rule, where in bad.items()))
    missing = [t for t in args.want.split() if int(t, 16) not in count]
    tap.test(not missing, "every type was sent", [f"missing: {' '.join(missing)}"])
    if args.plain:
        ours = [f"{op:02X}" for op in sorted(count) if op in OURS]
        tap.test(not ours, "nothing but MRC 1.0", [f"sent: {' '.join(ours)}"])
    if args.outer:
        tap.test(all(outer_is(packets, args.outer)), f"outer header: {args.outer}")
    run = rules.Run(packets, args.mpr, args.planes)
    for name, broken in run.check().rules.items():
        tap.test(not broken, name, [f"{len(broken)} times"] + broken if broken else [])
    if not args.no_tshark:
        for decoder in (tshark, dissector):
            for name, wrong in decoder.compare(frames):
                tap.test(not wrong, name, wrong)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
