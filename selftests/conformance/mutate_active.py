#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""mutate_active.py - the active kit plays with a device that is right, and with one that is wrong in each thing that it asks.

    mutate_active.py [QUESTION]...
"""
import ast
import importlib.machinery
import importlib.util
import os
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

HERE = os.path.dirname(os.path.realpath(__file__))
KIT = os.path.join(HERE, "../../tools/conform")
sys.path[:0] = [HERE, KIT]

import build    # noqa: E402  pylint: disable=wrong-import-position
import link     # noqa: E402  pylint: disable=wrong-import-position
import pcap     # noqa: E402  pylint: disable=wrong-import-position
from device import Device           # noqa: E402  pylint: disable=wrong-import-position
from mutate_lua import Verdicts     # noqa: E402  pylint: disable=wrong-import-position
from packet import Readings         # noqa: E402  pylint: disable=wrong-import-position
from peer import Settings           # noqa: E402  pylint: disable=wrong-import-position
from questions import QUESTIONS, TUNNEL, asked as questions     # noqa: E402  pylint: disable=wrong-import-position

LOADER = importlib.machinery.SourceFileLoader("mrc_conform_active", os.path.join(KIT, "mrc-conform-active"))
SPEC = importlib.util.spec_from_loader("mrc_conform_active", LOADER)
ACTIVE = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(ACTIVE)

ENDS = {6: ("fd00:6d72:63::2", "fd00:6d72:63::1"), 4: ("10.77.0.2", "10.77.0.1")}
# What another reading of the specification does: no fault.
DISPUTED = {"unpadded", "port-4791", "port-4971"}
JUDGED_ALWAYS = {"nack-sent", *TUNNEL}      # of each packet, in peer.py
# By port: locators of the kit and of the device, which have a cable.
KIT_AT, DEVICE_AT = ("fcbb:bb00:1202::", "fcbb:bb00:2202::"), ("fcbb:bb00:1201::", "fcbb:bb00:2201::")
SRV6, SRH = "SRv6", "SRv6 with SRH"


def tunnels(kind):
    """The kit's and the device's. The device sends as from its end of a fabric, without which its packets arrive."""
    if not kind:
        return None, None
    out = [[(at.replace("bb00:", "bb00:1001:"), at) if kind == SRH else (at, None)] for at in DEVICE_AT]
    back = [[(at, at) if kind == SRH else (at, None)] for at in KIT_AT]
    return build.Tunnel(KIT_AT, out), build.Tunnel(DEVICE_AT, back)


def play(fault=None, names=None, version=6, ports=2, kind=None, reads=Readings(), kit_reads=None):
    own, device = ENDS[version]
    kits, devices = tunnels(kind)
    wire = link.Inside(Device(device, own, fault, ports, devices, reads))
    settings = Settings(ports=ports, patience=2, readings=reads if kit_reads is None else kit_reads)
    return ACTIVE.play(wire, build.Way(own, device, tunnel=kits), settings, names or list(ACTIVE.SCENARIOS), lambda text: None)


def asked():
    """{question: scenarios that judge it}, by a device that is right."""
    where = {}
    for name in ACTIVE.SCENARIOS:
        judge = play(names=[name], kind=SRV6)
        for question in QUESTIONS:
            if judge.looked[question]:
                where.setdefault(question, []).append(name)
    return where


def named():
    """Every question that the scenarios judge."""
    found = set()
    for name in ("responder", "requestor"):
        with open(os.path.join(KIT, name + ".py"), encoding="utf-8") as f:
            found |= {n.value for n in ast.walk(ast.parse(f.read())) if isinstance(n, ast.Constant) and n.value in QUESTIONS}
    return found | DISPUTED | JUDGED_ALWAYS


def command(tap):
    """As a program, with a device on a pipe."""
    def run(*args):
        done = subprocess.run([sys.executable, "-I", os.path.join(KIT, "mrc-conform-active"), *args], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stdout + done.stderr
    device = shlex.join((sys.executable, "-I", os.path.join(HERE, "device.py"), *reversed(ENDS[6])))
    with tempfile.TemporaryDirectory() as folder:
        code, out = run("--simulated", device, "--write", folder)
        tap.test(code == 0 and " 0 BROKEN, 0 disputed" in out, "as a program: a device that is right, status 0", [str(code), out])
        read = {name[:-5]: len(list(pcap.read(os.path.join(folder, name)))) for name in os.listdir(folder)}
        empty = sorted(name for name in ACTIVE.SCENARIOS if not read.get(name))
        tap.test(empty == ["requestor.port_down"], "each scenario has a capture, but that which wants two ports", empty)
    code, out = run("--simulated", device + " bitmap-only")
    tap.test(code == 1 and "a SACK shows nothing that has not come" in out, "a device that is wrong is named, status 1", [str(code), out])
    for option in ("--ep-op-high", "--port-bit-1"):
        code, out = run("--simulated", device + " " + option, option, "--only", "endpoints")
        tap.test(code == 0 and " 0 BROKEN, 0 disputed" in out, f"{option}, at both: nothing is disputed", [str(code), out])
    code, out = run("--simulated", device + " --ep-op-high", "--only", "endpoints")
    tap.test(code == 0 and " 0 BROKEN, 1 disputed" in out and "[D4]" in out, "--ep-op-high, of the device alone: D4", [str(code), out])
    code, out = run("--simulated", "false")
    tap.test(code == 2 and "Traceback" not in out, "a device that ends, status 2", [str(code), out])
    code, out = run("--port", "lo")
    tap.test(code == 2 and "--agent" in out, "no agent, status 2", [str(code), out])
    code, out = run("--simulated", device, "--path", "1=" + DEVICE_AT[0])
    tap.test(code == 2 and "--locator" in out, "a path without a locator, status 2", [str(code), out])
    code, out = run("--list")
    tap.test(code == 0 and all(q.text in out for q in QUESTIONS.values()), "the list has every rule", [str(code), out])


def bad(judge):
    return [f"{rule}: {judge.examples[rule]}" for rule, n in judge.broken.items() if n]


def readings(tap):
    """D4 and D5, at both ends and at one."""
    b = Readings(True, True)
    judge = play(reads=b)
    tap.test(not bad(judge) and not any(judge.disputed.values()), "reading B of D4 and D5 at both ends: no rule is broken", bad(judge))
    for own, other in ((b, Readings()), (Readings(), b)):
        judge = play(names=["responder.endpoints"], reads=own, kit_reads=other)
        tap.test(judge.verdict("EETH reserved zero") == "disputed" and not bad(judge), f"the device has {own}, the kit not: D4", bad(judge))
    judge = play(names=["requestor.port_down"], kit_reads=b)
    tap.test(judge.verdict("port-down") == "BROKEN", "bit 1 is port 1 at the kit alone: D5", bad(judge))


def main():
    tap = Verdicts()
    for version, kind in ((v, k) for v in ENDS for k in (None, SRV6, SRH)):
        judge, wanted = play(version=version, kind=kind), questions(kind)
        unseen = [q for q in wanted if not judge.looked[q]]
        tap.test(not bad(judge) and not unseen and not judge.said, f"IPv{version}, {kind or 'plain'}: a device that is right breaks "
                 f"none of {len(wanted)} rules, and is asked for all", bad(judge) + unseen + list(judge.said))
    tap.test(named() >= set(QUESTIONS), "each question is one of a scenario", sorted(set(QUESTIONS) - named()))
    where = asked()
    for question in sys.argv[1:] or QUESTIONS:
        judge = play(question, where.get(question), kind=SRV6 if question in TUNNEL else None)
        wanted = "disputed" if question in DISPUTED else "BROKEN"
        got = judge.verdict(question)
        tap.test(got == wanted, f"a device that is wrong in {question}: {wanted}", [got, *bad(judge)])
    if not sys.argv[1:]:
        readings(tap)
        command(tap)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
