# SPDX-License-Identifier: GPL-2.0
"""catalogue.py - the rules that mrc-conform judges: number, section of MRC 1.0, text.

The decoder and rules.py use the same texts. host/conform.sh fails if one of them lacks a rule of the other. Section numbers and tables are those of MRC 1.0 (OCP, May 2026) as reported by its
readers; "ours" is this project's extension (Documentation/reference/protocol.md). D1 to D9: readers disagree,
see Documentation/reference/disputed.md.
"""
import collections

Rule = collections.namedtuple("Rule", "number section text disputed")

LAYERS = (
    ("RFC 894, 2464", "Ethernet header whole"), ("RFC 8200", "IPv6 header whole"),
    ("RFC 8200", "IPv6 version"), ("RFC 8200", "IPv6 payload length"),
    ("RFC 791", "IPv4 header whole"), ("IBTA A17", "IPv4 version and header length, no options"),
    ("RFC 791", "IPv4 total length"), ("IBTA A17", "IPv4 DF, not a fragment"),
    ("RFC 791", "IPv4 header checksum"), ("RFC 6864", "IPv4 id of an atomic datagram"),
    ("RFC 791, 8200", "TTL, hop limit"), ("9, Table 9-1", "flow label: upper four bits zero"),
    ("RFC 768", "UDP header whole"), ("RFC 768", "UDP length"), ("IBTA A17", "UDP checksum zero"),
    ("6.2", "BTH and ICRC whole"), ("IBTA A17.3.3", "ICRC"),
    ("RFC 8754", "SRH whole"), ("RFC 8754", "SRH of one segment"),
    ("RFC 8754", "SRH flags and tag zero"), ("RFC 2983", "outer DS field as the inner"),
    ("RFC 8754", "outer flow label"), ("RFC 8200", "outer hop limit"),
    ("RFC 9800", "outer destination"), ("RFC 8200", "outer source"),
)
HEADERS = (
    ("Table 6-2", "opcode"), ("Table 6-3", "TVer 0"), ("Table 6-3", "BTH M bit zero", "D1"),
    ("Table 6-3", "P_Key"), ("Table 6-3", "BTH reserved byte"),
    ("Table 6-3", "BTH reserved bits"), ("Table 6-3", "destination QP"),
    ("6.5", "QP 2 for endpoint packets, and for nothing else"),
    ("Table 6-2", "headers of data whole"), ("Table 6-3", "payload padded to words", "D2"),
    ("Table 6-3", "least padding", "D2"), ("Table 6-3", "pad count within the payload"),
    ("Table 6-3", "padding zero"), ("ours", "no payload"),
    ("Table 6-3", "BTH byte 1 of a QP of mrc.h is zero"),
    ("ours", "solicited event only where a receive completes"),
    ("6.1", "payload of one MTU at most"), ("6.1", "part of a message with payload"),
    ("Table 6-8", "rqmsn zero where no receive is taken"),
    ("Table 6-9", "dmalen of a message of several packets"),
    ("Table 6-9", "dmalen of a message of one packet"),
    ("ours", "offset of the first packet zero"), ("ours", "payload within the message"),
    ("ours", "the last packet ends the message"), ("ours", "atomic of one aligned word"),
    ("ours", "RETH of an atomic acknowledge zero"),
    ("Table 6-6", "timestamp: reserved zero, ftype 1"), ("8", "DSCP of its class"),
    ("8", "ECT(0)"), ("8", "no CE from the sender"),
)
CONTROL = (
    ("Table 6-2", "length of a control packet"), ("Table 6-3", "BTH flags of control"),
    ("6.3, IBTA 9.7", "AETH: no credits, or NAK invalid request, access, operation"),
    ("Table 7-14", "SETH type, next, reserved zero"), ("Table 7-14", "SETH m"),
    ("Table 7-14", "SETH reserved byte"), ("Table 7-6", "BTH PSN of a SACK is its cack"),
    ("Table 7-12", "cc_type, cc_fl of a SACK"), ("Table 7-12", "CC_STATE reserved bit"),
    ("Table 7-12", "ooo_count holds what the bitmap shows"),
    ("Table 7-14", "cack is the left edge"),
    ("Table 7-16", "NETH type, next, reserved zero"), ("Table 7-16", "NETH reserved byte"),
    ("Table 7-3", "NACK reason of Table 7-3"),
    ("ours", "vendor_info: an RNR timer, with NO_RESOURCE"),
    ("Table 7-6", "BTH PSN of a NACK is its PSN"), ("Table 7-16", "cc_type, cc_fl of a NACK"),
    ("Table 7-18", "PETH type, next, reserved zero"), ("Table 7-18", "PETH vendor_info"),
    ("Table 7-6", "a probe consumes no PSN"), ("Table 7-20", "ERTH type, next, reserved zero"),
    ("Table 7-20", "ERTH op"), ("Table 7-20", "ERTH vendor_info"),
    ("Table 7-6", "request id in PSN[15:0]"), ("Table 7-22", "EETH reserved zero", "D4"),
    ("Table 7-22", "EETH op", "D4"),
    ("ours", "self-probe: number, id, secret, payload"), ("ours", "a self-probe is of its host to itself"),
    ("ours", "BTH PSN of a self-probe is its number"), ("ours", "DETH of a copied datagram whole"),
    ("ours", "a copied datagram has the mark"), ("ours", "BTH flags of a copied datagram"),
    ("ours", "a copied datagram takes another EV"),
)
MESSAGES = (
    ("6.3.1", "PSNs without a gap"), ("6.1", "the MTU is one of IBTA's"),
    ("6.1", "a message begins with FIRST or ONLY"), ("6.1", "a message ends before the next begins"),
    ("6.1", "one family in a message"), ("6.1", "all but the last packet are full"),
    ("Table 6-8", "msn is one in a message"), ("Table 6-8", "rqmsn is one in a message"),
    ("Table 6-9", "dmalen is one in a message"), ("Table 6-9", "R_Key is one in a message"),
    ("Table 6-9", "va advances by the MTU"), ("Table 6-9", "dmalen is the length of the message"),
    ("Table 6-8", "msn counts messages"), ("Table 6-8", "rqmsn counts receives from 0"),
    ("Table 6-8", "rqmsn is zero for a plain WRITE"),
    ("ours", "a response has the msn of a request"), ("ours", "a response is as long as asked"),
    ("ours", "READ is answered by data"),
    ("7.4", "RTX is not set in the first copy of a PSN"), ("7.4", "RTX is set in every other copy"),
    ("7.4", "a retransmission has the headers of the first copy"),
    ("7.4", "a retransmission takes another EV"),
)
ANSWERS = (
    ("Table 7-14", "dpdcid is the low half of the destination QP"),
    ("Table 7-14", "spdcid is the low half of the sender's QP"),
    ("Table 7-14", "spdcid is one and the same for a QP"),
    ("7.5", "a SACK names only what was sent before it"),
    ("7.5", "cack is not before the first PSN"), ("7.5", "cack is not beyond the last PSN"),
    ("7.5", "cack does not go back"), ("7.5", "nothing is sent beyond cack and MPR"),
    ("Table 7-14", "entropy of a SACK is that of the packet it answers"),
    ("Table 7-12", "tx_timestamp is reflected in a SACK"),
    ("8.3.1", "rcvd_bytes counts UDP length and 40 of each packet taken"),
    ("8.3.1", "rcvd_bytes counts at least what is shown"),
    ("Table 7-16", "entropy of a NACK is that of the packet it answers"),
    ("Table 7-16", "tx_timestamp is reflected in a NACK"), ("7.5.3", "what was NACKed is sent again"),
    ("6.3", "an ACK answers a QP that sent something"),
    ("6.3", "an ACK is not before the first PSN"), ("6.3", "an ACK is not beyond the last PSN"),
    ("6.3", "an ACK names only what was sent before it"), ("6.3", "AETH.msn counts messages"),
    ("6.3", "a NAK names a PSN that was sent"), ("6.3", "a NAK comes when all before it is done"),
    ("6.5", "probes are answered"), ("6.5", "a probe's answer has its id and EV"),
    ("Table 7-18", "tx_timestamp of a probe is reflected"),
)
ENDPOINTS = (
    ("7.4.7", "endpoint requests are answered"),
    ("7.4.7", "an endpoint response has id and op of a request"),
    ("Table 7-20", "tx_timestamp of an endpoint request is reflected"),
    ("7.4.8", "port status of ports that there are", "D5"),
    ("9", "an EV has one outer destination"), ("11.2", "packets are sprayed over several EVs"),
)


def numbered():
    """{text: Rule}"""
    rules = {}
    for letter, group in zip("LHCMAE", (LAYERS, HEADERS, CONTROL, MESSAGES, ANSWERS, ENDPOINTS)):
        for n, (section, text, *disputed) in enumerate(group, 1):
            rules[text] = Rule(f"{letter}{n}", section, text, disputed[0] if disputed else "")
    return rules


RULES = numbered()
