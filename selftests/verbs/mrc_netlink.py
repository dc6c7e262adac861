#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""mrc_netlink.py - more requests to the module's netlink family than a shell can make.

    mrc_netlink.py profiles DEV    set EV profiles 1, 2, 3 ... until one is refused
    mrc_netlink.py ccs DEV         likewise CC profiles
    mrc_netlink.py hosts DEV N     send a datagram to N addresses, then set a profile for each
    mrc_netlink.py race DEV        several processes delete what is not there
    mrc_netlink.py deny DEV GID INDEX VALUE PORT
                                   deny the EV of a path set, an IPv6 address, that is meant
    mrc_netlink.py copy DEV FROM BIT WIDTH AT
                                   set a template with such a copy, as numbers
    mrc_netlink.py prefix DEV DST LEN
                                   set an EV profile for DST/LEN, whatever bits are behind LEN

The first two print how many there are then and why there cannot be more, hosts the seconds
that the N requests took, copy, prefix and deny the kernel's refusal (deny: with its number). race fails when a refusal tells one
process what another had asked for.
"""
import os
import socket
import struct
import sys
import time

NETLINK_GENERIC, SOL_NETLINK, NETLINK_EXT_ACK = 16, 270, 11
NLM_F_REQUEST, NLM_F_ACK, NLM_F_ACK_TLVS, NLMSG_ERROR = 1, 4, 0x200, 2
NLA_F_NESTED, NLMSGERR_ATTR_MSG = 0x8000, 1
GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_A_ID, CTRL_A_NAME = 16, 3, 1, 2

CMD_PROFILE_SET, CMD_CC_SET, CMD_CC_DEL = 6, 15, 16
A_DEV_NAME, A_PROFILE, A_CC = 2, 6, 12
A_PROFILE_ID, A_PROFILE_DST, A_PROFILE_FMT, A_PROFILE_EV = 1, 2, 3, 6
A_PROFILE_MODE, A_PROFILE_WIDTHS, A_PROFILE_GEN, A_PROFILE_DST_LEN = 4, 8, 9, 11
A_GEN_FIELD, A_GEN_COPY, A_FIELD_WIDTH, A_FIELD_INIT = 2, 3, 1, 2
A_CC_ID, A_EV_INDEX, A_EV_VALUE, A_EV_PORT, A_EV_STATE = 1, 1, 2, 3, 4
CMD_EV_SET, A_PEER, A_EV, A_PEER_GID, DENIED = 10, 7, 8, 1, 3
FMT_UDP = 4
MODE_AUTO, MODE_GEN = 1, 4

MANY = 100000
RACERS, ROUNDS = 4, 300


def attr(kind, data):
    return struct.pack("HH", 4 + len(data), kind) + data + b"\0" * (-len(data) % 4)


def nest(kind, *attrs):
    return attr(kind | NLA_F_NESTED, b"".join(attrs))


def attrs_of(data):
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("HH", data)
        found[kind & 0x3fff] = data[4:length]
        data = data[(length + 3) & ~3:]
    return found


class Family:
    def __init__(self, name):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self.sock.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
        self.seq = 0
        self.id = GENL_ID_CTRL
        reply = self.exchange(CTRL_CMD_GETFAMILY, NLM_F_REQUEST,
                              attr(CTRL_A_NAME, name.encode() + b"\0"))
        self.id = struct.unpack("H", attrs_of(reply[20:])[CTRL_A_ID])[0]

    def exchange(self, cmd, flags, body):
        self.seq += 1
        self.sock.send(struct.pack("IHHII", 20 + len(body), self.id, flags, self.seq, 0) +
                       struct.pack("BBH", cmd, 1, 0) + body)
        return self.sock.recv(65536)

    def call(self, cmd, *attrs):
        """(0, "") or the error and the kernel's text."""
        data = self.exchange(cmd, NLM_F_REQUEST | NLM_F_ACK, b"".join(attrs))
        length, kind, flags, seq, _ = struct.unpack_from("IHHII", data)
        if kind != NLMSG_ERROR or seq != self.seq:
            raise OSError(f"an answer of type {kind} to {seq}")
        err, asked = struct.unpack_from("iI", data, 16)
        said = attrs_of(data[20 + (asked if err else 16):length])
        if not flags & NLM_F_ACK_TLVS:
            said = {}
        return -err, said.get(NLMSGERR_ATTR_MSG, b"").rstrip(b"\0").decode()


def fill(dev, request):
    family = Family("mrc")
    for n in range(1, MANY):
        err, text = family.call(*request(attr(A_DEV_NAME, dev.encode() + b"\0"), n))
        if err:
            print(n - 1, text)
            return 0
    print(f"{MANY} and no end")
    return 1


