#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""stream.py rds|smc serve ADDRESS
stream.py rds|smc send ADDRESS PEER SECONDS
stream.py smc pnet NETDEV IBDEV

Sockets that Linux carries over RDMA, without the tools that Debian has not (rds-tools, smc-tools). Who sends
sends numbered blocks that both can compute, for so many seconds and 64 at least; who serves answers each with its
number and digest, when it is what it must be. "pnet" says that the device of a network is that RDMA device, and the
two hosts are of one community (SMC-R v2), as "smc_pnet -a" and "smcr ueid add" do.
"""

import ctypes
import hashlib
import os
import socket
import struct
import sys
import time

PORT = 7471
BLOCK = 32768
AF_SMC = 43
LIBC = ctypes.CDLL(None, use_errno=True)


def block(number):
    """Block NUMBER: its number, and bytes that follow from it."""
    seed = hashlib.sha256(struct.pack("!I", number)).digest()
    return struct.pack("!I", number) + (seed * (BLOCK // len(seed)))[4:]


def answer(data):
    return data[:4] + hashlib.sha256(data).digest()


# ---- RDS: datagrams, reliable and in order


def rds_socket(address):
    sock = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    sock.bind((address, PORT))
    return sock


def rds_serve(address):
    sock = rds_socket(address)
    number = 0
    while True:
        data, peer = sock.recvfrom(BLOCK + 1)
        if data[:4] == bytes(4):
            number = 0  # another one begins
        if data != block(number):
            sys.exit(f"block {number} is not what was sent")
        sock.sendto(answer(data), peer)
        number += 1


class Rds:
    def __init__(self, address, peer):
        self.sock = rds_socket(address)
        self.sock.settimeout(120)
        self.peer = (peer, PORT)

    def send(self, data):
        self.sock.sendto(data, self.peer)

    def answer(self):
        return self.sock.recv(64)


# ---- SMC: a stream. Its socket takes addresses of IPv4, which Python does not believe.


def smc_address(address):
    return struct.pack("=HHI", socket.AF_INET, socket.htons(PORT), 0)[:4] + socket.inet_aton(address) + bytes(8)


def smc_call(name, fd, address):
    raw = smc_address(address)
    if getattr(LIBC, name)(fd, raw, len(raw)):
        sys.exit(f"{name} {address}: {os.strerror(ctypes.get_errno())}")


def smc_socket():
    fd = LIBC.socket(AF_SMC, socket.SOCK_STREAM, 0)
    if fd < 0:
        sys.exit(f"socket: {os.strerror(ctypes.get_errno())}")
    return fd


def read_exactly(fd, count):
    data = b""
    while len(data) < count:
        more = os.read(fd, count - len(data))
        if not more:
            return data
        data += more
    return data


def write_all(fd, data):
    while data:
        data = data[os.write(fd, data):]


def smc_serve(address):
    listener = smc_socket()
    LIBC.setsockopt(listener, socket.SOL_SOCKET, socket.SO_REUSEADDR, struct.pack("i", 1), 4)
    smc_call("bind", listener, address)
    LIBC.listen(listener, 4)
    while True:
        fd = LIBC.accept(listener, None, None)
        number = 0
        while data := read_exactly(fd, BLOCK):
            if data != block(number):
                sys.exit(f"block {number} is not what was sent")
            write_all(fd, answer(data))
            number += 1
        os.close(fd)


class Smc:
    def __init__(self, _, peer):
        self.fd = smc_socket()
        smc_call("connect", self.fd, peer)

    def send(self, data):
        write_all(self.fd, data)

    def answer(self):
        return read_exactly(self.fd, 36)


# ---- generic netlink, as much as SMC's tables need

NETLINK_GENERIC, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 16, 16, 3, 1, 2
SMC_PNETID_ADD, SMC_NETLINK_ADD_UEID = 2, 10


def attr(kind, payload):
    raw = struct.pack("=HH", 4 + len(payload), kind) + payload
    return raw + bytes(-len(raw) % 4)


def genl(sock, family, command, attrs):
    body = struct.pack("=BBH", command, 1, 0) + attrs
    flags = 1 if family == GENL_ID_CTRL else 5  # REQUEST, ACK
    sock.send(struct.pack("=IHHII", 16 + len(body), family, flags, 1, 0) + body)
    reply = sock.recv(8192)
    kind = struct.unpack_from("=H", reply, 4)[0]
    error = struct.unpack_from("=i", reply, 16)[0] if kind == 2 else 0
    if error:
        sys.exit(f"netlink: command {command}: {os.strerror(-error)}")
    return reply


def family_id(sock, name):
    reply = genl(sock, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, attr(CTRL_ATTR_FAMILY_NAME, name + b"\0"))
    at = 20
    while at + 4 <= len(reply):
        length, kind = struct.unpack_from("=HH", reply, at)
        if kind == CTRL_ATTR_FAMILY_ID:
            return struct.unpack_from("=H", reply, at + 4)[0]
        at += (length + 3) & ~3
    sys.exit(f"netlink: no family {name.decode()}")


def smc_pnet(netdev, ibdev):
    sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
    pnet = family_id(sock, b"SMC_PNETID")
    for attrs in (attr(2, netdev.encode() + b"\0"), attr(3, ibdev.encode() + b"\0") + attr(4, b"\1")):
        genl(sock, pnet, SMC_PNETID_ADD, attr(1, b"MRC\0") + attrs)
    genl(sock, family_id(sock, b"SMC_GEN_NETLINK"), SMC_NETLINK_ADD_UEID, attr(1, b"MRC.TEST".ljust(32) + b"\0"))


# ----


def send(link, seconds):
    end = time.monotonic() + seconds
    number = 0
    while number < 64 or time.monotonic() < end:
        data = block(number)
        link.send(data)
        if link.answer() != answer(data):
            sys.exit(f"the answer to block {number} is wrong")
        number += 1
    print(f"ok {number} blocks")


def main(kind, what, *args):
    if what == "serve":
        {"rds": rds_serve, "smc": smc_serve}[kind](*args)
    elif what == "pnet":
        smc_pnet(*args)
    else:
        send({"rds": Rds, "smc": Smc}[kind](args[0], args[1]), float(args[2]))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
