#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""refusals.py - requests that the netlink family refuses, and the attribute that each is refused for.

    refusals.py DEV

The kernel says where in the request that attribute stands, or which one is missing. Prints what is
otherwise.
"""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "verbs"))
from mrc_netlink import (  # noqa: E402
    A_CC, A_CC_ID, A_DEV_NAME, A_EV, A_EV_INDEX, A_EV_PORT, A_EV_STATE, A_EV_VALUE, A_PEER, A_PEER_GID, A_PROFILE,
    A_PROFILE_DST, A_PROFILE_EV, A_PROFILE_FMT, A_PROFILE_GEN, A_PROFILE_ID, A_PROFILE_MODE, CMD_CC_DEL, CMD_CC_SET,
    CMD_EV_SET, CMD_PROFILE_SET, FMT_UDP, MODE_AUTO, MODE_GEN, NLM_F_ACK, NLM_F_REQUEST, NLMSG_ERROR, Family, attr,
    attrs_of, nest)

CMD_DEV_SET, CMD_PLANE_SET, CMD_PROFILE_DEL, CMD_EP_SEND, CMD_PROBE_SET, CMD_AVOID_SET = 2, 4, 7, 17, 21, 23
A_IFINDEX, A_DEV, A_PLANE, A_EP, A_PROBES, A_PROBE, A_AVOIDS, A_AVOID = 1, 4, 5, 14, 16, 17, 18, 19
DEV_DSCP_DATA, DEV_PLANES, DEV_CC_PROFILE = 6, 10, 19
PLANE_NUMBER, PLANE_SID = 1, 7
PROFILE_COUNT, PROFILE_DST_LEN = 7, 11
CC_ALGORITHM, CC_ETA = 2, 13
EP_ID, EP_GID, EP_OP, EP_FMT, EP_VALUE, EP_PORT = 1, 2, 4, 7, 8, 9
PROBES_EXPIRY, PROBES_COUNT = 1, 6
PROBE_ID, PROBE_KIND, PROBE_PLANE, PROBE_PATH, PROBE_INTERVAL, PROBE_SENT, KIND_HOST = 1, 2, 3, 4, 7, 8, 3
AVOIDS_BY, AVOIDS_EXPIRY, AVOIDS_LEFT, AVOID_PLANE, AVOID_FROM, AVOID_TO = 1, 2, 3, 1, 2, 3
OFFS, MISS_TYPE, MISS_NEST = 2, 5, 6


def u8(kind, n):
    return attr(kind, bytes([n]))


def u16(kind, n):
    return attr(kind, struct.pack("H", n))


def u32(kind, n):
    return attr(kind, struct.pack("I", n))


def u64(kind, n):
    return attr(kind, struct.pack("Q", n))


def text(kind, s):
    return attr(kind, s.encode() + b"\0")


def profile(*more):
    return nest(A_PROFILE, u64(A_PROFILE_ID, 9), *more)


def ev(port, value=50000):
    return nest(A_PROFILE_EV, attr(A_EV_VALUE, struct.pack("!H30x", value)), u8(A_EV_PORT, port))


def ep(*more, fmt=FMT_UDP):
    return nest(A_EP, attr(EP_ID, struct.pack("H", 1)), attr(EP_GID, bytes(15) + b"\1"), u32(EP_OP, 1),
                u32(EP_FMT, fmt), *more)


def probe(*more, kind=0, interval=100000):
    return nest(A_PROBE, u32(PROBE_ID, 1), u32(PROBE_KIND, kind), u32(PROBE_INTERVAL, interval), *more)


def avoid(*link, by=0):
    return nest(A_AVOIDS, u32(AVOIDS_BY, by)), nest(A_AVOID, *link)


UDP = u32(A_PROFILE_FMT, FMT_UDP)
NOBODY = attr(A_PEER_GID, b"\xfd" + bytes(15))

# What, the command, its attributes beside the device, and where the one at fault is: numbers of attributes from the
# outside in; MISSING: the last one is not there.
MISSING = "missing"
CASES = (
    ("an object that is missing", CMD_DEV_SET, (), (A_DEV, MISSING)),
    ("an attribute that is read-only", CMD_DEV_SET, (nest(A_DEV, u32(DEV_PLANES, 1)),), (A_DEV, DEV_PLANES)),
    ("a DSCP of 64", CMD_DEV_SET, (nest(A_DEV, u8(DEV_DSCP_DATA, 64)),), (A_DEV, DEV_DSCP_DATA)),
    ("settings that contradict each other", CMD_DEV_SET, (nest(A_DEV, u8(DEV_DSCP_DATA, 16)),), (A_DEV,)),
    ("a CC profile there is not", CMD_DEV_SET, (nest(A_DEV, u64(DEV_CC_PROFILE, 77)),), (A_DEV,)),
    ("a plane without a number", CMD_PLANE_SET, (nest(A_PLANE),), (A_PLANE, PLANE_NUMBER, MISSING)),
    ("a plane there is not", CMD_PLANE_SET, (nest(A_PLANE, u8(PLANE_NUMBER, 9)),), (A_PLANE, PLANE_NUMBER)),
    ("a SID that is multicast", CMD_PLANE_SET,
     (nest(A_PLANE, u8(PLANE_NUMBER, 1), attr(PLANE_SID, b"\xff" + bytes(15))),), (A_PLANE, PLANE_SID)),
    ("id 0", CMD_PROFILE_SET, (nest(A_PROFILE, u64(A_PROFILE_ID, 0), UDP),), (A_PROFILE, A_PROFILE_ID)),
    ("no format", CMD_PROFILE_SET, (profile(ev(1)),), (A_PROFILE, A_PROFILE_FMT, MISSING)),
    ("no EVs", CMD_PROFILE_SET, (profile(UDP),), (A_PROFILE,)),
    ("a mode there is not", CMD_PROFILE_SET, (profile(UDP, u32(A_PROFILE_MODE, 8)),), (A_PROFILE,)),
    ("a count in mode EXP", CMD_PROFILE_SET, (profile(UDP, u32(PROFILE_COUNT, 1), ev(1)),), (A_PROFILE, PROFILE_COUNT)),
    ("fields in mode AUTO", CMD_PROFILE_SET, (profile(UDP, u32(A_PROFILE_MODE, MODE_AUTO), nest(A_PROFILE_GEN)),),
     (A_PROFILE, A_PROFILE_GEN)),
    ("EVs in mode GEN", CMD_PROFILE_SET, (profile(UDP, u32(A_PROFILE_MODE, MODE_GEN), ev(1)),), (A_PROFILE,)),
    ("port 33 of an EV", CMD_PROFILE_SET, (profile(UDP, ev(33)),), (A_PROFILE, A_PROFILE_EV, A_EV_PORT)),
    ("an EV without a port", CMD_PROFILE_SET, (profile(UDP, nest(A_PROFILE_EV, attr(A_EV_VALUE, bytes(32)))),),
     (A_PROFILE, A_PROFILE_EV)),
    ("a length without a destination", CMD_PROFILE_SET, (profile(UDP, u8(PROFILE_DST_LEN, 9)),),
     (A_PROFILE, PROFILE_DST_LEN)),
    ("a destination that is short", CMD_PROFILE_SET, (profile(UDP, attr(A_PROFILE_DST, bytes(4))),),
     (A_PROFILE, A_PROFILE_DST)),
    ("EVs in a deletion", CMD_PROFILE_DEL, (profile(ev(1)),), (A_PROFILE, A_PROFILE_EV)),
    ("a profile there is not", CMD_PROFILE_DEL, (profile(),), (A_PROFILE,)),
    ("an algorithm there is not", CMD_CC_SET, (nest(A_CC, u64(A_CC_ID, 1), text(CC_ALGORITHM, "bbr")),),
     (A_CC, CC_ALGORITHM)),
    ("a parameter of no algorithm", CMD_CC_SET, (nest(A_CC, u64(A_CC_ID, 1), u32(CC_ETA, 1)),), (A_CC,)),
    ("a CC profile to delete", CMD_CC_DEL, (nest(A_CC, u64(A_CC_ID, 77)),), (A_CC,)),
    ("no EV to set", CMD_EV_SET, (nest(A_PEER, NOBODY),), (A_EV, MISSING)),
    ("a peer there is not", CMD_EV_SET, (nest(A_PEER, NOBODY), nest(A_EV, u32(A_EV_INDEX, 0), u32(A_EV_STATE, 0))),
     (A_PEER, A_PEER_GID)),
    ("nothing to ask", CMD_EP_SEND, (), (A_EP, MISSING)),
    ("a question without an EV", CMD_EP_SEND, (ep(),), (A_EP,)),
    ("a format there is not", CMD_EP_SEND, (ep(attr(EP_VALUE, b"\1" * 32), u8(EP_PORT, 1), fmt=3),), (A_EP, EP_FMT)),
    ("self-probes for ever", CMD_PROBE_SET, (nest(A_PROBES, u32(PROBES_EXPIRY, 0)),), (A_PROBES, PROBES_EXPIRY)),
    ("a count of self-probes", CMD_PROBE_SET, (nest(A_PROBES, u32(PROBES_COUNT, 1)),), (A_PROBES, PROBES_COUNT)),
    ("a self-probe without an interval", CMD_PROBE_SET, (nest(A_PROBE, u32(PROBE_ID, 1), u32(PROBE_KIND, 3)),),
     (A_PROBE,)),
    ("a self-probe without a path", CMD_PROBE_SET, (probe(u8(PROBE_PLANE, 1)),), (A_PROBE,)),
    ("a path of the host itself", CMD_PROBE_SET, (probe(u8(PROBE_PLANE, 1), kind=KIND_HOST),), (A_PROBE, PROBE_PLANE)),
    ("a path that is multicast", CMD_PROBE_SET, (probe(u8(PROBE_PLANE, 1), attr(PROBE_PATH, b"\xff" + bytes(15))),),
     (A_PROBE, PROBE_PATH)),
    ("a kind there is not", CMD_PROBE_SET, (probe(kind=9),), (A_PROBE, PROBE_KIND)),
    ("an interval of no time", CMD_PROBE_SET, (probe(kind=KIND_HOST, interval=0),), (A_PROBE, PROBE_INTERVAL)),
    ("intervals shorter than the timeout allows", CMD_PROBE_SET,
     (nest(A_PROBES, u32(3, 1000000)), probe(kind=KIND_HOST, interval=1000)), (A_PROBE, PROBE_INTERVAL)),
    ("a counter of a self-probe", CMD_PROBE_SET, (probe(u64(PROBE_SENT, 1), kind=KIND_HOST),), (A_PROBE, PROBE_SENT)),
    ("one id twice", CMD_PROBE_SET, (probe(kind=KIND_HOST), probe(kind=KIND_HOST)), (A_PROBE,)),
    ("more self-probes than a device takes", CMD_PROBE_SET,
     tuple(nest(A_PROBE, u32(PROBE_ID, i), u32(PROBE_KIND, KIND_HOST), u32(PROBE_INTERVAL, 1000000))
           for i in range(1025)), (A_PROBE,)),
    ("more self-probes a second than a device takes", CMD_PROBE_SET,
     tuple(nest(A_PROBE, u32(PROBE_ID, i), u32(PROBE_KIND, KIND_HOST), u32(PROBE_INTERVAL, 1000))
           for i in range(33)), (A_PROBE,)),
    ("links that nobody avoids", CMD_AVOID_SET, (nest(A_AVOID, u8(AVOID_PLANE, 1), u16(AVOID_FROM, 1)),),
     (A_AVOIDS, MISSING)),
    ("a list of nobody", CMD_AVOID_SET, (nest(A_AVOIDS, u32(AVOIDS_EXPIRY, 1)),), (A_AVOIDS, AVOIDS_BY, MISSING)),
    ("a list of a stranger", CMD_AVOID_SET, (nest(A_AVOIDS, u32(AVOIDS_BY, 2)),), (A_AVOIDS, AVOIDS_BY)),
    ("a list that has expired", CMD_AVOID_SET, (nest(A_AVOIDS, u32(AVOIDS_BY, 0), u32(AVOIDS_EXPIRY, 0)),),
     (A_AVOIDS, AVOIDS_EXPIRY)),
    ("the time left of a list", CMD_AVOID_SET, (nest(A_AVOIDS, u32(AVOIDS_BY, 0), u32(AVOIDS_LEFT, 9)),),
     (A_AVOIDS, AVOIDS_LEFT)),
    ("a link of plane 33", CMD_AVOID_SET, avoid(u8(AVOID_PLANE, 33), u16(AVOID_FROM, 1)), (A_AVOID, AVOID_PLANE)),
    ("a link from nowhere", CMD_AVOID_SET, avoid(u8(AVOID_PLANE, 1), u16(AVOID_FROM, 0)), (A_AVOID, AVOID_FROM)),
    ("a link to nowhere", CMD_AVOID_SET, avoid(u8(AVOID_PLANE, 1), u16(AVOID_FROM, 1), u16(AVOID_TO, 0)),
     (A_AVOID, AVOID_TO)),
    ("a link without a plane", CMD_AVOID_SET, avoid(u16(AVOID_FROM, 1)), (A_AVOID,)),
    ("more links than a list takes", CMD_AVOID_SET,
     (nest(A_AVOIDS, u32(AVOIDS_BY, 1)),) + tuple(nest(A_AVOID, u8(AVOID_PLANE, 1), u16(AVOID_FROM, i))
                                                for i in range(1, 98)), (A_AVOID,)),
)


def place(body, base, at):
    """The attribute that begins at @at, by numbers from the outside in."""
    while len(body) >= 4:
        length, kind = struct.unpack_from("HH", body)
        if at == base:
            return (kind & 0x3fff,)
        if base < at < base + length:
            return (kind & 0x3fff,) + place(body[4:length], base + 4, at)
        step = (length + 3) & ~3
        body, base = body[step:], base + step
    return ("nothing",)


def blamed(family, cmd, body):
    data = family.exchange(cmd, NLM_F_REQUEST | NLM_F_ACK, body)
    length, kind = struct.unpack_from("IH", data)
    err, asked = struct.unpack_from("iI", data, 16)
    if kind != NLMSG_ERROR or not err:
        return ("accepted",)
    said = attrs_of(data[20 + asked:length])
    if OFFS in said:
        return place(body, 20, struct.unpack("I", said[OFFS])[0])
    if MISS_TYPE in said:
        inside = place(body, 20, struct.unpack("I", said[MISS_NEST])[0]) if MISS_NEST in said else ()
        return inside + (struct.unpack("I", said[MISS_TYPE])[0], MISSING)
    return ("none",)


def main():
    family, wrong = Family("mrc"), 0
    dev = text(A_DEV_NAME, sys.argv[1])
    cases = [(what, cmd, dev + b"".join(attrs), want) for what, cmd, attrs, want in CASES]
    cases.append(("no device", CMD_DEV_SET, nest(A_DEV), (A_IFINDEX, MISSING)))
    cases.append(("a device there is not", CMD_DEV_SET, text(A_DEV_NAME, "eth99") + nest(A_DEV), (A_DEV_NAME,)))
    for what, cmd, body, want in cases:
        got = blamed(family, cmd, body)
        if got != want:
            wrong += 1
            print(f"{what}: {got}, wanted {want}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
