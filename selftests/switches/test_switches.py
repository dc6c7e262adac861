#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""test_switches.py MRCCTL - what "mrcctl fabric export" writes keeps to the published rules of each system.

SONiC's are those of its YANG models (sonic-srv6, -static-route, -interface, -trimming, -buffer-*, -wred-profile,
-scheduler, -queue, -dscp-tc-map, -tc-queue-map, -tc-dscp-map, -port-qos-map), as tables of types; Cumulus' those of
the NVUE reference, EOS' those of its manual, as one pattern for each command. And whatever the system: addresses, uSIDs
and routes are those of "mrcctl fabric generate", every one and no other.

Prints TAP lines without numbers.
"""
import ipaddress
import json
import os
import re
import subprocess
import sys
import tempfile

MRCCTL = sys.argv[1]
RULE = """
[fabric]
block = "fcbb:bb00::/29"
prefix = "fd00:6d72:63::/64"
[planes]
count = 2
[profile]
id = 1
evs_per_plane = 2
[topology]
t0s = 2
t1s = 2
hosts_per_t0 = 3
[topology.ports]
"""
# As each system counts its ports; EOS' are the kernel's names of them.
PORTS = {
    "sonic": ("Ethernet{host*8-8}", "Ethernet{t1*8+248}", "Ethernet{t0*4-4}"),
    "cumulus": ("swp{host}", "swp{t1+32}", "swp{t0}s0"),
    "eos": ("et{host}_1", "et{t1+32}_1", "et{t0}"),
    "frr": ("swp{host}", "up{t1}", "swp{t0}"),
}
QOS = {
    "no [qos]": "",
    "no trimming": "[qos]\ntrim_size = 0\n[qos.dscp]\ndata = 1\n",
    "trimming": "[qos]\ntrim_size = 256\n",
    "smallest": "[qos]\ntrim_size = 192\n[qos.ecn]\nmin = 1\nmax = 1\npercent = 1\n"
                "[qos.class]\ndata = 0\nno_trim = 7\ntrimmed = 6\ncontrol = 1\n",
    "largest": "[qos]\ntrim_size = 1024\n[qos.ecn]\nmin = 256000000\nmax = 256000000\n[qos.dscp]\ndata = 0\nrtx = 63\n"
               "control = \"ef\"\nno_trim = \"cs7\"\ntrimmed = \"af41\"\ntrimmed_lasthop = \"af42\"\n",
}

failed = 0


def tell(name, problems):
    global failed
    failed += bool(problems)
    print(("not ok - " if problems else "ok - ") + name)
    for p in problems[:10]:
        print("#", p)


def run(*args, status=0):
    r = subprocess.run([MRCCTL, *args], capture_output=True, text=True)
    if r.returncode != status:
        raise SystemExit(f"mrcctl {' '.join(args)}: status {r.returncode}: {r.stderr}")
    return r.stdout, r.stderr


# ------------------------------------------------------------------ the truth

def wanted(path, node):
    """(own uSID, {port: address}, {(destination, via, port)}) by "fabric generate"."""
    sid, ports, routes = None, {}, set()
    for r in json.loads(run("-j", "fabric", "generate", path, "node", node)[0]):
        if "address" in r:
            ports[r["link"]] = r["address"]
        elif "via" in r:
            routes.add((r["route"], r["via"], r["link"]))
        elif r.get("action") == "End":
            sid = r["route"]
    return sid, ports, routes


def same(found, truth):
    return [f"{what}: {f} is not {t}" for what, f, t in zip(("uSID", "addresses", "routes"), found, truth) if f != t]


# ---------------------------------------------------------------------- SONiC

def number(low, high):
    return lambda v: isinstance(v, str) and v.isdigit() and low <= int(v) <= high


def one_of(*words):
    return lambda v: v in words


def pattern(p):
    return lambda v: isinstance(v, str) and re.fullmatch(p, v) is not None


def parses(of):
    def check(v):
        try:
            of(v)
            return True
        except ValueError:
            return False
    return check


PORT = pattern(r"Ethernet\d+")
NAME = pattern(r"[a-zA-Z0-9][-a-zA-Z0-9_]{0,31}")
ADDRESS = parses(ipaddress.IPv6Address)
PREFIX = parses(lambda v: ipaddress.IPv6Network(v, strict=True))
INTERFACE = parses(ipaddress.IPv6Interface)
TC = number(0, 7)
BYTES = number(0, 2**64 - 1)
PERCENT = number(0, 100)
BOOL = one_of("true", "false")
# table: (types of the parts of a key, {leaf: type}, leaves that must be there)
SONIC = {
    "INTERFACE": {
        1: ((PORT,), {"ipv6_use_link_local_only": one_of("enable", "disable"), "loopback_action": one_of("drop", "forward")}, ()),
        2: ((PORT, INTERFACE), {}, ()),
    },
    "STATIC_ROUTE": {2: ((one_of("default"), PREFIX), {"nexthop": ADDRESS, "ifname": PORT}, ("nexthop", "ifname"))},
    "SRV6_MY_LOCATORS": {1: ((NAME,), {
        "prefix": ADDRESS, "block_len": number(1, 128), "node_len": number(1, 128), "func_len": number(1, 128),
        "arg_len": number(0, 128), "vrf": one_of("default")}, ("prefix",))},
    "SRV6_MY_SIDS": {2: ((NAME, PREFIX), {
        "action": one_of("uN", "uA", "uDT46"), "decap_vrf": one_of("default"), "decap_dscp_mode": one_of("uniform", "pipe")},
        ("action", "decap_dscp_mode"))},
    "DSCP_TO_TC_MAP": {1: ((NAME,), {str(d): TC for d in range(64)}, ())},
    "TC_TO_QUEUE_MAP": {1: ((NAME,), {str(t): number(0, 7) for t in range(8)}, ())},
    "TC_TO_DSCP_MAP": {1: ((NAME,), {str(t): number(0, 63) for t in range(8)}, ())},
    "PORT_QOS_MAP": {1: ((PORT,), {"dscp_to_tc_map": NAME, "tc_to_queue_map": NAME, "tc_to_dscp_map": NAME}, ())},
    "WRED_PROFILE": {1: ((NAME,), {
        "ecn": one_of("ecn_none", "ecn_green", "ecn_all"),
        **{f"{c}_{x}_threshold": BYTES for c in ("green", "yellow", "red") for x in ("min", "max")},
        **{f"{c}_drop_probability": PERCENT for c in ("green", "yellow", "red")},
        **{f"wred_{c}_enable": BOOL for c in ("green", "yellow", "red")}}, ())},
    "SCHEDULER": {1: ((NAME,), {"type": one_of("DWRR", "WRR", "STRICT")}, ("type",))},
    "QUEUE": {2: ((PORT, number(0, 7)), {"wred_profile": NAME, "scheduler": NAME}, ())},
    "SWITCH_TRIMMING": {1: ((one_of("GLOBAL"),), {
        "size": number(0, 2**32 - 1), "dscp_value": lambda v: v == "from-tc" or number(0, 63)(v), "tc_value": number(0, 255),
        "queue_index": lambda v: v == "dynamic" or number(0, 255)(v)}, ())},
    "BUFFER_PROFILE": {1: ((NAME,), {
        "pool": one_of("egress_lossy_pool"), "size": BYTES, "dynamic_th": pattern("-[1-8]|[0-7]"),
        "packet_discard_action": one_of("drop", "trim")}, ("pool", "size"))},
    "BUFFER_QUEUE": {2: ((PORT, pattern(r"(1[0-5]|[0-9])(-(1[0-5]|[0-9]))?")), {"profile": NAME}, ("profile",))},
}
# leaf: the table that it names an entry of
LEAFREFS = {
    ("PORT_QOS_MAP", "dscp_to_tc_map"): "DSCP_TO_TC_MAP", ("PORT_QOS_MAP", "tc_to_queue_map"): "TC_TO_QUEUE_MAP",
    ("PORT_QOS_MAP", "tc_to_dscp_map"): "TC_TO_DSCP_MAP", ("QUEUE", "wred_profile"): "WRED_PROFILE",
    ("QUEUE", "scheduler"): "SCHEDULER", ("BUFFER_QUEUE", "profile"): "BUFFER_PROFILE",
}


def entry(table, key, leaves, db):
    parts = key.split("|")
    if len(parts) not in SONIC[table]:
        yield f"{table}|{key}: {len(parts)} parts"
        return
    types, known, must = SONIC[table][len(parts)]
    for part, ok in zip(parts, types):
        if not ok(part):
            yield f"{table}|{key}: \"{part}\" in the key"
    for leaf in must:
        if leaf not in leaves:
            yield f"{table}|{key}: {leaf} is missing"
    for leaf, value in leaves.items():
        if leaf not in known:
            yield f"{table}|{key}: unknown leaf {leaf}"
        elif not known[leaf](value):
            yield f"{table}|{key}: {leaf} = {value!r}"
        target = LEAFREFS.get((table, leaf))
        if target and value not in db.get(target, {}):
            yield f"{table}|{key}: there is no {target}|{value}"


def sonic_must(db):
    """The models' "must" statements."""
    for name, w in db.get("WRED_PROFILE", {}).items():
        for c in ("green", "yellow", "red"):
            if int(w[f"{c}_max_threshold"]) < int(w[f"{c}_min_threshold"]):
                yield f"WRED_PROFILE|{name}: {c} max < min"
    for key in db.get("INTERFACE", {}):
        if "|" in key and key.split("|")[0] not in db["INTERFACE"]:
            yield f"INTERFACE|{key}: the port has no entry"
    for name, loc in db["SRV6_MY_LOCATORS"].items():
        if sum(int(loc[x]) for x in ("block_len", "node_len", "func_len", "arg_len")) > 128:
            yield f"SRV6_MY_LOCATORS|{name}: longer than an address"
    for key in db["SRV6_MY_SIDS"]:
        locator, prefix = key.split("|")
        loc = db["SRV6_MY_LOCATORS"].get(locator)
        if not loc:
            yield f"SRV6_MY_SIDS|{key}: there is no such locator"
        elif prefix.split("::")[0] != loc["prefix"].split("::")[0]:
            yield f"SRV6_MY_SIDS|{key}: not in {loc['prefix']}"


