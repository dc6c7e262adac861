#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""golden.py - cut the golden captures out of what vm-tests/conformance.sh has captured.

    selftests/run.sh -k 6.1 conformance && golden.py out/check/6.1 golden [NAME...]
    selftests/run.sh -k 7.3 activekit && golden.py out/check/7.3 golden

@NAME: which files; all without one. One file for each type of packet by each way of carrying it, and one for each story. Frames of
all hosts and planes stand in order of time. golden/README.md says what each file shows.
"""
import glob
import os
import sys

sys.dont_write_bytecode = True

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../tools/conform")]

import layers   # noqa: E402  pylint: disable=wrong-import-position
import packet   # noqa: E402  pylint: disable=wrong-import-position
import pcap     # noqa: E402  pylint: disable=wrong-import-position

DSCPS = packet.Classes(8, 12, 46, (10,))
DATAGRAMS = (0x64, 0x65)        # RoCEv2's


def frames(folder, case, plain=False):
    """[(time, raw, Packet)] of one case, by time."""
    out = []
    for path in glob.glob(f"{folder}/{case}-[hb]*.pcap"):
        for time, raw in pcap.read(path):
            try:
                out.append((time, raw, packet.Packet(raw, DSCPS, time, plain, DATAGRAMS)))
            except layers.NotMrc:
                pass
    if not out:
        sys.exit(f"golden: {folder} has no capture of {case}; run vm-tests/conformance.sh first")
    return sorted(out, key=lambda f: f[0])


def one_of_each(all_frames):
    seen = {}
    for f in all_frames:
        kind = (f[2].opcode, getattr(f[2], "reason", 0))
        seen.setdefault(kind, f)
    return sorted(seen.values(), key=lambda f: f[0])


def around(all_frames, found, before, after):
    """Frames about the first one that @found is true of."""
    for i, f in enumerate(all_frames):
        if found(f[2]):
            return all_frames[max(0, i - before):i + after]
    sys.exit("golden: a story did not happen in this capture; capture again")


def refused(all_frames, reasons):
    """The first NACK of @reasons: its packet's copies, itself, and the SACK that covers it."""
    nack = next((f for f in all_frames if f[2].opcode == packet.NACK and f[2].reason in reasons), None)
    if not nack:
        sys.exit("golden: nothing was refused so in this capture; capture again")
    start = next(i for i, f in enumerate(all_frames)
                 if f[2].opcode in packet.DATA and f[2].psn == nack[2].psn and f[2].src == nack[2].dst)
    end = next((i for i, f in enumerate(all_frames) if f[2].opcode in packet.DATA and f[2].rtx
                and f[2].psn == nack[2].psn and f[2].src == nack[2].dst), start + 20)
    return all_frames[max(0, start - 2):end + 6][:60]


# Of a scenario of the active kit the whole capture.
PLAYED = {"mrc-h-wrapped": "responder.wrapped", "mrc-h-refused": "responder.refused", "mrc-h-endpoints": "responder.endpoints",
          "mrc-h-probed": "responder.probed", "mrc-h-window": "responder.window_edge", "mrc-h-holes": "responder.every_second",
          "mrc-h-immediates": "responder.immediates", "mrc-h-silence": "requestor.silence", "mrc-h-failed": "requestor.unexpected"}


def played(folder, target):
    for name, scenario in PLAYED.items():
        found = list(pcap.read(f"{folder}/{scenario}.pcap"))
        pcap.write(f"{target}/{name}.pcap", found)
        print(f"{name}: {len(found)} frames")


def port_down(p):
    return p.opcode == packet.EP_REQ and p.op == 0 and p.mask == 1


def resent(p):
    return p.opcode in packet.DATA and p.rtx


def came_back(all_frames):
    """Self-probes, each where it leaves and where it comes back."""
    seen = {}
    for f in all_frames:
        if f[2].opcode == packet.SELF:
            seen.setdefault((f[2].test, f[2].number), []).append(f)
    twice = [f for pair in seen.values() if len(pair) == 2 for f in pair]
    if len(twice) < 8:
        sys.exit("golden: self-probes did not come back in this capture; capture again")
    return sorted(twice, key=lambda f: f[0])[:12]


def main():
    folder, target, *names = sys.argv[1:]
    if os.path.exists(f"{folder}/responder.wrapped.pcap"):
        return played(folder, target)
    srv6 = frames(folder, "srv6")
    stories = {
        "types": one_of_each(srv6),
        "types-ipv4": one_of_each(frames(folder, "ipv4")),
        "types-ipv6": one_of_each(frames(folder, "ipv6")),
        "types-srh": one_of_each(frames(folder, "srh")),
        "mrc-h": one_of_each(frames(folder, "mrc-h", True)),
        "trimmed": refused(srv6, (1, 2)),
        "no-receive": refused(srv6, (packet.NO_RESOURCE,)),
        "port-down": around(srv6, port_down, 10, 30),
        "plane-dies": around(frames(folder, "dies"), resent, 70, 50),
        "self-probes": came_back(frames(folder, "self")),
    }
    for name, story in stories.items():
        if names and name not in names:
            continue
        pcap.write(f"{target}/{name}.pcap", [f[:2] for f in story])
        print(f"{name}: {len(story)} frames")
    return None


if __name__ == "__main__":
    main()