def profile(dev, n, *more):
    ev = nest(A_PROFILE_EV, attr(A_EV_VALUE, struct.pack("!H30x", 50000)), attr(A_EV_PORT, b"\1"))
    return CMD_PROFILE_SET, dev, nest(A_PROFILE, attr(A_PROFILE_ID, struct.pack("Q", n)),
                                      attr(A_PROFILE_FMT, struct.pack("I", FMT_UDP)), *more, ev)


def hosts(dev, count):
    """Host N is fd00:6d72:63::1:N, and its EV UDP port 20000 + N."""
    hosts = [socket.inet_pton(socket.AF_INET6, f"fd00:6d72:63::1:{n:x}") for n in range(count)]
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as udp:
        for host in hosts:
            udp.sendto(b"hello", (socket.inet_ntop(socket.AF_INET6, host), 9))
    family = Family("mrc")
    dev = attr(A_DEV_NAME, dev.encode() + b"\0")
    start = time.monotonic()
    for n, host in enumerate(hosts):
        ev = nest(A_PROFILE_EV, attr(A_EV_VALUE, struct.pack("!H30x", 20000 + n)),
                  attr(A_EV_PORT, b"\1"))
        err, text = family.call(CMD_PROFILE_SET, dev,
                                nest(A_PROFILE, attr(A_PROFILE_ID, struct.pack("Q", 1)),
                                     attr(A_PROFILE_DST, host),
                                     attr(A_PROFILE_FMT, struct.pack("I", FMT_UDP)), ev))
        if err:
            print(f"host {n}: {text}")
            return 1
    print(f"{time.monotonic() - start:.2f}")
    return 0


def copy(dev, values):
    numbers = [attr(i + 1, struct.pack("I", int(v))) for i, v in enumerate(values)]
    field = nest(A_GEN_FIELD, attr(A_FIELD_WIDTH, struct.pack("I", 16)),
                 attr(A_FIELD_INIT, struct.pack("I", 0xc000)))
    err, text = Family("mrc").call(
        CMD_PROFILE_SET, attr(A_DEV_NAME, dev.encode() + b"\0"),
        nest(A_PROFILE, attr(A_PROFILE_ID, struct.pack("Q", 1)),
             attr(A_PROFILE_FMT, struct.pack("I", FMT_UDP)),
             attr(A_PROFILE_MODE, struct.pack("I", MODE_GEN)),
             attr(A_PROFILE_WIDTHS, bytes([16])),
             nest(A_PROFILE_GEN, field, nest(A_GEN_COPY, *numbers))))
    print(text)
    return 2 if err else 0


def prefix(dev, dst, length):
    err, text = Family("mrc").call(
        *profile(attr(A_DEV_NAME, dev.encode() + b"\0"), 1,
                 attr(A_PROFILE_DST, socket.inet_pton(socket.AF_INET6, dst)),
                 attr(A_PROFILE_DST_LEN, bytes([int(length)]))))
    print(text)
    return 2 if err else 0


def deny(dev, gid, index, value, port):
    err, text = Family("mrc").call(
        CMD_EV_SET, attr(A_DEV_NAME, dev.encode() + b"\0"),
        nest(A_PEER, attr(A_PEER_GID, socket.inet_pton(socket.AF_INET6, gid))),
        nest(A_EV, attr(A_EV_INDEX, struct.pack("I", int(index))),
             attr(A_EV_VALUE, socket.inet_pton(socket.AF_INET6, value) + bytes(16)),
             attr(A_EV_PORT, bytes([int(port)])), attr(A_EV_STATE, struct.pack("I", DENIED))))
    if err:
        print(err, text)
    return 2 if err else 0


def cc(dev, n):
    return CMD_CC_SET, dev, nest(A_CC, attr(A_CC_ID, struct.pack("Q", n)))


def racer(dev, me):
    family = Family("mrc")
    for i in range(ROUNDS):
        key = 1000000 * (me + 1) + i
        _, text = family.call(CMD_CC_DEL, attr(A_DEV_NAME, dev.encode() + b"\0"),
                              nest(A_CC, attr(A_CC_ID, struct.pack("Q", key))))
        if text != f"no CC profile {key}":
            print(f"asked for {key}, was told '{text}'", flush=True)
            return 1
    return 0


def race(dev):
    pids = []
    for me in range(RACERS):
        pid = os.fork()
        if pid == 0:
            os._exit(racer(dev, me))
        pids.append(pid)
    return 1 if any(os.waitpid(pid, 0)[1] for pid in pids) else 0


def main():
    what, dev = sys.argv[1:3]
    if what == "race":
        return race(dev)
    if what == "copy":
        return copy(dev, sys.argv[3:7])
    if what == "prefix":
        return prefix(dev, *sys.argv[3:5])
    if what == "deny":
        return deny(dev, *sys.argv[3:7])
    if what == "hosts":
        return hosts(dev, int(sys.argv[3]))
    return fill(dev, {"profiles": profile, "ccs": cc}[what])


if __name__ == "__main__":
    sys.exit(main())