def check_sonic(text):
    db = json.loads(text)
    problems = [f"there is no table {t}" for t in db if t not in SONIC]
    for table in set(db) & set(SONIC):
        for key, leaves in db[table].items():
            problems += entry(table, key, leaves, db)
    problems += sonic_must(db)
    sid, = (k.split("|")[1] for k in db["SRV6_MY_SIDS"])
    ports = dict(k.split("|") for k in db["INTERFACE"] if "|" in k)
    routes = {(k.split("|")[1], r["nexthop"], r["ifname"]) for k, r in db["STATIC_ROUTE"].items()}
    return problems, (sid, ports, routes)


# -------------------------------------------------------------------- Cumulus

IF, TCS, N7, DSCP = r"swp\d+(s\d)?", r"[0-7](,[0-7])*", "[0-7]", "([0-9]|[1-5][0-9]|6[0-3])"
DSCPS = f"{DSCP}(,{DSCP})*"
SID = r"[0-9a-f:]+::/48"
WORD = r"[A-Za-z][A-Za-z0-9-]*"
NVUE = [
    rf"interface (?P<port>{IF}) ip address (?P<address>\S+)", rf"interface {IF} link mtu \d{{4,5}}",
    rf"interface {IF} qos remark profile {WORD}", rf"interface {IF} packet-trim egress-eligibility traffic-class {N7}",
    r"router segment-routing srv6 state enabled", rf"router segment-routing srv6 locator {WORD} prefix {SID}",
    rf"router segment-routing srv6 locator {WORD} (block-length 32|node-length 16|func-length 0)",
    rf"router segment-routing static srv6-sid (?P<sid>{SID}) locator-name {WORD}",
    rf"router segment-routing static srv6-sid {SID} behavior uN",
    r"qos mapping default-global trust l3", rf"qos mapping default-global dscp {DSCPS} switch-priority {N7}",
    rf"qos egress-queue-mapping default-global switch-priority {N7} traffic-class {N7}",
    rf"qos egress-scheduler default-global traffic-class {N7} mode strict",
    rf"qos congestion-control default-global traffic-class {TCS} (ecn enable|(min|max)-threshold [1-9]\d*)",
    rf"qos congestion-control default-global traffic-class {TCS} probability ([1-9]\d?|100)",
    rf"qos remark {WORD} switch-priority {N7} dscp {DSCP}",
    r"system forwarding packet-trim state enabled", r"system forwarding packet-trim size (?P<size>\d+)",
    rf"system forwarding packet-trim switch-priority {N7}", rf"system forwarding packet-trim remark dscp ({DSCP}|port-level)",
]


