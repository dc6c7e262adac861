# SPDX-License-Identifier: GPL-2.0
"""cost.py - the picture of processor time for each packet, from figures that "make bench-cpu" leaves.

cost.json beside this file holds one run: {"rounds": N, "us": {test: {stack: [median, least, most]}}}, in
microseconds of kernel time for 4 KiB of payload, both ends. draw.py -c makes it anew.
"""
import json
import pathlib

from svg import Picture

HERE = pathlib.Path(__file__).parent
TESTS = (("w64k", "WRITE"), ("r64k", "READ"), ("s64k", "SEND"))
STACKS = (("rxe", "rdma_rxe", "dim"), ("mrc1", "MRC, one plane", "p1"), ("mrc4", "MRC, four planes", "p3"))


def measure(report):
    """cost.json's contents, from out/cpu/report.json."""
    figures = json.loads(pathlib.Path(report).read_text())
    return {"rounds": figures["rounds"],
            "us": {test: {stack: figures["us"][test][stack] for stack, *_ in STACKS} for test, _ in TESTS}}


def cost():
    data = json.loads((HERE / "cost.json").read_text())
    p = Picture(760, 316, "Kernel time for each packet of 4 KiB",
                "Bars: microseconds of kernel time for 4 KiB of payload, both ends together, of rdma_rxe, MRC with "
                "one plane and MRC with four planes; for WRITE, READ and SEND of 64 KiB.")
    p.text(15, 26, "Kernel time for 4 KiB of payload, both ends together, µs (less is better)", "ink big")
    x0, y, width, bar, between = 178, 46, 500, 18, 20
    top = max(most for stacks in data["us"].values() for _, _, most in stacks.values())

    for test, name in TESTS:
        p.text(15, y + 1.5 * bar + 5, name, "ink bold")
        for stack, label, colour in STACKS:
            median, least, most = data["us"][test][stack]
            p.rect(x0, y, width * median / top, bar - 3, colour, 2)
            middle = y + (bar - 3) / 2
            p.line(x0 + width * least / top, middle, x0 + width * most / top, middle, "line stroke")
            p.text(x0 - 8, middle + 4, label, "dim end small")
            p.text(x0 + width * most / top + 8, middle + 4, f"{median:.2f}", "ink small bold")
            y += bar
        y += between
    p.text(15, y + 14, f"Messages of 64 KiB, MTU 4096. Median of {data['rounds']} rounds; a line from the least to the most "
           "(make bench-cpu).", "dim small")
    p.text(15, y + 30, "Both ends are in one kernel with one processor, so ratios carry over to other machines, and "
           "microseconds do not.", "dim small")
    return p
