#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""mrcsim workload - flow lists of collectives, for workload.kind = "trace".

Prints CSV: id,src,dst,bytes,after,compute_us,step. A flow waits for what its source must have received before.

  ring                reduce-scatter and all-gather round a ring: 2 (n - 1) steps of bytes / n
  tree                reduce up a binary tree, then broadcast down, in chunks
  double-tree         two trees, each with half of the data; a leaf of one is inside the other
  halving-doubling    reduce-scatter by halves, all-gather by doubling; ranks: a power of two
  alltoall            every rank sends bytes / n to each other one, the next first
  pipeline            stages pass on microbatches (--chunks), each computed for --compute-us; then back

bytes is the data of one rank; of a pipeline, what one stage passes on for a microbatch.
"""
import argparse
import sys

HEAD = "id,src,dst,bytes,after,compute_us,step"
PATTERNS = ("ring", "tree", "double-tree", "halving-doubling", "alltoall", "pipeline")


class Flows:
    """Rows, numbered from 0."""

    def __init__(self):
        self.rows = []

    def add(self, src, dst, size, after=(), compute_us=0.0, step=0):
        self.rows.append((src, dst, max(size, 1), sorted(set(after)), compute_us, step))
        return len(self.rows) - 1

    def csv(self):
        yield HEAD
        for i, (src, dst, size, after, compute_us, step) in enumerate(self.rows):
            yield f"{i},{src},{dst},{size},{';'.join(map(str, after))},{compute_us:g},{step}"


def ring(ranks, size, compute_us, _):
    out, last = Flows(), {}
    for step in range(2 * (ranks - 1)):
        made = {}
        for r in range(ranks):
            made[r] = out.add(r, (r + 1) % ranks, size // ranks, [last[(r - 1) % ranks]] if step else [],
                              compute_us if 0 < step < ranks else 0, step + 1)
        last = made
    return out


def _tree(out, order, size, compute_us, chunks):
    """Order: ranks as a heap, the root first. Each chunk goes up when it has come from all children."""
    def children(i):
        return [c for c in (2 * i + 1, 2 * i + 2) if c < len(order)]
    sent = {}
    for chunk in range(chunks):
        up, down = {}, {}
        for i in reversed(range(1, len(order))):
            after = [up[c] for c in children(i)] + ([sent[i, "up"]] if (i, "up") in sent else [])
            up[i] = sent[i, "up"] = out.add(order[i], order[(i - 1) // 2], size // chunks, after,
                                            compute_us if children(i) else 0, chunk + 1)
        for i in range(1, len(order)):
            parent = (i - 1) // 2
            after = [down[parent]] if parent else [up[c] for c in children(0)]
            down[i] = out.add(order[parent], order[i], size // chunks, after, 0 if parent else compute_us,
                              chunks + chunk + 1)


def tree(ranks, size, compute_us, chunks):
    out = Flows()
    _tree(out, list(range(ranks)), size, compute_us, chunks)
    return out


def double_tree(ranks, size, compute_us, chunks):
    out = Flows()
    _tree(out, list(range(ranks)), size // 2, compute_us, chunks)
    _tree(out, list(reversed(range(ranks))), size - size // 2, compute_us, chunks)
    return out


def halving_doubling(ranks, size, compute_us, _):
    if ranks & (ranks - 1):
        raise ValueError("halving-doubling wants a power of two ranks")
    out, step = Flows(), 0
    came = {r: [] for r in range(ranks)}
    distances = [ranks >> i for i in range(1, ranks.bit_length())]
    part = size
    for distance, halving in [(d, True) for d in distances] + [(d, False) for d in reversed(distances)]:
        part = part // 2 if halving else part
        step += 1
        made = {}
        for r in range(ranks):
            made[r] = out.add(r, r ^ distance, part, came[r], compute_us if came[r] and halving else 0, step)
        for r, flow in made.items():
            came[r ^ distance].append(flow)
        part = part if halving else part * 2
    return out


def alltoall(ranks, size, compute_us, _):
    out, before = Flows(), {}
    for k in range(1, ranks):
        for r in range(ranks):
            before[r] = out.add(r, (r + k) % ranks, size // ranks, [before[r]] if r in before else [], compute_us, k)
    return out


def pipeline(ranks, size, compute_us, chunks):
    """All microbatches forward, then all back. A stage computes one after the other, and then sends."""
    out, busy = Flows(), {}
    came = {}
    for back in (False, True):
        stages = list(range(ranks))[::-1] if back else list(range(ranks))
        for m in range(chunks):
            before = None
            for a, b in zip(stages, stages[1:]):
                after = [x for x in (before, busy.get((a, back)), came.get(m) if back and a == stages[0] else None)
                         if x is not None]
                before = out.add(a, b, size, after, compute_us, (chunks if back else 0) + m + 1)
                busy[a, back] = before
            came[m] = before
    return out


def make(pattern, ranks, size, compute_us=0.0, chunks=1):
    makers = {"ring": ring, "tree": tree, "double-tree": double_tree, "halving-doubling": halving_doubling,
              "alltoall": alltoall, "pipeline": pipeline}
    if ranks < 2 or size < 1 or chunks < 1 or compute_us < 0:
        raise ValueError("two ranks, one byte and one chunk at least, and no negative time")
    return makers[pattern](ranks, size, compute_us, chunks)


def main(argv):
    p = argparse.ArgumentParser(prog="mrcsim workload", description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("pattern", choices=PATTERNS)
    p.add_argument("--ranks", type=int, default=8)
    p.add_argument("--bytes", type=int, default=1 << 20)
    p.add_argument("--compute-us", type=float, default=0, help="before what depends on received data")
    p.add_argument("--chunks", type=int, default=4, help="of trees and pipelines")
    o = p.parse_args(argv)
    for line in make(o.pattern, o.ranks, o.bytes, o.compute_us, o.chunks).csv():
        print(line)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (ValueError, OSError) as e:
        print(f"mrcsim workload: {e}", file=sys.stderr)
        sys.exit(2)