def check_cumulus(text):
    problems, sid, ports, routes, profiles = [], None, {}, set(), set()
    for line in text.splitlines():
        if line.startswith("nv set "):
            m = next(filter(None, (re.fullmatch(p, line[7:]) for p in NVUE)), None)
            if not m:
                problems.append(f"no command: {line}")
                continue
            got = m.groupdict()
            sid = got.get("sid") or sid
            if got.get("port"):
                ports[got["port"]] = got["address"]
            if got.get("size") and (not 256 <= int(got["size"]) <= 1024 or int(got["size"]) % 4):
                problems.append(line)
            profiles |= set(re.findall(r"qos remark (mrc-\S+)", line))
        elif m := re.fullmatch(r" {12}ipv6 route (\S+) (\S+) (\S+)", line):
            routes.add(m.groups())
    problems += [f"{p} is used and not made" for p in set(re.findall(r"remark profile (\S+)", text)) - profiles]
    r = subprocess.run(["sh", "-n"], input=text, capture_output=True, text=True)
    return problems + ([r.stderr] if r.returncode else []), (sid, ports, routes)


# ------------------------------------------------------------------------ EOS

ETH = r"Ethernet\d+(/\d+)*"
EOS = {
    "": [r"hostname \S+", "ipv6 unicast-routing", rf"qos map dscp {DSCP}( {DSCP})* to traffic-class [0-7]",
         r"ipv6 route (?P<dst>\S+) (?P<port>Ethernet\S+) (?P<via>\S+)", "end"],
    r"qos profile \S+": [r"qos trust dscp", r"tx-queue [0-7]", "priority strict",
                         r"random-detect ecn minimum-threshold (?P<min>\d+) bytes maximum-threshold (?P<max>\d+) bytes "
                         r"max-mark-probability ([1-9]\d?|100) weight ([0-9]|1[0-5])"],
    rf"interface (?P<name>{ETH})": [r"description .{1,240}", "no switchport", r"mtu \d{2,5}", "ipv6 enable",
                                    r"ipv6 address (?P<address>\S+) link-local", r"service-profile \S+"],
}


