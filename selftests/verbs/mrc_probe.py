#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""mrc_probe.py - questions to peers' endpoints that mrcctl would not ask, by netlink.

    mrc_probe.py refused DEV GID PORT VALUE     malformed ones: each has the whole message refused, in words
    mrc_probe.py errors DEV GID PORT VALUE      what keeps one from being sent is told by its id
    mrc_probe.py flood DEV GID PORT VALUE       200 by a way that swallows them: 64 are sent, and 64 more in each 100 ms
    mrc_probe.py gone DEV GID PORT VALUE        asks 32 times and ends before the answers
    mrc_probe.py each DEV GID PORT VALUE...     asks by each PORT VALUE; prints 1 or 0 for each: did it answer
    mrc_probe.py perm DEV GID PORT VALUE        the errno of one question

GID and VALUE (SRv6) are IPv6 addresses, by which the peer is reached. Status 1, and what was wrong, when it is
otherwise.
"""
import errno
import os
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
from mrc_netlink import Family, attr, attrs_of, nest, A_DEV_NAME  # noqa: E402

NLM_F_REQUEST, NLM_F_ACK, NLMSG_ERROR = 1, 4, 2
CMD_EP_SEND, CMD_EP_ANSWER, A_EP = 17, 18, 14
ID, GID, SRC, OP, PORTS_UP, TC, FMT, VALUE, PORT, ERROR = range(1, 11)
RTT, VIA = 11, 13
PORT_STATUS, EV_PROBE = 0, 1
STEV, SRV6, UDP = 1, 2, 4

U16, U32, U8 = (lambda v: struct.pack("H", v)), (lambda v: struct.pack("I", v)), (lambda v: bytes([v]))


class Asker:
    def __init__(self, dev, gid, port, value):
        self.family = Family("mrc")
        self.dev = attr(A_DEV_NAME, dev.encode() + b"\0")
        self.usual = {GID: socket.inet_pton(socket.AF_INET6, gid), OP: U32(EV_PROBE), FMT: U32(SRV6),
                      VALUE: socket.inet_pton(socket.AF_INET6, value) + bytes(16), PORT: U8(int(port))}

    def question(self, number, **changes):
        """Names of attributes in small letters; None: without it."""
        now = {ID: U16(number), **self.usual}
        for name, data in changes.items():
            now[globals()[name.upper()]] = data
        return nest(A_EP, *(attr(k, v) for k, v in now.items() if v is not None))

    def refusal(self, *questions):
        return self.family.call(CMD_EP_SEND, self.dev, *questions)

    def send(self, *questions):
        """Errors by id, of those that were not sent. Answers that come meanwhile are passed over."""
        f = self.family
        f.seq += 1
        body = self.dev + b"".join(questions)
        f.sock.send(struct.pack("IHHII", 20 + len(body), f.id, NLM_F_REQUEST | NLM_F_ACK, f.seq, 0) +
                    struct.pack("BBH", CMD_EP_SEND, 1, 0) + body)
        errors = {}
        while True:
            data = f.sock.recv(65536)
            _, kind, _, seq, _ = struct.unpack_from("IHHII", data)
            if seq != f.seq:
                continue
            if kind == NLMSG_ERROR:
                err = -struct.unpack_from("i", data, 16)[0]
                if err:
                    raise OSError(err, os.strerror(err))
                return errors
            data = data[20:]
            while len(data) >= 4:
                length, what = struct.unpack_from("HH", data)
                if what & 0x3fff == A_EP:
                    ep = attrs_of(data[4:length])
                    errors[struct.unpack("H", ep[ID])[0]] = struct.unpack("I", ep[ERROR])[0]
                data = data[(length + 3) & ~3:]


def check(what, good):
    print(what, "" if good else "<- wrong")
    return 0 if good else 1


def refused(a):
    cases = [
        ("nothing", [], errno.EINVAL, "the requests are missing"),
        ("65", [a.question(i) for i in range(65)], errno.E2BIG, "64 requests"),
        ("no format", [a.question(0, fmt=U32(3))], errno.EINVAL, "format 3"),
        ("srv6 to a group", [a.question(0, value=bytes([0xff, 2]) + bytes(29) + b"\1")], errno.EINVAL, "no SRv6"),
        ("no such plane", [a.question(0, port=U8(9))], errno.ENODEV, "no port 9"),
        ("ports in a probe", [a.question(0, ports_up=U32(1))], errno.EINVAL, "carries no port states"),
        ("no ports", [a.question(0, op=U32(PORT_STATUS))], errno.EINVAL, "ports that are up are missing"),
        ("a way back by a UDP port", [a.question(0, fmt=U32(UDP), value=b"\xc0\1" + bytes(30), via=U16(1))], errno.EINVAL,
         "format SRv6"),
        ("a way back of port states", [a.question(0, op=U32(PORT_STATUS), ports_up=U32(1), via=U16(1))], errno.EINVAL,
         "EV probe"),
        ("a way back over 0", [a.question(0, via=U16(0))], errno.ERANGE, ""),
        ("the second", [a.question(0), a.question(1, id=None)], errno.EINVAL, "request 1 needs an id"),
        ("plane 33", [a.question(0, port=U8(33))], errno.ERANGE, ""),
        ("operation 2", [a.question(0, op=U32(2))], errno.ERANGE, ""),
        ("half a GID", [a.question(0, gid=bytes(8))], errno.ERANGE, ""),
        ("read-only", [a.question(0, error=U32(1))], errno.EINVAL, ""),
    ]
    for name, attribute in (("gid", "GID"), ("op", "operation"), ("fmt", "format"), ("value", "EV"), ("port", "port")):
        cases.append(("without " + name, [a.question(0, **{name: None})], errno.EINVAL, attribute))
    bad = 0
    for name, questions, err, words in cases:
        got, text = a.refusal(*questions)
        bad += check(f"{name}: {got} {text}", got == err and words in text)
    return bad


def errors(a):
    nobody = socket.inet_pton(socket.AF_INET6, "fd00:6d72:63::77")
    nowhere = socket.inet_pton(socket.AF_INET6, "2001:db8:dead::1") + bytes(16)
    got = a.send(a.question(10), a.question(11, gid=nobody), a.question(12, src=nobody),
                 a.question(13, value=nowhere), a.question(14, op=U32(PORT_STATUS), ports_up=U32(15)))
    want = {11: errno.ENOENT, 12: errno.EADDRNOTAVAIL, 13: errno.EHOSTUNREACH}
    return check(f"errors {got}, wanted {want}", got == want)


def flood(a):
    left, start = 0, time.monotonic()
    for i in range(0, 200, 50):
        left += 50 - len(a.send(*(a.question(k) for k in range(i, i + 50))))
    took = time.monotonic() - start
    print(f"{left} left in {took:.3f} s")
    return 0 if 64 <= left <= 64 * (1 + int(took / 0.1)) else 1


def gone(a):
    f = a.family
    body = a.dev + b"".join(a.question(i) for i in range(32))
    f.sock.send(struct.pack("IHHII", 20 + len(body), f.id, NLM_F_REQUEST, 99, 0) +
                struct.pack("BBH", CMD_EP_SEND, 1, 0) + body)
    os._exit(0)


def each(a, more):
    """Waits for a second; what comes then was not answered."""
    ways = [(a.usual[PORT], a.usual[VALUE])]
    for port, value in zip(more[::2], more[1::2]):
        ways.append((U8(int(port)), socket.inet_pton(socket.AF_INET6, value) + bytes(16)))
    f = a.family
    body = a.dev + b"".join(a.question(i, port=p, value=v) for i, (p, v) in enumerate(ways))
    f.sock.send(struct.pack("IHHII", 20 + len(body), f.id, NLM_F_REQUEST, 99, 0) +
                struct.pack("BBH", CMD_EP_SEND, 1, 0) + body)
    f.sock.settimeout(1)
    answered = {}
    try:
        while len(answered) < len(ways):
            data = f.sock.recv(65536)
            if data[16] != CMD_EP_ANSWER:
                continue
            ep = attrs_of(attrs_of(data[20:])[A_EP])
            answered[struct.unpack("H", ep[ID])[0]] = struct.unpack("Q", ep[RTT])[0]
    except TimeoutError:
        pass
    print(*(int(i in answered) for i in range(len(ways))))
    return 0 if all(rtt > 0 for rtt in answered.values()) else 1


def perm(a):
    print(a.refusal(a.question(1))[0])
    return 0


def main():
    what = {"each": each, "refused": refused, "errors": errors, "flood": flood, "gone": gone, "perm": perm}[sys.argv[1]]
    asker = Asker(*sys.argv[2:6])
    if sys.argv[1] == "each":
        return each(asker, sys.argv[6:])
    return 1 if what(asker) else 0


if __name__ == "__main__":
    sys.exit(main())
