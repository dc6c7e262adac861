# SPDX-License-Identifier: GPL-2.0
"""tshark.py - the same frames through Wireshark's dissectors.

They know Ethernet to UDP, SRv6's routing header, and BTH and ICRC of RoCEv2, of which MRC's
are descendants; MRC's opcodes they do not.
"""
import os
import socket
import subprocess

from layers import ROUTING

FIELDS = ("frame.number", "frame.len", "ip.src", "ip.dst", "ip.dsfield.dscp", "ip.dsfield.ecn",
          "ip.len", "ip.ttl", "ip.proto", "ip.checksum.status",
          "ipv6.src", "ipv6.dst", "ipv6.tclass.dscp", "ipv6.tclass.ecn", "ipv6.flow", "ipv6.plen",
          "ipv6.hlim", "ipv6.nxt", "ipv6.routing.type", "ipv6.routing.segleft",
          "udp.srcport", "udp.dstport", "udp.length",
          "infiniband.bth.opcode", "infiniband.bth.p_key", "infiniband.bth.destqp",
          "infiniband.bth.psn", "infiniband.bth.padcnt", "infiniband.bth.a",
          "_ws.malformed", "_ws.expert.message")
ZERO_UDP_CHECKSUM = "illegal checksum value (0)"      # RoCEv2 and MRC want it, over IPv6, too
ERROR_WORDS = ("malformed", "truncated", "bad checksum", "exceeds", "incorrect", "illegal")


def dissect(path, fields=FIELDS, options=("-d", "udp.port==4971,infiniband")):
    """One {field: [values]} per frame."""
    command = ["tshark", "-n", "-r", path, "-o", "ip.check_checksum:TRUE", *options, "-T", "fields",
               "-E", "separator=/t", "-E", "occurrence=a", "-E", "aggregator=|"]
    for field in fields:
        command += ["-e", field]
    out = subprocess.run(command, check=True, capture_output=True, text=True,
                         env={**os.environ, "HOME": "/tmp", "LC_ALL": "C"}).stdout
    for line in out.splitlines():
        values = line.split("\t")
        yield {f: v.split("|") if v else [] for f, v in zip(fields, values)}


def ours(p):
    """What tshark should say of @p."""
    ips = ([p.frame.outer] if p.frame.outer else []) + [p.frame.ip]
    v6, v4 = [i for i in ips if i.v6], [i for i in ips if not i.v6]
    name6 = lambda a: socket.inet_ntop(socket.AF_INET6, a)
    name4 = lambda a: socket.inet_ntop(socket.AF_INET, a)
    srh = [i for i in v6 if i.srh]
    return {
        "ip.src": [name4(i.src) for i in v4], "ip.dst": [name4(i.dst) for i in v4],
        "ip.dsfield.dscp": [i.dscp for i in v4], "ip.dsfield.ecn": [i.ecn for i in v4],
        "ip.len": [i.length for i in v4], "ip.ttl": [i.ttl for i in v4],
        "ip.proto": [i.proto for i in v4], "ip.checksum.status": [1 for _ in v4],
        "ipv6.src": [name6(i.src) for i in v6], "ipv6.dst": [name6(i.dst) for i in v6],
        "ipv6.tclass.dscp": [i.dscp for i in v6], "ipv6.tclass.ecn": [i.ecn for i in v6],
        "ipv6.flow": [i.label for i in v6], "ipv6.plen": [i.length for i in v6],
        "ipv6.hlim": [i.ttl for i in v6],
        "ipv6.nxt": [ROUTING if i.srh else i.proto for i in v6],
        "ipv6.routing.type": [4 for _ in srh], "ipv6.routing.segleft": [i.left for i in srh],
        "udp.srcport": [p.frame.sport], "udp.dstport": [p.frame.dport], "udp.length": [p.udp_len],
        "infiniband.bth.opcode": [p.opcode], "infiniband.bth.p_key": [0xffff],
        "infiniband.bth.destqp": [p.dqpn], "infiniband.bth.psn": [p.psn],
        "infiniband.bth.padcnt": [p.pad], "infiniband.bth.a": [int(p.a)],
    }


def same(theirs, mine):
    if len(theirs) != len(mine):
        return False
    for t, m in zip(theirs, mine):
        if isinstance(m, int):
            t = {"True": "1", "False": "0"}.get(t, t)
            if int(t, 0) != m:
                return False
        elif t != m:
            return False
    return True


def compare(frames):
    """@frames: {path: [Packet or None]}. Yield (test, what is wrong)."""
    counts, malformed, wrong, compared = [], [], [], 0
    for path, packets in frames.items():
        rows = list(dissect(path))
        if len(rows) != len(packets):
            counts.append(f"{path}: {len(rows)} frames, not {len(packets)}")
        for row, p in zip(rows, packets):
            if not p:
                continue
            where = f"{os.path.basename(path)} frame {row['frame.number'][0]}"
            compared += 1
            said = " ".join(row["_ws.malformed"] + row["_ws.expert.message"]).lower()
            said = said.replace(ZERO_UDP_CHECKSUM, "")
            if any(word in said for word in ERROR_WORDS):
                malformed.append(f"{where}: {said}")
            for field, mine in ours(p).items():
                if not same(row[field], mine):
                    wrong.append(f"{where}: {field} is {row[field]}, not {mine}")
    yield "tshark reads as many frames", counts
    yield "tshark finds nothing malformed", malformed
    yield f"tshark reads the same fields in {compared} frames", wrong