def as_eos(sid, ports, routes):
    def name(port):
        return re.sub("^et", "Ethernet", port).replace("_", "/")
    return sid, {name(p): a for p, a in ports.items()}, {(d, v, name(p)) for d, v, p in routes}


def check_eos(text):
    problems, ports, routes, mode, port = [], {}, set(), "", None
    sid = next(iter(re.findall(r"NEXT-CSID\)\s+!?\s*([0-9a-f:]+/48)", text.replace("\n!", ""))), None)
    for line in text.splitlines():
        if line.startswith("!") or not line:
            mode = "" if line == "!" else mode
            continue
        if not line.startswith(" "):
            mode = next((m for m in EOS if m and re.fullmatch(m, line)), "")
            m = re.fullmatch(rf"interface ({ETH})", line)
            port = m.group(1) if m else None
            if mode:
                continue
        m = next(filter(None, (re.fullmatch(p, line.strip()) for p in EOS[mode])), None)
        if not m:
            problems.append(f"no command of \"{mode}\": {line}")
            continue
        got = m.groupdict()
        if "min" in got and not 1 <= int(got["min"]) <= int(got["max"]) <= 256000000:
            problems.append(line)
        if "address" in got:
            ports[port] = got["address"]
        if "dst" in got:
            routes.add((got["dst"], got["via"], got["port"]))
    return problems, (sid, ports, routes)


# ------------------------------------------------------------------------ FRR
# Its words are checked by FRR itself (vm-tests/frrexport.sh).

TC_LINES = [
    r"qdisc replace dev \S+ root handle 1: prio bands 2 priomap( 1){16}",
    r"filter replace dev \S+ parent 1: protocol ipv6 pref (?P<pref>\d+) handle 1 flower ip_tos (?P<tos>0x[0-9a-f]+)/0xfc classid 1:1",
    r"qdisc replace dev \S+ parent 1:2 red limit \d+ min (?P<min>\d+) max (?P<max>\d+) avpkt 1500 probability [01]\.\d\d ecn",
]


def check_tc(text):
    for line in re.findall(r"^! before: tc (.*)$", text, re.M):
        m = next(filter(None, (re.fullmatch(p, line) for p in TC_LINES)), None)
        got = m.groupdict() if m else {"tos": "0x400", "pref": "0"}
        if "tos" in got and not (int(got["tos"], 16) % 4 == 0 and 4 * (int(got["pref"]) - 1) == int(got["tos"], 16) <= 252) or \
                "min" in got and not 1500 <= int(got["min"]) < int(got["max"]) <= 300000000:
            yield line


