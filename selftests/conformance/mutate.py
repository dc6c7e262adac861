#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""mutate.py - does the decoder find what is wrong? Prints TAP.

    mutate.py [SEED [ROUNDS]]

Runs of sample.py pass as they are. Then each round spoils one packet of one: a bit anywhere
(the ICRC must catch it), a bit with the ICRC made right again, or a field that breaks
a rule between packets. Every one of those must be found. Bits that may have either value
are listed in FREE: flipping one must be found neither.
"""
import os
import random
import struct
import sys

sys.dont_write_bytecode = True

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../tools/conform")]

import layers   # noqa: E402  pylint: disable=wrong-import-position
import packet   # noqa: E402  pylint: disable=wrong-import-position
import rules    # noqa: E402  pylint: disable=wrong-import-position
import sample   # noqa: E402  pylint: disable=wrong-import-position

KINDS = [(v6, outer, ts) for v6 in (True, False) for outer in ("srv6", "srh", "none")
         for ts in (True, False)]


def broken_rules(frames, planes=2, plain=False):
    """What is said of @frames."""
    said, packets = set(), []
    for time, raw in frames:
        try:
            packets.append(packet.Packet(raw, time=time, plain=plain))
        except layers.NotMrc:
            said.add("not MRC any more")
        except layers.Bad as e:
            said.add(str(e))
    run = rules.Run(packets, 8, planes)
    return said | {name for name, where in run.check().rules.items() if where}


def udp_at(raw):
    """Offset of UDP, and of the IP header before it."""
    at, kind = 14, struct.unpack("!H", raw[12:14])[0]
    while True:
        if kind == 0x0800:
            return at + 20, at
        proto, start = raw[at + 6], at
        at += 40
        if proto == 43:
            proto = raw[at]
            at += 24
        if proto == 17:
            return at, start
        kind = 0x86dd if proto == 41 else 0x0800


def mend(raw):
    """Write the right ICRC."""
    udp, ip = udp_at(raw)
    body = raw[ip:-4]
    return raw[:-4] + layers.icrc(body, body[0] >> 4 == 6)


def change(frames, n, raw):
    return frames[:n] + [(frames[n][0], raw)] + frames[n + 1:]


def flipped(raw, bit):
    raw = bytearray(raw)
    raw[bit // 8] ^= 0x80 >> bit % 8
    return bytes(raw)


# Where any value is right, as far as a capture can tell: (opcodes, first, last byte from BTH).
def is_free(raw, bit):
    udp, ip = udp_at(raw)
    byte, bth = bit // 8, udp + 8
    if byte < 12 or byte >= len(raw) - 4:       # Ethernet addresses; the ICRC is mended
        return True
    if byte < bth:
        return outside_free(raw, bit, udp, ip)
    opcode, at, mask = raw[bth], byte - bth, 0x80 >> bit % 8
    ts = raw[bth + 8] & 0x10
    if opcode in packet.DATA:
        reth = 16 + (4 if ts else 0)
        family, place = packet.DATA[opcode][:2]
        anywhere = place == packet.ONLY and family in ("write", "read", "atomic")
        return (anywhere and reth <= at < reth + 12 or                  # VA, R_Key
                family == "send" and reth + 8 <= at < reth + 12 or
                family == "response" and place == packet.ONLY and reth + 8 <= at < reth + 12 or
                at == 8 and mask == 0x80 or                             # A
                at == 1 and mask == 0x80 or                             # SE, mostly
                ts and at in (16, 17) or ts and at == 18 and mask == 0x80 or  # time
                reth + 16 <= at)                                        # imm, operands, payload
    if opcode == packet.SACK:
        at -= 12
        return (at == 1 and mask in (0x40, 0x20) or at == 17 or at == 32 or     # m, mpr, pen
                18 <= at < 32)          # offset, bitmap, time, ooo: the run may tell
    if opcode in (packet.PROBE, packet.EP_REQ):
        at -= 12
        return (at in (12, 13) or at == 14 and mask == 0x80 or
                at in ((7,) if opcode == packet.EP_REQ else (4, 5)))    # not all are answered
    if opcode == packet.NACK:
        return at - 12 in (2, 18, 19)               # another known reason; time held
    if opcode == packet.EP_RSP:
        return at - 12 in (28, 29)
    if opcode == packet.ACK:
        return at == 12 or 9 <= at <= 11            # another syndrome; an earlier PSN
    return False


def outside_free(raw, bit, udp, ip):
    """TTLs; addresses and EVs, which the run may still catch; DS field: ECN."""
    byte = bit // 8
    if ip == 14 and byte == 15 and raw[udp + 8] not in packet.DATA:     # control: ECT(0)
        return bit % 8 == (2 if raw[ip] >> 4 == 6 else 6)
    if ip == 14 and raw[ip] >> 4 == 6 and byte in (16, 17):             # EV
        return True
    heads = [ip] + ([14] if ip != 14 else [])
    for head in heads:
        v6 = raw[head] >> 4 == 6
        if v6 and head <= byte < head + 40:
            return byte - head == 7 or byte - head >= 8
        if not v6 and head <= byte < head + 20:
            return byte - head == 8 or byte - head >= 10
    if ip != 14 and 54 <= byte < ip:    # SRH: its segment
        return byte >= 62
    return udp <= byte < udp + 2


def spoil_field(rng, frames):
    """Break one rule between packets. Returns (what, frames)."""
    n = rng.randrange(len(frames))
    time, raw = frames[n]
    udp, _ = udp_at(raw)
    b = udp + 8
    opcode = raw[b]

    def put(offset, fmt, change_value):
        value, = struct.unpack_from(fmt, raw, b + offset)
        out = bytearray(raw)
        limit = 1 << 8 * struct.calcsize(fmt)
        struct.pack_into(fmt, out, b + offset, change_value(value) % limit)
        return change(frames, n, mend(bytes(out)))

    some = rng.randrange(1, 200)
    if opcode in packet.DATA:
        reth = 16 + (4 if raw[b + 8] & 0x10 else 0)
        family, place = packet.DATA[opcode][:2]
        options = [("PSN", lambda: put(8, "!I", lambda v: v & 0xff000000 | (v + 7000 + some) &
                                       0xffffff)),
                   ("msn", lambda: put(14, "!H", lambda v: v + 20 + some)),
                   ("rqmsn", lambda: put(12, "!H", lambda v: v + 20 + some)),
                   ("RTX", lambda: put(8, "!I", lambda v: v ^ 1 << 29))]
        if family not in ("read", "atomic", "atomic_ack"):
            options.append(("dmalen", lambda: put(reth + 12, "!I", lambda v: v + some)))
        if place != packet.ONLY or family in ("send", "response"):
            options.append(("va", lambda: put(reth, "!Q", lambda v: v + some)))
        if place != packet.ONLY:
            options.append(("R_Key", lambda: put(reth + 8, "!I", lambda v: v + some)))
        if not raw[b + 8] & 0x20 and opcode not in (0xd2, 0xd6, 0xd7):   # not the last ones
            options.append(("missing", lambda: frames[:n] + frames[n + 1:]))
    elif opcode == packet.SACK:
        options = [("entropy", lambda: put(16, "!I", lambda v: v + 1000 + some)),
                   ("spdcid", lambda: put(20, "!H", lambda v: v + some)),
                   ("dpdcid", lambda: put(22, "!H", lambda v: v + some)),
                   ("cack", lambda: put(24, "!I", lambda v: (v + 100 + some) & 0xffffff)),
                   ("sack_bitmap", lambda: put(32, "!Q", lambda v: v | 1 << 60)),
                   ("rcvd_bytes", lambda: put(44, "!I", lambda v: v + some)),
                   ("tx_timestamp", lambda: put(40, "!H", lambda v: v + 20000 + some))]
    elif opcode == packet.NACK:
        options = [("entropy", lambda: put(16, "!I", lambda v: v + 1000 + some)),
                   ("nack_psn", lambda: put(24, "!I", lambda v: (v + some) & 0xffffff)),
                   ("tx_timestamp", lambda: put(30, "!H", lambda v: v + 20000 + some))]
    elif opcode == packet.ACK:
        options = [("credits", lambda: put(12, "!I", lambda v: v ^ 1 << 24 if v >> 24 == 0x1f
                                           else v ^ 4 << 24)),
                   ("PSN", lambda: put(8, "!I", lambda v: (v + 5000 + some) & 0xffffff))]
        if raw[b + 12] == 0x1f:
            options += [("AETH.msn", lambda: put(12, "!I", lambda v: v & 0xff000000 | (v + 100 + some) &
                                             0xffffff))]
    elif opcode == packet.EP_RSP:
        options = [("request id", lambda: put(10, "!H", lambda v: v + 1000 + some)),
                   ("tx_timestamp", lambda: put(40, "!H", lambda v: v + 20000 + some))]
    elif opcode == packet.EP_REQ:
        options = [("port_status_mask", lambda: put(16, "!I", lambda v: v | 1 << 2 + some % 30))]
    else:
        options = [("spdcid", lambda: put(20, "!H", lambda v: v + some)),
                   ("dpdcid", lambda: put(22, "!H", lambda v: v + some))]
    what, make = rng.choice(options)
    return f"{what} of {opcode:02X}", make()


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def test(self, ok, name, why=""):
        self.count += 1
        self.failed += not ok
        print(f"{'' if ok else 'not '}ok {self.count} {name}")
        if why and not ok:
            print(f"# {why}")


def good_runs(tap):
    runs = []
    for v6, outer, ts in KINDS:
        frames = sample.Run(v6, outer, ts).frames
        said = broken_rules(frames)
        name = f"IPv{6 if v6 else 4}, outer {outer}, {'with' if ts else 'no'} TSETH"
        tap.test(not said, f"a run without fault passes: {name}", "; ".join(sorted(said)))
        seen = {packet.Packet(raw).opcode for _, raw in frames}
        tap.test(seen == set(rules.ALL_TYPES), f"and has every type: {name}",
                 f"not {[hex(t) for t in set(rules.ALL_TYPES) - seen]}")
        runs.append(frames)
    return runs


def plain_runs(tap):
    """QPs of mrc.h: no padding, no SE; and each reading finds the other's packets."""
    plain, padded = sample.Run(plain=True).frames, sample.Run().frames
    said = broken_rules(plain, plain=True)
    tap.test(not said, "a run without padding passes as one of mrc.h", "; ".join(sorted(said)))
    tap.test("payload padded to words" in broken_rules(plain), "and as none of verbs")
    tap.test("least padding" in broken_rules(padded, plain=True),
             "a run with padding does not pass as one of mrc.h")
    asking = next(n for n, (_, raw) in enumerate(plain) if raw[udp_at(raw)[0] + 8] == 0xcb)
    raw = bytearray(plain[asking][1])
    raw[udp_at(raw)[0] + 9] |= 0x80
    said = broken_rules(change(plain, asking, mend(bytes(raw))), plain=True)
    tap.test("BTH byte 1 of a QP of mrc.h is zero" in said, "a solicited event is found there")


