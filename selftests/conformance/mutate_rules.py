#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""mutate_rules.py - each rule of mrc-conform's catalogue has a capture that breaks it, which is caught.

    mutate_rules.py [SEED]

Most are found by spoiling a good run at random, as mutate.py does; BY_HAND has the others. Then: captures
that follow the other reading of a disputed point, damaged files, and files that hold no MRC.
"""
import ast
import importlib.machinery
import importlib.util
import os
import random
import struct
import subprocess
import sys
import tempfile
import types

sys.dont_write_bytecode = True

HERE = os.path.dirname(os.path.realpath(__file__))
KIT = os.path.join(HERE, "../../tools/conform")
sys.path[:0] = [HERE, KIT]

import layers   # noqa: E402  pylint: disable=wrong-import-position
import mutate   # noqa: E402  pylint: disable=wrong-import-position
import pcap     # noqa: E402  pylint: disable=wrong-import-position
import sample   # noqa: E402  pylint: disable=wrong-import-position
from catalogue import RULES   # noqa: E402  pylint: disable=wrong-import-position
from mutate_lua import Verdicts   # noqa: E402  pylint: disable=wrong-import-position

TOOL = os.path.join(KIT, "mrc-conform")
LOADER = importlib.machinery.SourceFileLoader("mrc_conform", TOOL)
SPEC = importlib.util.spec_from_loader("mrc_conform", LOADER)
KIT_MODULE = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(KIT_MODULE)

ROUNDS = 2500


def arguments(**kw):
    args = {"dscp": [8, 12, 46, 8], "plain": False, "mpr": 8, "planes": 2, "whole": True, "ep_op_high": False,
            "port_bit_1": False}
    return types.SimpleNamespace(**{**args, **kw})


def verdicts(folder, frames, **kw):
    """{rule: verdict} of the kit."""
    path = os.path.join(folder, "mutant.pcap")
    pcap.write(path, sorted(frames, key=lambda f: f[0]))
    judge, _, _ = KIT_MODULE.judged([path], arguments(**kw))
    layers.WATCH.clear()
    return {text: judge.verdict(text) for text in RULES}


# ------------------------------------------------------------------- by hand

def run(v6=True, outer="none", **kw):
    return sample.Run(v6, outer, **kw).frames


def at(frames, opcode, nth=0):
    """Index of the nth packet of @opcode."""
    return [n for n, (_, raw) in enumerate(frames) if raw[mutate.udp_at(raw)[0] + 8] == opcode][nth]


def edit(frames, n, change):
    """@change(raw, offset of BTH, of the innermost IP header) of frame @n; checksums are right after it."""
    time, raw = frames[n]
    raw, (udp, ip) = bytearray(raw), mutate.udp_at(raw)
    change(raw, udp + 8, ip)
    if raw[ip] >> 4 == 4:
        raw[ip + 10:ip + 12] = b"\0\0"
        raw[ip + 10:ip + 12] = struct.pack("!H", ~layers.inet_sum(bytes(raw[ip:ip + 20])) & 0xffff)
    return frames[:n] + [(time, mutate.mend(bytes(raw)))] + frames[n + 1:]


def put(opcode, offset, value, mask=0, nth=0, frames=None):
    """A run with byte @offset (from BTH) of a packet set to @value, but for the bits of @mask."""
    frames = frames or run()

    def change(raw, bth, _):
        raw[bth + offset] = raw[bth + offset] & mask | value
    return edit(frames, at(frames, opcode, nth), change)


def cut(size, **kw):
    """A run whose first frame ends @size bytes after Ethernet, with lengths that say so."""
    frames = run(**kw)
    time, raw = frames[0]
    raw = bytearray(raw[:14 + size])
    if size >= 40 and raw[14] >> 4 == 6:
        raw[18:20] = struct.pack("!H", size - 40)
        if kw.get("outer", "none") == "none" and size >= 48:
            raw[58:60] = struct.pack("!H", size - 40)
    return [(time, bytes(raw))] + frames[1:]


def rebuilt(opcode, change, dscp=8, frames=None):
    """A run with the BTH and body of one packet made anew by @change."""
    frames, nth = frames or run(), 0
    n = at(frames, opcode, nth)
    time, raw = frames[n]
    udp, _ = mutate.udp_at(raw)
    ev = struct.unpack("!H", raw[udp:udp + 2])[0] << 16 | struct.unpack("!I", raw[14:18])[0] & 0xffff
    src, dst = (sample.A6, sample.B6) if raw[22:38] == sample.A6 else (sample.B6, sample.A6)
    body = change(bytes(raw[udp + 8:-4]))
    return frames[:n] + [(time, sample.frame(src, dst, ev, dscp, 2, body, "none"))] + frames[n + 1:]


def ip_byte(offset, value, mask=0, **kw):
    frames = run(**kw)

    def change(raw, _, ip):
        raw[ip + offset] = raw[ip + offset] & mask | value
    return edit(frames, 0, change)


def outer_bytes(start, data):
    frames = run(outer="srv6")

    def change(raw, *_):
        raw[14 + start:14 + start + len(data)] = data
    return edit(frames, 0, change)


def mtu_300():
    sample.MTU = 300
    try:
        return run()
    finally:
        sample.MTU = 256


def same_path_again():
    frames = run()
    out = list(frames)
    for nth in range(4):
        n = at(frames, 0xc7, nth % 3) if nth < 3 else at(frames, 0xc6)

        def resent(raw, bth, _):
            raw[bth + 8] |= 0x20
            raw[14:16] = struct.pack("!H", 6 << 12 | (12 << 2 | 2) << 4)
        time, raw = edit(frames, n, resent)[n]
        out.append((time + 5000, raw))
    return out


def one_ev():
    frames = run()
    for n in range(len(frames)):
        def change(raw, bth, _):
            raw[bth - 8:bth - 6] = b"\xc0\x01"
            raw[16:18] = b"\0\1"
        frames = edit(frames, n, change)
    return frames


def goes_back():
    frames = run()
    time = frames[-1][0] + 10**9
    return frames + [(time, frames[at(frames, 0xdc)][1])]


def less_received():
    frames = run()

    def change(raw, bth, _):
        raw[bth + 43] += 1                                      # ooo_count
        raw[bth + 45:bth + 48] = b"\0\0\1"
    return edit(frames, at(frames, 0xdc), change)


def not_again():
    frames = run()[:-1]
    return frames[:18] + frames[19:]


def without(opcode):
    return [f for f in run() if f[1][mutate.udp_at(f[1])[0] + 8] != opcode]


def msn_of_atomic():
    frames = run()
    udp = mutate.udp_at(frames[at(frames, 0xd3)][1])[0]
    msn = frames[at(frames, 0xd3)][1][udp + 8 + 14:udp + 8 + 16]

    def change(raw, bth, _):
        raw[bth + 14:bth + 16] = msn
    n = at(frames, 0xd0)
    out = edit(frames, n, change)
    return sorted(out[:n] + out[n + 1:] + [(out[-3][0] + 1, out[n][1])])


def of_itself(at, value, size=40, dst=None):
    """A run with a self-probe whose byte @at (from BTH) is @value; or that goes to @dst."""
    made = sample.Run(outer="none")
    made.a.self_probe(7, 3, size)
    frames = made.frames
    if dst:
        frames = [(time, mutate.mend(raw[:38] + dst + raw[54:])) if raw[62] == 0xdf else (time, raw) for time, raw in frames]

    def change(raw, bth, _):
        raw[bth + at] = value
    return edit(frames, len(frames) - 1, change)


def twice(ev=None):
    both = sample.Run()
    both.a.datagram_twice(30, ev=ev)
    return both.frames


def copied(change):
    """A run with a copied datagram, whose BTH and what follows are made anew by @change."""
    made = sample.Run(outer="none")
    made.a.copied_datagram(0xe5, 10)
    return rebuilt(0xe5, change, frames=made.frames)


def larger_than_mtu(bth):
    return bth[:32] + struct.pack("!I", 4100) + bytes(4100)


BY_HAND = {
    "Ethernet header whole": lambda: cut(-4),
    "IPv6 header whole": lambda: cut(20),
    "IPv4 header whole": lambda: cut(10, v6=False),
    "IPv4 id of an atomic datagram": lambda: ip_byte(5, 1, v6=False),
    "TTL, hop limit": lambda: ip_byte(7, 1),
    "UDP header whole": lambda: cut(44),
    "BTH and ICRC whole": lambda: cut(60),
    "SRH whole": lambda: cut(50, outer="srh"),
    "outer hop limit": lambda: outer_bytes(7, b"\1"),
    "outer destination": lambda: outer_bytes(28, bytes(12)),
    "outer source": lambda: outer_bytes(8, bytes(16)),
    "destination QP": lambda: edit(run(), 0, lambda raw, bth, _: raw.__setitem__(
        slice(bth + 5, bth + 8), b"\0\0\1")),
    "BTH M bit zero": lambda: put(0xc4, 1, 0xc0, 0x30),
    "part of a message with payload": lambda: rebuilt(0xc8, lambda b: b[:1] + b"\0" + b[2:36]),
    "padding zero": lambda: rebuilt(0xc4, lambda b: b[:-1] + b"\1"),
    "solicited event only where a receive completes": lambda: put(0xca, 1, 0x80, 0x7f),
    "payload of one MTU at most": lambda: rebuilt(0xca, larger_than_mtu),
    "no CE from the sender": lambda: edit(run(), at(run(), 0xdc), lambda raw, *_: raw.__setitem__(
        15, raw[15] | 0x30)),
    "length of a control packet": lambda: rebuilt(0xdc, lambda b: b + bytes(4), 46),
    "SETH m": lambda: put(0xdc, 13, 0x60, 0x9f),
    "SETH reserved byte": lambda: put(0xdc, 24, 1),
    "CC_STATE reserved bit": lambda: put(0xdc, 42, 0x80, 0x7f),
    "cack is the left edge": lambda: put(0xdc, 39, 1, 0xfe),
    "NETH type, next, reserved zero": lambda: put(0xdd, 12, 1),
    "NETH reserved byte": lambda: put(0xdd, 29, 1),
    "NACK reason of Table 7-3": lambda: put(0xdd, 14, 5),
    "vendor_info: an RNR timer, with NO_RESOURCE": lambda: put(0xdd, 15, 3),
    "ERTH op": lambda: put(0xd8, 13, 2),
    "EETH op": lambda: put(0xd9, 13, 8),
    "the MTU is one of IBTA's": mtu_300,
    "one family in a message": lambda: put(0xc1, 0, 0xc7),
    "all but the last packet are full": lambda: rebuilt(0xc7, lambda b: b[:-4]),
    "READ is answered by data": msn_of_atomic,
    "a retransmission takes another EV": same_path_again,
    "cack does not go back": goes_back,
    "rcvd_bytes counts at least what is shown": less_received,
    "what was NACKed is sent again": not_again,
    "endpoint requests are answered": lambda: without(0xd9),
    "probes are answered": lambda: without(0xdc),
    "self-probe: number, id, secret, payload": lambda: of_itself(0, 0xdf, size=4),
    "a self-probe is of its host to itself": lambda: of_itself(0, 0xdf, dst=sample.B6),
    "BTH PSN of a self-probe is its number": lambda: of_itself(11, 4),
    "DETH of a copied datagram whole": lambda: copied(lambda b: b[:20]),
    "a copied datagram has the mark": lambda: copied(lambda b: b[:16] + b"\0" + b[17:]),
    "BTH flags of a copied datagram": lambda: copied(lambda b: b[:8] + b"\x80" + b[9:]),
    "a copied datagram takes another EV": lambda: twice(0xc0010001),
    "an EV has one outer destination": lambda: outer_bytes(30, b"\x77\x77"),
    "packets are sprayed over several EVs": one_ev,
}
# Rules of QPs of mrc.h are judged with --plain, and a device of the other kind breaks them.
PLAIN = {
    "least padding": lambda: rebuilt(0xca, lambda b: b[:1] + b"\x10" + b[2:] + b"\0", frames=run(plain=True)),
    "BTH byte 1 of a QP of mrc.h is zero": lambda: put(0xcb, 1, 0x80, frames=run(plain=True)),
}
# Another reading of a disputed point: no fault.
DISPUTED = {
    "BTH M bit zero": lambda: put(0xc4, 1, 0x40, 0x30),
    "payload padded to words": lambda: run(plain=True),
    "EETH reserved zero": lambda: put(0xd9, 13, 0x10, frames=put(0xd8, 13, 1)),
    "port status of ports that there are": lambda: put(0xd8, 19, 6),
}


def by_chance(rng, rounds):
    """{rule: frames}: what random faults break."""
    runs = [sample.Run(*kind).frames for kind in mutate.KINDS]
    found = {}
    for _ in range(rounds):
        frames = rng.choice(runs)
        if rng.random() < 0.5:
            n = rng.randrange(len(frames))
            raw = frames[n][1]
            udp, _ = mutate.udp_at(raw)
            spoiled = mutate.flipped(raw, rng.randrange(14 * 8, min(len(raw) - 4, udp + 68) * 8))
            try:
                spoiled = mutate.mend(spoiled) if rng.random() < 0.9 else spoiled
            except (IndexError, struct.error):
                continue
            frames = mutate.change(frames, n, spoiled)
        else:
            _, frames = mutate.spoil_field(rng, frames)
        for rule in mutate.broken_rules(frames):
            found.setdefault(rule, frames)
    return found


def every_rule(tap, rng, folder):
    good = [rule for rule, v in verdicts(folder, run(outer="srv6")).items() if v in ("BROKEN", "disputed")]
    tap.test(not good, "a good run breaks none", good)
    mutants, missed = by_chance(rng, ROUNDS), []
    mutants.update({rule: make() for rule, make in BY_HAND.items()})
    for rule in RULES:
        if rule in PLAIN:
            broken = verdicts(folder, PLAIN[rule](), plain=True)[rule] == "BROKEN"
        elif rule in DISPUTED and rule not in mutants:
            broken = rule in mutate.broken_rules(DISPUTED[rule]())      # strictly read
        else:
            broken = rule in mutants and verdicts(folder, mutants[rule])[rule] == "BROKEN"
        if not broken:
            missed.append(rule)
    tap.test(not missed, f"each of {len(RULES)} rules is broken by a capture, and that is caught", missed)
    wrong = [f"{rule}: {v}" for rule, v in ((r, verdicts(folder, make())[r]) for r, make in DISPUTED.items())
             if v != "disputed"]
    tap.test(not wrong, "the other reading of a disputed point is no fault", wrong)


def pairs(tap, folder):
    """A datagram and its copy, if the capture has both."""
    rule = "a copied datagram takes another EV"
    kept, alone = verdicts(folder, twice()), verdicts(folder, copied(lambda b: b))
    tap.test(kept[rule] == "kept" and alone[rule] == "not seen", "a datagram's copy is held against it", [kept[rule], alone[rule]])


def readings(tap, folder):
    """D4 and D5: the reading that is asked for is kept, the other one disputed."""
    points = ["EETH reserved zero", "port status of ports that there are"]
    for other in (False, True):
        both = sample.Run(other=other)
        both.b.endpoint_answer(9, 1, both.a.endpoint(9, 1, 3))
        said = [rule for rule, v in verdicts(folder, both.frames, ep_op_high=other, port_bit_1=other).items()
                if v in ("BROKEN", "disputed")]
        tap.test(not said, f"reading {'AB'[other]} of D4 and D5, which is asked for", said)
        said = [f"{rule}: {v}" for rule, v in verdicts(folder, both.frames, ep_op_high=not other, port_bit_1=not other).items()
                if v in ("BROKEN", "disputed")]
        tap.test(said == [f"{rule}: disputed" for rule in points], f"reading {'AB'[other]}, and the other one is asked for", said)


def arrived(frames, usid):
    """As where they arrive: switches consumed what stands before @usid, and the segment."""
    out = []
    for time, raw in frames:
        raw = bytearray(raw)
        at = 62 if raw[20] == layers.ROUTING else 38       # where the list of uSIDs is
        rest = raw[at:at + 16]
        rest = rest[rest.index(usid):] if usid in rest else usid
        raw[38:54] = raw[38:42] + rest + bytes(12 - len(rest))
        if at == 62:
            raw[57] = 0
        out.append((time, bytes(raw)))
    return out


def at_the_other_end(tap, folder):
    """Captures that were taken where packets arrive break nothing; another host's uSID in the destination does."""
    for outer in ("srv6", "srh"):
        wrong = [r for r, v in verdicts(folder, arrived(run(outer=outer), b"\x12\x02")).items() if v in ("BROKEN", "disputed")]
        tap.test(not wrong, f"{outer}: packets as they arrive break none", wrong)
    got = verdicts(folder, arrived(run(outer="srh"), b"\x12\x09"))["SRH of one segment"]
    tap.test(got == "BROKEN", "a destination that is not the rest of the segment is found", [got])