def check_frr(text):
    ports = dict(re.findall(r"^interface (\S+)\n description .*\n ipv6 address (\S+)\nexit$", text, re.M))
    routes = set(re.findall(r"^ipv6 route (\S+) (\S+) (\S+)$", text, re.M))
    sid, = re.findall(r"^   sid (\S+) locator MRC behavior uN$", text, re.M)
    shell = "\n".join(re.findall(r"^! (?:before|after): (.*)$", text, re.M))
    r = subprocess.run(["sh", "-n"], input=shell, capture_output=True, text=True)
    return list(check_tc(text)) + ([r.stderr] if r.returncode or not shell else []), (sid, ports, routes)


CHECKS = {"sonic": check_sonic, "cumulus": check_cumulus, "eos": check_eos, "frr": check_frr}


def fabrics(tmp, system):
    rule = RULE + "".join(f'{key} = "{port}"\n' for key, port in zip(("t0_host", "t0_t1", "t1_t0"), PORTS[system]))
    for name, qos in QOS.items():
        path = os.path.join(tmp, "fabric.toml")
        with open(path, "w", encoding="ascii") as f:
            f.write(rule + qos)
        yield name, path
    lists = run("fabric", "generate", path)[0]
    with open(path, "w", encoding="ascii") as f:
        f.write(lists)
    yield "lists", path


def said(system, path, node):
    """Traps, as text without line breaks."""
    out, err = run("fabric", "export", system, node, path)
    return " ".join(re.findall(r"^[!#] +(.*)$", err if system == "sonic" else out, re.M))


def traps(tmp):
    path = os.path.join(tmp, "fabric.toml")
    with open(path, "w", encoding="ascii") as f:
        f.write(RULE.replace("hosts_per_t0 = 3", "hosts_per_t0 = 8193") + "[qos]\ntrim_size = 192\n")
    expected = {
        "sonic": ["accepts the setting silently", "install nothing", "8195 of 8195 ports are not named EthernetN", "of this switch 2 lead"],
        "frr": ["FRR 10.5.4 was seen to accept it and to install nothing", "Linux does not trim", "of this switch 2 lead"],
        "cumulus": ["Spectrum-4", "256 is set", "WJH", "of this switch 2 lead"],
        "eos": ["To be added by hand", "zero uSID", "trims to 192 bytes", "of this switch 2 lead", "8195 of 8195 ports have names"],
    }
    for system, words in expected.items():
        text = said(system, path, "p1-t0-1")
        tell(f"{system}: known traps", [f"does not say \"{w}\"" for w in words if w not in text])


def refused(tmp):
    path = os.path.join(tmp, "fabric.toml")
    cases = [(("frr", "h1-1", path), 2, "h1-1 is a host: mrcd sets it up"), (("frr", "p9-t0-1", path), 2, "there is no switch"),
             (("ios", "p1-t0-1", path), 1, "is none of sonic, frr, cumulus, eos"), (("frr", "all", path), 2, "need a folder for their files: to DIR"),
             (("frr", "p1-t0-1", tmp + "/none.toml"), 2, "cannot be read")]
    problems = []
    for args, status, text in cases:
        err = run("fabric", "export", *args, status=status)[1]
        problems += [] if text in err else [f"{args}: {err}"]
    with open(path, "w", encoding="ascii") as f:
        f.write(RULE + '[[topology.differs]]\nnode = "p1-t0-1"\nports = {"h2" = "x;reboot"}\n')
    for system in CHECKS:
        err = run("fabric", "export", system, "p1-t0-1", path, status=2)[1]
        problems += [] if "cannot be exported" in err else [err]
    tell("what cannot be exported is refused", problems)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        for system, check in CHECKS.items():
            for name, path in fabrics(tmp, system):
                problems = []
                for node in ("p1-t0-1", "p2-t1-2"):
                    p, found = check(run("fabric", "export", system, node, path)[0])
                    truth = wanted(path, node)
                    problems += p + same(found, as_eos(*truth) if system == "eos" else truth)
                tell(f"{system}: {name}", problems)
            run("fabric", "export", system, "all", path, "to", f"{tmp}/{system}")
            files = {f.split(".")[0] for f in os.listdir(f"{tmp}/{system}")}
            tell(f"{system}: all switches, one file each",
                 [] if files == {f"p{p}-t{t}-{i}" for p in (1, 2) for t in (0, 1) for i in (1, 2)} else [str(files)])
        refused(tmp)
        traps(tmp)
    return failed > 0


sys.exit(main())
