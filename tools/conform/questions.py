# SPDX-License-Identifier: GPL-2.0
"""questions.py - the rules that mrc-conform-active judges by sending packets to a device: section of MRC 1.0, text.

Scenarios and tests refer to a rule by its name. Sections and tables are those of MRC 1.0 (OCP, May 2026) as
reported by its readers. D1 to D11: readers disagree, see Documentation/reference/disputed.md.
"""
import collections

Question = collections.namedtuple("Question", "number section text disputed")

RESPONDER = {
    "answers-a": ("7.5.2", "a packet with A is answered by a SACK"),
    "answers-rtx": ("7.5.2", "a retransmission is answered by a SACK"),
    "answers-ce": ("7.5.2, 3.3", "a packet marked CE is answered by a SACK with SKIP_ONCE"),
    "unmarked": ("Table 7-14", "a SACK of a packet without CE has m NONE"),
    "sack-ev": ("Table 7-14", "a SACK has the EV of the packet that it answers"),
    "sack-stamp": ("Table 7-12", "a SACK reflects the timestamp of the packet that it answers"),
    "left-edge": ("7.5", "cack is the last PSN up to which nothing is missing"),
    "bitmap-shows": ("7.5", "the bitmap shows what came out of order"),
    "bitmap-only": ("7.5", "a SACK shows nothing that has not come"),
    "rcvd-once": ("8.3.1", "rcvd_bytes counts UDP length and 40 of each PSN, once"),
    "ack-done": ("6.3", "a message that is there is acknowledged (D1)"),
    "ack-early": ("6.3", "no message is acknowledged before all of it is there"),
    "lands": ("5.1", "payload lands where RETH says, in any order of packets"),
    "dup-placed": ("6.3.1", "a duplicate is not placed again"),
    "dup-harmless": ("6.3.1", "a duplicate is no error"),
    "stale": ("6.3.1", "a PSN from long ago is not placed"),
    "window-last": ("6.3.1", "the last PSN of the window is taken"),
    "window-beyond": ("6.3.1", "a PSN beyond the window is not taken"),
    "wrap": ("6", "PSNs wrap"),
    "imm-waits": ("5", "a WRITE with immediate completes after all before it has landed"),
    "imm-order": ("5", "immediates complete in the order in which they were sent"),
    "imm-no-receive": ("5", "a WRITE with immediate without a receive: NAK"),
    "bad-rkey": ("6, IBTA 9.7", "an R_Key of nothing: NAK remote access, nothing is placed"),
    "bounds": ("6, IBTA 9.7", "a WRITE beyond its region: NAK remote access, nothing is placed"),
    "nak-error": ("1.11", "who sends a NAK is in error"),
    "trim": ("Table 7-3", "a trimmed packet is answered by NACK TRIMMED"),
    "trim-lasthop": ("Table 7-3", "a packet trimmed at the last hop: NACK TRIMMED_LASTHOP"),
    "nack-names": ("Table 7-16", "a NACK has PSN and EV of the packet that it refuses"),
    "nack-sent": ("7.5.3", "a NACK refuses a packet that was sent"),
    "trim-taken": ("7.5.3", "a trimmed packet has not come"),
    "probe": ("6.5", "a probe is answered by a SACK with pr and its id"),
    "probe-echo": ("Table 7-18", "the answer to a probe has its EV and its timestamp"),
    "probe-psn": ("Table 7-6", "after a probe the next PSN is the one before it plus 1"),
    "bad-icrc": ("IBTA A17.3.3", "a packet with a wrong ICRC is dropped"),
    "other-host": ("IBTA 9.6", "a packet from an address other than the peer's is dropped"),
    "bad-opcode": ("Table 6-2", "an opcode that there is not is dropped, and no error"),
    "reserved": ("Table 6-3", "reserved bits are ignored"),
    "padding": ("Table 6-3", "padding is taken off, and not placed", "D2"),
    "unpadded": ("Table 6-3", "a payload that is no multiple of 4 bytes is taken without padding", "D2"),
    "port-4791": ("7.5.5.2", "a packet to UDP port 4791 is heard", "D3"),
    "port-4971": ("7.5.5.2", "a packet to UDP port 4971 is heard", "D3"),
    "ep-probe": ("6.5", "an EV probe to QP 2 is answered"),
    "ep-status": ("7.4.8", "a Port Status Update is answered"),
    "ep-echo": ("Table 7-22", "the answer to an endpoint request has its id, op and timestamp"),
}
REQUESTOR = {
    "psns": ("6.3.1", "PSNs begin with the one agreed upon and have no gap"),
    "cut": ("6.1", "a WRITE is cut into full packets, each with its place, R_Key and length"),
    "payload": ("5.1", "packets carry what was to be written"),
    "sprayed": ("11.2", "packets are sprayed over several EVs"),
    "done-early": ("6.3, 7.5", "a WRITE is not complete by a SACK"),
    "done": ("6.3", "a WRITE is complete by its ACK"),
    "resends": ("7.4.5", "what SACKs show as missing is sent again"),
    "rtx": ("7.4", "another copy of a packet has RTX set"),
    "same": ("7.4", "another copy of a packet has the headers and the payload of the first"),
    "other-ev": ("7.4", "another copy of a packet takes another EV"),
    "sacked": ("7.4", "what SACKs show as there is not sent again, but to ask for an ACK"),
    "nacked": ("7.5.3", "a packet that was NACKed as trimmed is sent again"),
    "silence": ("7.4.1", "after a silence a packet is sent again, or a probe"),
    "window": ("6.3.1", "nothing is sent beyond cack and MPR"),
    "wimm": ("5", "no more WRITEs with immediate are in flight than agreed upon"),
    "rqmsn": ("Table 6-8", "rqmsn counts WRITEs with immediate"),
    "always-skip": ("9.3.1", "an EV that ALWAYS_SKIP named carries no data before a probe was answered"),
    "unexp": ("Table 7-3", "NACK UNEXP_EVENT ends in error"),
    "nak": ("1.11", "NAK remote access error ends in that error"),
    "ack-unsent": ("6.3", "an ACK of what was never sent completes nothing"),
    "sack-unsent": ("7.5", "a SACK of what was never sent acknowledges nothing"),
    "ack-icrc": ("IBTA A17.3.3", "an ACK with a wrong ICRC completes nothing"),
    "ack-other-host": ("IBTA 9.6", "an ACK from an address other than the peer's completes nothing"),
    "wrap-sent": ("6", "PSNs of the sender wrap"),
    "port-down": ("7.4.8, 3.6", "no data goes to a port that was announced as down"),
}
# Only with SRv6.
TUNNEL = {
    "by-srv6": ("9", "each packet to a peer that is reached by SRv6 has an outer header"),
    "locator": ("9, RFC 9800", "an outer destination ends at the locator of the port where the packet arrives"),
}


def numbered():
    """{name: Question}"""
    found = {}
    for letter, group in (("R", RESPONDER), ("S", REQUESTOR), ("T", TUNNEL)):
        for n, (name, (section, text, *disputed)) in enumerate(group.items(), 1):
            found[name] = Question(f"{letter}{n}", section, text, disputed[0] if disputed else "")
    return found


def asked(srv6):
    """Questions to a device that is met by SRv6, or not."""
    return {name: q for name, q in QUESTIONS.items() if srv6 or name not in TUNNEL}


QUESTIONS = numbered()
