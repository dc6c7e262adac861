# SPDX-License-Identifier: GPL-2.0
"""dissector.py - tools/wireshark/mrc.lua and packet.py must read the same in every field.

The two share no code. A field that one of them has and the other has not is a difference, too.
"""
import os
import struct

import packet
import tshark

LUA = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../tools/wireshark/mrc.lua")
NEITHER = ("mrc.ev", "mrc.icrc", "mrc.icrc.good")      # beside the fields of the packet
STAMP = ("mrc.ts.tx", "mrc.ts.tsr", "mrc.ts.ftype")


def of_bth(p):
    return {"mrc.bth.opcode": p.opcode, "mrc.bth.se": p.se, "mrc.bth.m": p.migrated, "mrc.bth.pad": p.pad,
            "mrc.bth.tver": 0, "mrc.bth.pkey": 0xffff, "mrc.bth.dqpn": p.dqpn, "mrc.bth.a": p.a,
            "mrc.bth.rtx": p.rtx, "mrc.bth.ts": p.ts, "mrc.bth.psn": p.psn, "mrc.ev": p.ev,
            "mrc.icrc": struct.unpack("<I", p.frame.icrc)[0], "mrc.icrc.good": 1}


def stamp(p):
    return dict(zip(STAMP, (p.tx_ts, 0, 1)))


def of_data(p):
    said = {"mrc.meth.rqmsn": p.rqmsn, "mrc.meth.msn": p.msn, "mrc.reth.va": p.va,
            "mrc.reth.rkey": p.rkey, "mrc.reth.dmalen": p.dmalen}
    if p.ts:
        said.update(stamp(p))
    if p.opcode in packet.WITH_IMM:
        said["mrc.imm"], = struct.unpack("!I", p.extra)
    elif p.opcode in (0xd6, 0xd7):
        said["mrc.ieth.rkey"], = struct.unpack("!I", p.extra)
    elif p.opcode == 0xd2:
        said["mrc.atomack.original"], = struct.unpack("!Q", p.extra)
    elif p.family == "atomic":
        said["mrc.atomic.swap_add"], said["mrc.atomic.compare"] = struct.unpack("!QQ", p.extra)
    if p.payload:
        said["mrc.payload"] = p.payload.hex()
    if p.pad:
        said["mrc.padding"] = "00" * p.pad
    return said


def of_sack(p):
    said = {"mrc.sack.m": p.m, "mrc.sack.pr": p.pr, "mrc.sack.ev": p.entropy,
            "mrc.sack.spdcid": p.spdcid, "mrc.sack.dpdcid": p.dpdcid, "mrc.sack.cack": p.cack,
            "mrc.sack.cc_type": 0, "mrc.sack.cc_fl": 0, "mrc.sack.mpr": p.mpr,
            "mrc.sack.offset": p.sack_offset, "mrc.sack.bitmap": p.bitmap,
            "mrc.sack.tx_ts": p.echo_ts, "mrc.sack.ooo": p.ooo, "mrc.sack.restore": p.restore,
            "mrc.sack.pen": p.pen, "mrc.sack.rcvd": p.rcvd, "mrc.sack.drawn": drawn(p)}
    if p.pr:
        said["mrc.sack.probe_id"] = p.probe_id
    else:
        said["mrc.sack.ack_psn_offset"] = p.trigger
    return said


def drawn(p):
    bits = f"{p.bitmap:b}"[::-1]
    if not p.bitmap:
        return "nothing beyond CACK"
    first = p.cack + p.sack_offset & 0xffffff
    return (f"{first} {bits.replace('1', '#').replace('0', '.')} "
            f"{first + len(bits) - 1 & 0xffffff}")


def of_copy(p):
    said = {"mrc.deth.qkey": p.qkey, "mrc.deth.mark": p.mark, "mrc.deth.sqpn": p.sqpn}
    if p.extra:
        said["mrc.imm"], = struct.unpack("!I", p.extra)
    if p.payload:
        said["mrc.payload"] = p.payload.hex()
    if p.pad:
        said["mrc.padding"] = "00" * p.pad
    return said


