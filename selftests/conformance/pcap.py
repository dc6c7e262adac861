# SPDX-License-Identifier: GPL-2.0
"""pcap.py - read and write classic capture files of Ethernet frames."""
import struct

ETHERNET = 1
SCALES = {0xa1b2c3d4: 1000, 0xa1b23c4d: 1}      # of the fraction to nanoseconds


def read(path):
    """Yield (time in ns, frame). A frame that was not captured whole is an error."""
    with open(path, "rb") as f:
        head = f.read(24)
        for order in "<>":
            magic, = struct.unpack(order + "I", head[:4])
            if magic in SCALES:
                break
        else:
            raise ValueError(f"{path}: not a capture file")
        if struct.unpack(order + "I", head[20:])[0] & 0xffff != ETHERNET:
            raise ValueError(f"{path}: not of Ethernet")
        while True:
            record = f.read(16)
            if len(record) < 16:
                return
            seconds, fraction, size, full = struct.unpack(order + "IIII", record)
            frame = f.read(size)
            if size != full or len(frame) != size:
                raise ValueError(f"{path}: a frame of {full} bytes has {len(frame)}")
            yield seconds * 10**9 + fraction * SCALES[magic], frame


def write(path, frames):
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, ETHERNET))
        for ns, frame in frames:
            f.write(struct.pack("<IIII", ns // 10**9, ns % 10**9, len(frame), len(frame)))
            f.write(frame)