def rejected(raw):
    try:
        packet.Packet(raw)
        return False
    except (layers.Bad, layers.NotMrc):
        return True


def bits(tap, rng, runs, rounds):
    """Any bit but those that the ICRC leaves out and no table fixes."""
    missed_icrc, missed_mended = [], []
    for _ in range(rounds):
        raw = rng.choice(rng.choice(runs))[1]
        udp, ip = udp_at(raw)
        bit = rng.randrange(ip * 8, len(raw) * 8)
        if not rejected(flipped(raw, bit)) and not icrc_leaves_out(raw, bit, udp, ip):
            missed_icrc.append(f"bit {bit} of {raw.hex()}")
        bit = rng.randrange(12 * 8, min(len(raw) - 4, udp + 8 + 60) * 8)
        if is_free(raw, bit):
            continue
        spoiled = flipped(raw, bit)
        try:
            spoiled = mend(spoiled)
        except (IndexError, struct.error):
            continue
        if not rejected(spoiled) and not found_in_run(runs, raw, spoiled):
            missed_mended.append(f"byte {bit // 8 - udp - 8} from BTH, bit {bit % 8}: {raw.hex()}")
    tap.test(not missed_icrc, f"{rounds} bits flipped: the ICRC finds each",
             "; ".join(missed_icrc[:3]))
    tap.test(not missed_mended, f"{rounds} bits flipped, ICRC made right: found all the same",
             "; ".join(missed_mended[:3]))


def found_in_run(runs, raw, spoiled):
    for frames in runs:
        for n, (_, other) in enumerate(frames):
            if other is raw:
                return bool(broken_rules(change(frames, n, spoiled)))
    return False


def icrc_leaves_out(raw, bit, udp, ip):
    """Masked: DS field, TTL, checksum; traffic class, flow label, hop limit."""
    byte = bit // 8 - ip
    if raw[ip] >> 4 == 6:
        return byte in (1, 2, 3, 7) or byte == 0 and bit % 8 >= 4
    return byte in (1, 8, 10, 11)


def fields(tap, rng, runs, rounds):
    missed = []
    for _ in range(rounds):
        what, frames = spoil_field(rng, rng.choice(runs))
        if not broken_rules(frames):
            missed.append(what)
    tap.test(not missed, f"{rounds} fields spoiled between packets: each is found",
             ", ".join(sorted(set(missed))))


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    tap, rng = Tap(), random.Random(seed)
    print(f"TAP version 13\n# seed {seed}")
    runs = good_runs(tap)
    plain_runs(tap)
    bits(tap, rng, runs, rounds)
    fields(tap, rng, runs, rounds)
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
