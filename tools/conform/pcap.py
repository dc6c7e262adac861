# SPDX-License-Identifier: GPL-2.0
"""pcap.py - read capture files of Ethernet frames, classic (pcap) and new (pcapng); write classic ones.

Readers are generators: a file of any size takes the memory of one frame.
"""
import struct

ETHERNET = 1
SCALES = {0xa1b2c3d4: 1000, 0xa1b23c4d: 1}      # of the fraction to nanoseconds
SECTION, INTERFACE, SIMPLE, ENHANCED = 0x0a0d0d0a, 1, 3, 6
TSRESOL = 9
LARGEST = 1 << 18       # of a frame, as libpcap has it


class NotCapture(ValueError):
    """The file is not a capture, or is damaged."""


def read(path, whole=True):
    """Yield (time in ns, frame). @whole: a frame that was cut short by the capture is an error;
    otherwise it is left out, as (time, None)."""
    with open(path, "rb") as f:
        head = f.read(4)
        if len(head) == 4 and struct.unpack("<I", head)[0] == SECTION:
            frames = new(f, path)
        else:
            frames = classic(f, head, path)
        for time, full, frame in frames:
            if full == len(frame):
                yield time, frame
            elif whole:
                raise NotCapture(f"{path}: a frame of {full} bytes has {len(frame)}")
            else:
                yield time, None


def exactly(f, size, path):
    data = f.read(size)
    if len(data) != size:
        raise NotCapture(f"{path}: ends in the middle of a frame")
    return data


def classic(f, head, path):
    head += f.read(20)
    if len(head) < 24:
        raise NotCapture(f"{path}: not a capture file")
    for order in "<>":
        magic, = struct.unpack(order + "I", head[:4])
        if magic in SCALES:
            break
    else:
        raise NotCapture(f"{path}: not a capture file")
    if struct.unpack(order + "I", head[20:])[0] & 0xffff != ETHERNET:
        raise NotCapture(f"{path}: not of Ethernet")
    while True:
        record = f.read(16)
        if not record:
            return
        if len(record) < 16:
            raise NotCapture(f"{path}: ends in the middle of a frame")
        seconds, fraction, size, full = struct.unpack(order + "IIII", record)
        if size > LARGEST:
            raise NotCapture(f"{path}: a frame of {size} bytes")
        yield seconds * 10**9 + fraction * SCALES[magic], full, exactly(f, size, path)


def new(f, path):
    """Blocks of a pcapng file, its first four bytes read."""
    order, units, kind = "<", [], SECTION
    while True:
        if kind == SECTION:
            length = f.read(4)
            magic = f.read(4)
            if len(magic) < 4:
                raise NotCapture(f"{path}: ends in the middle of a section")
            order = "<" if magic == b"\x4d\x3c\x2b\x1a" else ">"
            length, = struct.unpack(order + "I", length)
            body, units = exactly(f, checked(length, path) - 12, path), []
        else:
            length, = struct.unpack(order + "I", exactly(f, 4, path))
            body = exactly(f, checked(length, path) - 8, path)
            if kind == INTERFACE:
                units.append(interface(body, order, path))
            elif kind == ENHANCED:
                yield enhanced(body, order, units, path)
            elif kind == SIMPLE:
                full, = struct.unpack_from(order + "I", body)
                yield 0, full, body[4:4 + min(full, len(body) - 8)]
        head = f.read(4)
        if not head:
            return
        if len(head) < 4:
            raise NotCapture(f"{path}: ends in the middle of a block")
        kind, = struct.unpack(order + "I", head)


def checked(length, path):
    if length % 4 or not 16 <= length <= 2 * LARGEST:
        raise NotCapture(f"{path}: a block of {length} bytes")
    return length


def interface(body, order, path):
    """Nanoseconds of a unit of time, as (multiply, divide)."""
    if len(body) < 12 or struct.unpack_from(order + "H", body)[0] != ETHERNET:
        raise NotCapture(f"{path}: not of Ethernet")
    at = 8
    while at + 4 <= len(body) - 4:
        code, size = struct.unpack_from(order + "HH", body, at)
        if code == TSRESOL and size == 1:
            value = body[at + 4]
            return (10**9, 1 << (value & 0x7f)) if value & 0x80 else (10**9, 10**value)
        if not code:
            break
        at += 4 + (size + 3 & ~3)
    return 1000, 1


def enhanced(body, order, units, path):
    if len(body) < 24:
        raise NotCapture(f"{path}: a block without a frame")
    number, high, low, size, full = struct.unpack_from(order + "IIIII", body)
    if number >= len(units) or size > len(body) - 24:
        raise NotCapture(f"{path}: a frame of no interface, or longer than its block")
    multiply, divide = units[number]
    return (high << 32 | low) * multiply // divide, full, body[20:20 + size]


def write(path, frames):
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, ETHERNET))
        for ns, frame in frames:
            f.write(struct.pack("<IIII", ns // 10**9, ns % 10**9, len(frame), len(frame)))
            f.write(frame)
