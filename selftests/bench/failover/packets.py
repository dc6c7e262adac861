# SPDX-License-Identifier: GPL-2.0
"""packets.py - one run of mrc_failover: its packets and messages, read and measured.

Times are nanoseconds after the failure. "Copy": a data packet that entered a plane; it was
lost if it never left the plane.
"""
import hashlib
import statistics
import struct
from bisect import bisect_left

FROM_A, TO_B, FROM_B, TO_A = range(4)
RECORD = struct.Struct("<QIIHHBBBB")
RELATIVE = struct.Struct("<qIIHHBBBB")  # to the failure
DEAD = 2                                # the plane that fails
DATA = range(0xc6, 0xcc)
ACKS = (0xd1, 0xdc, 0xdd)               # transport ACK, SACK, NACK
PORT_UPDATE = 0xd8
LONG_NS = 10 ** 12


class Run:
    """What happened, in order of time."""

    def __init__(self, prefix):
        self.messages, self.commands = [], []
        for line in open(prefix + ".log"):
            word = line.split(None, 3)
            if word[0] == "zero":
                self.zero = int(word[1])
            elif word[0] == "message":
                self.messages.append(tuple(int(t) - self.zero if int(t) else None
                                           for t in word[1:3]))
            elif word[0] == "command":
                self.commands.append(int(word[1]) - self.zero)
        with open(prefix + ".trace", "rb") as file:
            raw = file.read()
        # The order between planes is that of the rings; in time only within each.
        self.packets = sorted(RECORD.iter_unpack(raw), key=lambda r: r[0])
        self.hash = hashlib.sha256(b"".join(
            RELATIVE.pack(r[0] - self.zero, *r[1:]) for r in self.packets)).hexdigest()[:16]
        self.find_copies()

    def at(self, point, opcodes, plane=None):
        """Times, PSNs, planes of packets at a point."""
        return [(r[0] - self.zero, r[1], r[5], r[8]) for r in self.packets
                if r[6] == point and r[7] in opcodes and (plane is None or r[5] == plane)]

    def find_copies(self):
        """Copies as [sent, psn, plane, rtx, delivered, uSID]; a plane keeps their order."""
        waiting, self.copies, self.payloads = {}, [], []
        for r in self.packets:
            if r[7] not in DATA:
                continue
            key = (r[5], r[2], r[1], r[8])
            if r[6] == FROM_A:
                copy = [r[0] - self.zero, r[1], r[5], r[8], None, r[4]]
                waiting.setdefault(key, []).append(copy)
                self.copies.append(copy)
            elif r[6] == TO_B:
                if waiting.get(key):
                    waiting[key].pop(0)[4] = r[0] - self.zero
                self.payloads.append((r[0] - self.zero, r[1], r[3]))

    # ------------------------------------------------------------ the dead path

    def last_into(self, until):
        """Last data packet that was sent into the dead plane."""
        times = [c[0] for c in self.copies if c[2] == DEAD and 0 <= c[0] < until]
        return max(times, default=0)

    def last_lost_into(self, until):
        """The same of those that were lost, for a plane of which half still works."""
        return max((c[0] for c in self.copies if c[2] == DEAD and 0 <= c[0] < until
                    and c[4] is None), default=0)

    def last_ack_into(self, until):
        """Last acknowledgement that was sent into the dead plane."""
        return max((t for t, *_ in self.at(FROM_B, ACKS, DEAD) if 0 <= t < until), default=0)

    def lost(self, until):
        """Lost copies, and packets that were lost before any plane saw them."""
        flight = max((c[4] - c[0] for c in self.copies if c[4] is not None), default=0)
        end = min(until, self.packets[-1][0] - self.zero - flight)
        in_plane = sum(c[4] is None and -flight <= c[0] < end for c in self.copies)
        seen, unseen = set(), 0
        for _, psn, _, rtx, _, _ in self.copies:
            unseen += bool(rtx) and psn not in seen
            seen.add(psn)
        return in_plane + unseen

    def resends(self):
        """All resends, and those of which an earlier copy arrived."""
        arrived, total, needless = set(), 0, 0
        for _, psn, _, rtx, delivered, _ in self.copies:
            if rtx:
                total += 1
                needless += psn in arrived
            if delivered is not None:
                arrived.add(psn)
        return total, needless

    # ------------------------------------------------------------ the program

    def completions(self):
        return sorted(done for _, done in self.messages if done is not None)

    def unfinished(self):
        """Messages that were posted in the first half and never done."""
        half = self.messages[len(self.messages) // 2][0]
        return sum(done is None and post < half for post, done in self.messages)

    def gap(self, begin, end):
        """The longest time without a completion."""
        times = [t for t in self.completions() if begin <= t <= end]
        return max((b - a for a, b in zip(times, times[1:])), default=LONG_NS)

    def latencies(self, begin, spare):
        """(posted, latency) of messages from then on; for ever if not done.

        Not of those of the last @spare ns, which had no time to be late.
        """
        end = self.messages[-1][0] - spare
        return [(post, (done if done is not None else LONG_NS) - post)
                for post, done in self.messages if begin <= post < end]

    # --------------------------------------------------------------- throughput

    def deliveries(self):
        """Times and running sum of payload that was new to the receiver."""
        seen, times, sums, total = set(), [], [0], 0
        for time, psn, length in self.payloads:
            if psn in seen:
                continue
            seen.add(psn)
            total += length
            times.append(time)
            sums.append(total)
        return times, sums

    def loaded(self, rtt):
        """What a round trip took before the failure: median of the data's way, and back unloaded."""
        ways = [c[4] - c[0] for c in self.copies if c[4] is not None and -50 * rtt <= c[0] < 0]
        return int(statistics.median(ways)) + rtt // 2 if ways else rtt

    def recovery(self, rtt, until):
        """When goodput was back at 95 % of three quarters of what it was, and the least share.

        From then on, for twenty round trips, no window of 100 us or two of them has less.
        """
        times, sums = self.deliveries()

        def amount(begin, end):
            return sums[bisect_left(times, end)] - sums[bisect_left(times, begin)]

        width, step = max(2 * rtt, 100000), rtt // 10
        rest = amount(-20 * width, 0) / 20 * 3 / 4
        if not rest:
            return LONG_NS, 0
        back, least = 0, 1.0
        for begin in range(0, until - width, step):
            share = amount(begin, begin + width) / rest
            least = min(least, share)
            if share < 0.95:
                back = begin + step
            elif begin - back > 20 * rtt:
                break
        return back if back + width + step < until else LONG_NS, least

    # ------------------------------------------------------------------ return

    def after(self, mended, sids, rtt):
        """First data into what was mended, and when it carries its share (all but a tenth).

        @sids says whether a uSID is of what was broken. Its share of the plane's data is
        what @sids is of the plane's uSIDs; of a plane, a quarter of all.
        """
        mine = [c[0] for c in self.copies if c[2] == DEAD and c[0] >= mended and sids(c[5])]
        if not mine:
            return None, None
        rest = [c[0] for c in self.copies if c[0] >= mended
                and (c[2] != DEAD or not sids(c[5]))]
        all_sids = {c[5] for c in self.copies}
        ratio = sum(map(sids, {c[5] for c in self.copies if c[2] == DEAD})) / len(all_sids)
        width, share = 2 * rtt, None
        for i in range(0, (self.copies[-1][0] - mended - width) // (rtt // 4)):
            begin = mended + i * rtt // 4
            mine_here = bisect_left(mine, begin + width) - bisect_left(mine, begin)
            rest_here = bisect_left(rest, begin + width) - bisect_left(rest, begin)
            if mine_here >= 0.9 * ratio * (mine_here + rest_here):
                share = begin - mended
                break
        return mine[0] - mended, share

    def port_updates(self, point, begin, end):
        return [(t, plane) for t, _, plane, *_ in self.at(point, (PORT_UPDATE,))
                if begin <= t < end]