def of_control(p):
    if p.opcode == packet.ACK:
        return {"mrc.aeth.syndrome": p.syndrome, "mrc.aeth.msn": p.done}
    if p.opcode == packet.SACK:
        return of_sack(p)
    if p.opcode == packet.NACK:
        return {"mrc.nack.reason": p.reason, "mrc.nack.vendor": p.vendor, "mrc.nack.ev": p.entropy,
                "mrc.nack.spdcid": p.spdcid, "mrc.nack.dpdcid": p.dpdcid, "mrc.nack.psn": p.psn,
                "mrc.nack.cc_type": 2, "mrc.nack.cc_fl": 0, "mrc.nack.tx_ts": p.echo_ts}
    if p.opcode == packet.PROBE:
        return {"mrc.probe.vendor": p.vendor, "mrc.probe.id": p.probe_id,
                "mrc.probe.spdcid": p.spdcid, "mrc.probe.dpdcid": p.dpdcid, **stamp(p)}
    if p.opcode == packet.SELF:
        return {"mrc.self.id": p.test, "mrc.self.number": p.number, "mrc.self.secret": p.secret, "mrc.payload": p.payload.hex()}
    if p.opcode == packet.EP_REQ:
        return {"mrc.ep.req_op": p.op, "mrc.ep.vendor": p.vendor, "mrc.ep.ports": p.mask, **stamp(p)}
    return {"mrc.ep.rsp_op": p.op, "mrc.ep.vendor": p.vendor, "mrc.ep.tx_ts": p.echo_ts}


def ours(p):
    read = of_data if p.opcode in packet.DATA else of_copy if p.opcode in packet.COPY else of_control
    return {**of_bth(p), **read(p)}


# Every field that a packet can have.
FIELDS = ("mrc.bth.opcode", "mrc.bth.se", "mrc.bth.m", "mrc.bth.pad", "mrc.bth.tver", "mrc.bth.pkey",
          "mrc.bth.dqpn", "mrc.bth.a", "mrc.bth.rtx", "mrc.bth.ts", "mrc.bth.psn", *NEITHER, *STAMP,
          "mrc.meth.rqmsn", "mrc.meth.msn", "mrc.reth.va", "mrc.reth.rkey", "mrc.reth.dmalen",
          "mrc.imm", "mrc.ieth.rkey", "mrc.atomack.original", "mrc.atomic.swap_add",
          "mrc.atomic.compare", "mrc.payload", "mrc.padding", "mrc.aeth.syndrome", "mrc.aeth.msn",
          "mrc.sack.m", "mrc.sack.pr", "mrc.sack.ack_psn_offset", "mrc.sack.probe_id",
          "mrc.sack.ev", "mrc.sack.spdcid", "mrc.sack.dpdcid", "mrc.sack.cack", "mrc.sack.cc_type",
          "mrc.sack.cc_fl", "mrc.sack.mpr", "mrc.sack.offset", "mrc.sack.bitmap", "mrc.sack.drawn",
          "mrc.sack.tx_ts", "mrc.sack.ooo", "mrc.sack.restore", "mrc.sack.pen", "mrc.sack.rcvd",
          "mrc.nack.reason", "mrc.nack.vendor", "mrc.nack.ev", "mrc.nack.spdcid",
          "mrc.nack.dpdcid", "mrc.nack.psn", "mrc.nack.cc_type", "mrc.nack.cc_fl",
          "mrc.nack.tx_ts", "mrc.probe.vendor", "mrc.probe.id", "mrc.probe.spdcid",
          "mrc.probe.dpdcid", "mrc.ep.req_op", "mrc.ep.rsp_op", "mrc.ep.vendor", "mrc.ep.ports",
          "mrc.ep.tx_ts", "mrc.self.id", "mrc.self.number", "mrc.self.secret", "mrc.deth.qkey", "mrc.deth.mark",
          "mrc.deth.sqpn")


def same(theirs, mine):
    if isinstance(mine, str):
        return theirs == [mine]
    return tshark.same(theirs, [int(mine)])


def differences(row, p):
    said = ours(p)
    for field in FIELDS:
        if field not in said:
            if row[field]:
                yield f"{field} is {row[field]}, and should not be there"
        elif not same(row[field], said[field]):
            yield f"{field} is {row[field]}, not {said[field]}"


def compare(frames, lua=LUA, options=()):
    """@frames: {path: [Packet or None]}. Yield (test, what is wrong)."""
    wrong, noted, compared = [], [], 0
    for path, packets in frames.items():
        rows = tshark.dissect(path, (*FIELDS, "mrc.expert.reserved", "mrc.expert.long", "_ws.malformed",
                                     "_ws.lua.error"), ("-X", "lua_script:" + lua, *options))
        for number, (row, p) in enumerate(zip(rows, packets), 1):
            where = f"{os.path.basename(path)} frame {number}"
            if row["_ws.lua.error"] or row["_ws.malformed"]:
                noted.append(f"{where}: {row['_ws.lua.error']} {row['_ws.malformed']}")
            if not p:
                continue
            compared += 1
            wrong += [f"{where}: {what}" for what in differences(row, p)]
            if row["mrc.expert.reserved"] or row["mrc.expert.long"]:
                noted.append(f"{where}: reserved bits, or longer than its headers")
    yield f"mrc.lua reads the same fields in {compared} frames", wrong
    yield "mrc.lua finds nothing to note", noted
