# SPDX-License-Identifier: GPL-2.0
"""perfdata.py - the samples of a perf.data file, with addresses as they were.

"perf script" makes offsets in files of them, and where User-Mode Linux keeps its modules is a file
to perf: its memory. The format is that of perf_event_open(2), behind the header of
tools/perf/Documentation/perf.data-file-format.txt in the kernel's sources.
"""

import struct

RECORD_SAMPLE = 9
(IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM) = (1 << bit for bit in range(10))
IDENTIFIER = 1 << 16
CONTEXT_MAX = 0xFFFFFFFFFFFFF000  # from here on no address, but whose the next ones are


def _callchain_at(sample_type):
    """(offset of the time, offset of the call chain) in a sample."""
    if sample_type & READ or not sample_type & TIME or not sample_type & CALLCHAIN:
        raise ValueError(f"perf.data: samples of type {sample_type:#x}, not of time and call chain")
    at = when = 0
    for field in (IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM, CPU, PERIOD):
        if field == TIME:
            when = at
        if sample_type & field:
            at += 8
    return when, at


def samples(path):
    """Yields (seconds, [addresses, innermost first])."""
    with open(path, "rb") as file:
        data = file.read()
    magic, _, _, attrs, _, start, size = struct.unpack_from("<8s6Q", data)
    if magic != b"PERFILE2":
        raise ValueError(f"{path}: no perf.data")
    when, chain = _callchain_at(struct.unpack_from("<IIQQQ", data, attrs)[4])
    at, end = start, start + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if not length:
            break
        if kind == RECORD_SAMPLE:
            (count,) = struct.unpack_from("<Q", data, at + 8 + chain)
            addresses = struct.unpack_from(f"<{count}Q", data, at + 16 + chain)
            yield (struct.unpack_from("<Q", data, at + 8 + when)[0] * 1e-9,
                   [address for address in addresses if address < CONTEXT_MAX])
        at += length
