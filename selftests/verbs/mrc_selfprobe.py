#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""mrc_selfprobe.py - self-probes of a host, caught at its switch and sent to it again.

    mrc_selfprobe.py PORT replay|forge COUNT

Looks at what leaves by PORT towards the host. Of COUNT self-probes each is sent once more: as it was, or with another
secret. Prints how many were sent.
"""
import socket
import sys

ETH, IP6, UDP, BTH = 14, 40, 8, 12
OPCODE, SECRET = 0xdf, 20
PACKET_OUTGOING = 4


def self_probe(frame):
    """Where BTH begins; 0: something else. Of those in SRv6."""
    at = ETH + 2 * IP6 + UDP
    return at if len(frame) > at + 40 and frame[ETH + 6] == 41 and frame[at] == OPCODE else 0


def main():
    port, what, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    sock.bind((port, 3))
    sock.settimeout(60)
    done, seen = 0, set()
    while done < count:
        frame, where = sock.recvfrom(65536)
        at = self_probe(frame)
        if where[2] != PACKET_OUTGOING or not at or frame in seen:
            continue
        if what == "forge":
            secret = frame[at + SECRET] ^ 1
            frame = frame[:at + SECRET] + bytes([secret]) + frame[at + SECRET + 1:]
        seen.add(frame)
        sock.send(frame)
        done += 1
    print(done, "sent")


if __name__ == "__main__":
    main()