def catalogue_is_whole(tap):
    """Every rule that the code names is in the catalogue, and the other way round."""
    named = set()
    for name in ("layers", "packet", "rules"):
        with open(os.path.join(KIT, name + ".py"), encoding="utf-8") as f:
            tree = ast.parse(f.read())
        for call in (n for n in ast.walk(tree) if isinstance(n, ast.Call)):
            function = getattr(call.func, "id", getattr(call.func, "attr", ""))
            if function == "need" and len(call.args) > 1:
                text = call.args[1]
                if isinstance(text, ast.Constant):
                    named.add(text.value)
                else:       # f"... {what} ..."
                    parts = [p.value if isinstance(p, ast.Constant) else "{}" for p in text.values]
                    named |= {"".join(parts).format(w) for w in ("SACK", "NACK")}
    tap.test(named == set(RULES), "the catalogue has every rule of the code, and no other",
             sorted(named ^ set(RULES)))


# --------------------------------------------------------------------- files

def tool(*args):
    done = subprocess.run([sys.executable, "-I", TOOL, *args], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def as_pcapng(frames):
    """One section, one interface with nanoseconds."""
    def block(kind, body):
        body += bytes(-len(body) % 4)
        size = struct.pack("<I", len(body) + 12)
        return struct.pack("<I", kind) + size + body + size
    out = block(pcap.SECTION, struct.pack("<IHHq", 0x1a2b3c4d, 1, 0, -1))
    out += block(pcap.INTERFACE, struct.pack("<HHIHHBxxx", 1, 0, 0, pcap.TSRESOL, 1, 9) + bytes(4))
    for ns, raw in frames:
        out += block(pcap.ENHANCED, struct.pack("<IIIII", 0, ns >> 32, ns & 0xffffffff, len(raw), len(raw)) + raw)
    return out


def lots(tap, folder):
    """Large packets: a lot ends by its bytes, which bounds the memory."""
    path, most, sizes = os.path.join(folder, "lots.pcap"), KIT_MODULE.LOT, []
    frames = run()
    pcap.write(path, frames)
    real = KIT_MODULE.rules.Run

    def counted(packets, *rest):
        sizes.append(sum(len(p.frame.bth) for p in packets))
        return real(packets, *rest)

    KIT_MODULE.LOT, KIT_MODULE.rules.Run = 2000, counted
    try:
        judge, count, _ = KIT_MODULE.judged([path], arguments(whole=False))
    finally:
        KIT_MODULE.LOT, KIT_MODULE.rules.Run = most, real
        layers.WATCH.clear()
    tap.test(count == len(frames) and len(sizes) > 2 and max(sizes) < 2000 + 4200 and not any(judge.broken.values()),
             "a lot is bounded by bytes, too", [str(count), str(sizes)])


def files(tap, rng, folder):
    classic, new = os.path.join(folder, "run.pcap"), os.path.join(folder, "run.pcapng")
    frames = run(outer="srv6")
    pcap.write(classic, frames)
    with open(new, "wb") as f:
        f.write(as_pcapng(frames))
    both = [tool("--whole", "--planes", "2", "--mpr", "8", path) for path in (classic, new)]
    tap.test(both[0] == both[1] and both[0][0] == 0, "pcap and pcapng are read alike", [str(both)])
    with open(new, "wb") as f:
        f.write(as_pcapng(put(0xdc, 42, 0x80, 0x7f)))
    code, out, _ = tool("--whole", new)
    tap.test(code == 1 and "BROKEN" in out and "run.pcapng frame 18" in out, "a fault is named with its frame", [out])
    with open(classic, "rb") as f:
        bytes_classic = f.read()
    for options, judged in (((), True), (("--whole",), False)):
        with open(new, "wb") as f:
            f.write(bytes_classic[:-7])
        code, out, err = tool(*options, new)
        tap.test(code == 2 and (f"{len(frames) - 1} packets," in out) == judged and "middle of a frame" in err,
                 f"a file that ends too early{' '.join(('',) + options)}: {'judged up to there' if judged else 'refused'}", [str(code), out, err])
    bad = []
    for i in range(60):
        source = bytes_classic if i % 2 else as_pcapng(frames)
        raw = bytearray(source[:rng.randrange(len(source))])
        for _ in range(rng.randrange(4)):
            if raw:
                raw[rng.randrange(len(raw))] = rng.randrange(256)
        with open(new, "wb") as f:
            f.write(raw)
        code, out, err = tool(new)
        if code not in (0, 1, 2) or "Traceback" in err or code == 2 and err.count("\n") != 1:
            bad.append(f"{code} {err[-200:]} {bytes(raw[:80]).hex()}")
    tap.test(not bad, "60 damaged files: a verdict or one line", bad)
    others = [bytes(12) + b"\x08\0" + sample.ip4(sample.A4, sample.B4, 0, 30)[:6] + b"\0\0" + bytes([64, proto]) + bytes(42)
              for proto in (1, 6, 17)]                          # ICMP, TCP, UDP without DF, checksums wrong
    pcap.write(classic, frames + [(frames[-1][0] + 1000, raw) for raw in others])
    code, out, _ = tool("--whole", "--planes", "2", "--mpr", "8", classic)
    tap.test(code == 0 and "3 frames of other protocols" in out, "frames of others are not judged", [out])
    code, _, err = tool(os.path.realpath(__file__))
    tap.test(code == 2 and "not a capture file" in err, "another file is named as none", [err])
    pcap.write(classic, [(0, b"\0" * 60)])
    code, _, err = tool(classic)
    tap.test(code == 2 and "no MRC packet" in err, "a capture without MRC is no success", [err])


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    tap, rng = Verdicts(), random.Random(seed)
    print(f"# seed {seed}")
    catalogue_is_whole(tap)
    with tempfile.TemporaryDirectory() as folder:
        every_rule(tap, rng, folder)
        pairs(tap, folder)
        readings(tap, folder)
        at_the_other_end(tap, folder)
        files(tap, rng, folder)
        lots(tap, folder)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
