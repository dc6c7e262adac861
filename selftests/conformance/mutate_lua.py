#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""mutate_lua.py - tools/wireshark/mrc.lua on the golden captures, on spoiled frames, and spoiled itself.

    mutate_lua.py [SEED [MRCSIM]]
"""
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../tools/conform")]

import dissector   # noqa: E402  pylint: disable=wrong-import-position
import packet   # noqa: E402  pylint: disable=wrong-import-position
import pcap     # noqa: E402  pylint: disable=wrong-import-position
import sample   # noqa: E402  pylint: disable=wrong-import-position
import tshark   # noqa: E402  pylint: disable=wrong-import-position
from check import Tap   # noqa: E402  pylint: disable=wrong-import-position

GOLDEN = os.path.join(HERE, "golden")
CLASSES = packet.Classes(8, 12, 46, (8, 10))
# One fault each: what mrc.lua says, what it says then.
FAULTS = (
    ('t:add(f["bth.psn"], tvb(9, 3))', 't:add(f["bth.psn"], tvb(8, 3))'),
    ('"Solicited Event", 8, nil, 0x80', '"Solicited Event", 8, nil, 0x40'),
    ('8, 0x30)', '8, 0x0c)'),
    ('t:add(f["meth.msn"], tvb(at + 2, 2))', 't:add(f["meth.msn"], tvb(at, 2))'),
    ('t:add(f["reth.dmalen"], tvb(at + 12, 4))', 't:add(f["reth.dmalen"], tvb(at + 8, 4))'),
    ('8, 0x60, MARKS', '8, 0x30, MARKS'),
    ('p.pr and "sack.probe_id" or "sack.ack_psn_offset"', '"sack.ack_psn_offset"'),
    ('tvb(at + 20, 8):bitfield(64 - i, 1)', 'tvb(at + 20, 8):bitfield(i - 1, 1)'),
    ('{ "sack.offset", 18, 2 }', '{ "sack.offset", 16, 2 }'),
    ('{ "sack.rcvd", 33, 3 }', '{ "sack.rcvd", 32, 3 }'),
    ('{ "nack.psn", 13, 3 }', '{ "nack.psn", 12, 3 }'),
    ('{ "nack.tx_ts", 18, 2 }', '{ "nack.tx_ts", 16, 2 }'),
    ('{ "probe.id", 4, 2 }', '{ "probe.id", 6, 2 }'),
    ('8, 0x0c, ENDPOINT_OPS', '8, 0x30, ENDPOINT_OPS'),
    ('f["ep.tx_ts"], tvb(at + 28, 2)', 'f["ep.tx_ts"], tvb(at + 26, 2)'),
    ('f["ep.ports"], tvb(at + 4, 4)', 'f["ep.ports"], tvb(at + 8, 4)'),
    ('{ "aeth.msn", 1, 3 }', '{ "aeth.msn", 0, 3 }'),
    ('pinfo.src_port * 65536', 'pinfo.dst_port * 65536'),
    ('[0xd3] = "atomic"', '[0xd3] = "imm"'),
    ('tree:add(f.payload, tvb(at, len - pad - at))', 'tree:add(f.payload, tvb(at, len - at))'),
    ('{ "self.number", 4, 4 }', '{ "self.number", 0, 4 }'),
    ('{ "self.secret", 8, 8 }', '{ "self.secret", 4, 8 }'),
    ('{ "deth.qkey", 0, 4 }', '{ "deth.qkey", 4, 4 }'),
    ('{ "deth.sqpn", 5, 3 }', '{ "deth.sqpn", 4, 3 }'),
    ('p.opcode == 0xe5 then', 'p.opcode == 0xe6 then'),
    ('[0xd7] = "ieth"', '[0xd7] = "imm"'),
    ('ones:rep(8) .. ip', 'ones:rep(7) .. ip'),
)
# Likewise, of reading B of D4 and D5.
B = ("-o", "mrc.op_high:TRUE", "-o", "mrc.port_bit_1:TRUE")
FAULTS_B = (
    ('8, 0x30, ENDPOINT_OPS', '8, 0x0c, ENDPOINT_OPS'),
    ('32, 0xfffffffe)', '32, 0xfffffffc)'),
    ('high and f["ep.rsp_op_high"] or f["ep.rsp_op"]', 'f["ep.rsp_op"]'),
    ('bit_1 and f["ep.ports_1"] or f["ep.ports"]', 'f["ep.ports"]'),
)
LAST = len(sample.Run().frames) + 2
# Of the sample run (sample.py): what one packet says of another. Frame: {field: value}.
ANALYSIS = {
    16: {"mrc.sacked_in": "18", "mrc.stream": "0"},
    17: {"mrc.of": "10", "mrc.rtt": "0.000140000"},
    18: {"mrc.of": "16", "mrc.newly": "15", "mrc.rtt": "0.000040000"},
    19: {"mrc.cause": "refused: TRIMMED", "mrc.cause_in": "17", "mrc.first_copy": "10",
         "mrc.sacked_in": "20"},
    20: {"mrc.of": "19", "mrc.newly": "1"},
    23: {"mrc.stream": "0"},
    36: {"mrc.cause": "refused: NO_RESOURCE", "mrc.cause_in": "35", "mrc.first_copy": "34"},
    42: {"mrc.of": "39", "mrc.rtt": "0.000060000"},
    44: {"mrc.of": "43", "mrc.rtt": "0.000020000"},
    LAST: {"mrc.of": str(LAST - 1), "mrc.rtt": "0.000020000"},      # a self-probe is back
}


class Verdicts(Tap):
    def test(self, ok, name, why=()):
        super().test(ok, name, () if ok else why)


def golden():
    """{path: [Packet]} of all golden captures."""
    frames = {}
    for name in sorted(os.listdir(GOLDEN)):
        if name.endswith(".pcap"):
            path = os.path.join(GOLDEN, name)
            frames[path] = [packet.Packet(raw, CLASSES, t, name.startswith("mrc-h"))
                            for t, raw in pcap.read(path)]
    return frames


def run(path, fields, *options):
    lua = ("-2", "-X", "lua_script:" + dissector.LUA, *options)
    return list(tshark.dissect(path, fields, lua))


def all_types(path):
    """All frames of all golden captures and of the sample in one file: {path: [Packet]}."""
    raws = [(t, raw, os.path.basename(name).startswith("mrc-h"))
            for name in golden() for t, raw in pcap.read(name)]
    both = sample.Run()
    both.b.endpoint_answer(9, 1, both.a.endpoint(9, 1, 0))     # the stories have no EV probe
    raws += [(t, raw, False) for t, raw in both.frames]
    pcap.write(path, [r[:2] for r in raws])
    return {path: [packet.Packet(raw, CLASSES, t, plain) for t, raw, plain in raws]}


def reading_b(path):
    run_b = sample.Run(other=True)
    run_b.b.endpoint_answer(9, 1, run_b.a.endpoint(9, 1, 0))
    pcap.write(path, run_b.frames)
    return {path: [packet.Packet(raw, CLASSES, t, readings=packet.Readings(True, True)) for t, raw in run_b.frames]}


def put_in(folder, before, after):
    """The fault, into the one file that has @before."""
    for path in pathlib.Path(folder).rglob("*.lua"):
        text = path.read_text(encoding="utf-8")
        if before in text:
            path.write_text(text.replace(before, after, 1), encoding="utf-8")
            return True
    return False


def readings(tap, folder):
    """D4 and D5: the other reading is a preference."""
    path = os.path.join(folder, "other.pcap")
    for name, wrong in dissector.compare(reading_b(path), options=B):
        tap.test(not wrong, f"reading B of D4 and D5: {name}", wrong)
    (_, wrong), (_, noted) = dissector.compare(reading_b(path))
    tap.test(len(wrong) >= 3 and len(noted) == 1, "reading B, taken for A: other fields, and reserved bits", wrong + noted)
    (_, wrong), (_, noted) = dissector.compare(all_types(os.path.join(folder, "all.pcap")), options=B)
    tap.test(bool(wrong) and bool(noted), "reading A, taken for B: likewise", wrong + noted)
    fabric = "mrc.fabric:" + os.path.join(GOLDEN, "fabric.toml")
    for options, down in ((B, 0), ((), 1)):
        rows = [row for row in run(path, ("mrc.ep.req_op", "mrc.expert.port", "_ws.col.Info"), "-o", fabric, *options)
                if row["mrc.ep.req_op"] in (["0x00"], ["0"])]
        said = "up=3" if not down else "up=6"
        tap.test(rows and all(bool(row["mrc.expert.port"]) == down and said in row["_ws.col.Info"][0] for row in rows),
                 f"both ports are up, {said}", map(str, rows))


def faults(tap, folder):
    frames = all_types(os.path.join(folder, "all.pcap"))
    others = reading_b(os.path.join(folder, "other.pcap"))
    missed, gone = [], []
    for before, after in FAULTS + FAULTS_B:
        read, options = (others, B) if (before, after) in FAULTS_B else (frames, ())
        copy = os.path.join(folder, "spoiled")
        shutil.copytree(os.path.dirname(dissector.LUA), copy)
        if not put_in(copy, before, after):
            gone.append(before)
        elif not any(wrong for _, wrong in dissector.compare(read, os.path.join(copy, "mrc.lua"), options)):
            missed.append(before)
        shutil.rmtree(copy)
    tap.test(not gone, "every fault can be put into mrc.lua", gone)
    tap.test(not missed, "each of them is found", missed)


def spoil(rng, raw):
    raw = bytearray(raw)
    kind = rng.randrange(3)
    if kind == 0:       # one byte
        raw[rng.randrange(14, len(raw))] = rng.randrange(256)
    elif kind == 1:     # a random BTH and what follows
        at = len(raw) - rng.randrange(16, 80)
        raw[at:] = rng.randbytes(len(raw) - at)
    else:               # cut, with lengths that do not say so
        raw = raw[:rng.randrange(60, len(raw))]
    return bytes(raw)


def cut_right(raw):
    """Every shorter packet of the same headers, with right lengths."""
    for size in range(12, 64):
        bth = packet.Packet(raw, CLASSES).frame.bth[:size]
        if len(bth) < size:
            return
        yield sample.frame(sample.A6, sample.B6, 0xc0010001, 8, 2, bth, "none")


def hostile(tap, rng, folder):
    path = os.path.join(folder, "hostile.pcap")
    good = [raw for _, raw in sample.Run().frames]
    frames = [spoil(rng, rng.choice(good)) for _ in range(1500)]
    for raw in good:
        frames += cut_right(raw)
    pcap.write(path, [(i * 1000, raw) for i, raw in enumerate(frames)])
    rows = run(path, ("mrc.bth.opcode", "_ws.lua.error"))
    errors = [f"frame {i}: {row['_ws.lua.error']}: {frames[i - 1].hex()}"
              for i, row in enumerate(rows, 1) if row["_ws.lua.error"]]
    tap.test(len(rows) == len(frames) and not errors, f"{len(frames)} spoiled frames: no error", errors)
    tap.test(sum(bool(row["mrc.bth.opcode"]) for row in rows) > 1000, "most are MRC's all the same")


def wrong_icrc(tap, folder):
    path = os.path.join(folder, "icrc.pcap")
    raw = bytearray(sample.Run().frames[0][1])
    raw[-20] ^= 1
    pcap.write(path, [(0, bytes(raw))])
    row, = run(path, ("mrc.icrc.good", "mrc.expert.icrc"))
    tap.test(row["mrc.icrc.good"] == ["0"] and bool(row["mrc.expert.icrc"]), "a wrong ICRC is shown", [str(row)])


def analysis(tap, folder):
    path = os.path.join(folder, "sample.pcap")
    sampled = sample.Run()
    sampled.a.self_probe(7, 0x1000003)
    pcap.write(path, sampled.frames)
    fields = ("mrc.stream", "mrc.of", "mrc.rtt", "mrc.newly", "mrc.cause", "mrc.cause_in",
              "mrc.first_copy", "mrc.sacked_in")
    rows = run(path, fields)
    wrong = [f"frame {n}: {field} is {rows[n - 1][field]}, not {value}"
             for n, facts in ANALYSIS.items() for field, value in facts.items()
             if rows[n - 1][field] != [value]]
    tap.test(not wrong, "causes, links and round trips of the sample run", wrong)
    lonely = [n for n, row in enumerate(rows, 1) if row["mrc.stream"] not in ([], ["0"])]
    tap.test(not lonely, "both directions are one connection", lonely)


def stories(tap):
    """What golden/README.md says that they show."""
    fabric = "mrc.fabric:" + os.path.join(GOLDEN, "fabric.toml")

    def rows(name, *fields):
        return run(os.path.join(GOLDEN, name + ".pcap"), fields, "-o", fabric)

    path = [row["mrc.path"] for row in rows("types", "mrc.path", "mrc.plane")]
    tap.test(any(p[0].startswith("p1-t0-1 > p1-t1-") and p[0].endswith("> p1-t0-2 > h2") for p in path if p),
             "uSIDs have the names of the fabric file", [str(path[:3])])
    causes = [row["mrc.cause"] for row in rows("trimmed", "mrc.cause") if row["mrc.cause"]]
    tap.test(any("TRIMMED" in c[0] for c in causes), "trimmed: sent again because of the NACK", map(str, causes))
    down = [row for row in rows("port-down", "mrc.ep.ports", "mrc.expert.port") if row["mrc.expert.port"]]
    tap.test(bool(down) and down[0]["mrc.ep.ports"] == ["0x00000001"],
             "port-down: the notice is marked", map(str, down))
    back = [row["mrc.of"] for row in rows("self-probes", "mrc.of")]
    tap.test(len(back) >= 8 and sum(map(bool, back)) * 2 == len(back), "self-probes: half are the others, come back", map(str, back))
    seen = {row["mrc.bth.opcode"][0] for name in ("types", "types-srh", "self-probes") for row in rows(name, "mrc.bth.opcode")}
    missing = [op for op in range(0xc0, 0xe6) if op not in (0xd5, *range(0xda, 0xdc), *range(0xe0, 0xe4)) and
               hex(op) not in seen and str(op) not in seen]
    tap.test(not missing, "each opcode that the module sends is in a capture of it", map(hex, missing))
    died = rows("plane-dies", "mrc.plane", "mrc.bth.rtx", "mrc.bth.opcode")
    again = [row["mrc.plane"] for row in died if row["mrc.bth.rtx"] in (["1"], ["True"])]
    tap.test(["1"] in again, "plane-dies: what it lost leaves by the other", map(str, again))


def statistics(tap):
    command = ["tshark", "-r", os.path.join(GOLDEN, "port-down.pcap"), "-X", "lua_script:" + dissector.LUA,
               "-q", "-o", "mrc.planes:TRUE", "-o", "mrc.fabric:" + os.path.join(GOLDEN, "fabric.toml")]
    out = subprocess.run(command, capture_output=True, text=True, check=False,
                         env={**os.environ, "HOME": "/tmp", "LC_ALL": "C"}).stdout
    shares = [float(s) for s in re.findall(r"([\d.]+)%", out)]
    tap.test(len(shares) == 2 and abs(sum(shares) - 100) < 0.2, "what each plane carried", out.splitlines())


def bad_fabric(tap, folder):
    """Fabric files that lack something: told, and the capture is read all the same."""
    path, wrong = os.path.join(folder, "fabric.toml"), []
    with open(os.path.join(GOLDEN, "fabric.toml"), encoding="utf-8") as f:
        text = f.read()
    for spoiled in ("", text.replace("plane_stride", "stride"), text.replace("index", "number"),
                    text.replace("count = 2", 'count = "two"')):
        with open(path, "w", encoding="utf-8") as f:
            f.write(spoiled)
        done = subprocess.run(["tshark", "-r", os.path.join(GOLDEN, "trimmed.pcap"), "-X", "lua_script:" + dissector.LUA,
                               "-o", "mrc.fabric:" + path], capture_output=True, text=True, check=False,
                              env={**os.environ, "HOME": "/tmp", "LC_ALL": "C"})
        if done.stdout.count(" MRC ") < 5 or "Lua Error" in done.stdout or "mrc: " + path not in done.stderr:
            wrong.append(done.stdout[:200] + done.stderr[-200:])
    tap.test(not wrong, "fabric files that lack something are named, and no more", wrong)


def simulated(tap, folder, program):
    """What mrcsim writes: right packets, which both read alike, with planes and comments."""
    path = os.path.join(folder, "mrcsim.pcapng")
    scenario = os.path.join(HERE, "../../tools/sim/scenarios/plane-loss.toml")
    subprocess.run([program, "run", scenario, "--pcap", path, "--pcap-packets", "800"], check=True)
    frames = {path: [packet.Packet(raw, CLASSES, t) for t, raw in pcap.read(path)]}
    for name, wrong in dissector.compare(frames):
        tap.test(not wrong and len(frames[path]) == 800, f"pcapng of mrcsim: {name}", wrong)
    rows = run(path, ("mrc.plane", "frame.comment", "mrc.stream", "mrc.rtt"))
    bare = [row for row in rows if not row["mrc.plane"] or "window" not in "".join(row["frame.comment"])]
    tap.test(not bare and len({row["mrc.plane"][0] for row in rows}) > 1, "each packet has its plane, and a comment", map(str, bare[:3]))
    kit = subprocess.run([sys.executable, "-I", os.path.join(HERE, "../../tools/conform/mrc-conform"), path], capture_output=True,
                         text=True, check=False)
    tap.test(kit.returncode == 0, "mrc-conform finds nothing broken in it", [kit.stdout, kit.stderr])


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    tap, rng = Verdicts(), random.Random(seed)
    print(f"# seed {seed}")
    with tempfile.TemporaryDirectory() as folder:
        for name, wrong in dissector.compare(golden()):
            tap.test(not wrong, f"golden captures: {name}", wrong)
        stories(tap)
        statistics(tap)
        bad_fabric(tap, folder)
        analysis(tap, folder)
        wrong_icrc(tap, folder)
        hostile(tap, rng, folder)
        readings(tap, folder)
        faults(tap, folder)
        if len(sys.argv) > 2:
            simulated(tap, folder, sys.argv[2])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
