-- SPDX-License-Identifier: GPL-2.0
-- fields.lua - fields, their values and what is noted about them.

local OPCODES = {
	[0xc0] = "SEND First", [0xc1] = "SEND Middle", [0xc2] = "SEND Last",
	[0xc3] = "SEND Last with Immediate", [0xc4] = "SEND Only", [0xc5] = "SEND Only with Immediate",
	[0xc6] = "WRITE First", [0xc7] = "WRITE Middle", [0xc8] = "WRITE Last",
	[0xc9] = "WRITE Last with Immediate", [0xca] = "WRITE Only", [0xcb] = "WRITE Only with Immediate",
	[0xcc] = "READ Request", [0xcd] = "READ Response First", [0xce] = "READ Response Middle",
	[0xcf] = "READ Response Last", [0xd0] = "READ Response Only", [0xd1] = "Acknowledge",
	[0xd2] = "ATOMIC Acknowledge", [0xd3] = "Compare and Swap", [0xd4] = "Fetch and Add",
	[0xd6] = "SEND Last with Invalidate", [0xd7] = "SEND Only with Invalidate",
	[0xd8] = "Endpoint Request", [0xd9] = "Endpoint Response", [0xdc] = "SACK", [0xdd] = "NACK",
	[0xde] = "Probe", [0xdf] = "Self-probe", [0xe4] = "Datagram, copy", [0xe5] = "Datagram with Immediate, copy",
}
local EXTRA = {		-- of data packets: what follows RETH
	[0xc3] = "imm", [0xc5] = "imm", [0xc9] = "imm", [0xcb] = "imm", [0xd6] = "ieth", [0xd7] = "ieth",
	[0xd2] = "atomack", [0xd3] = "atomic", [0xd4] = "atomic",
}
local NACKS = {
	[1] = "TRIMMED", [2] = "TRIMMED_LASTHOP", [6] = "NO_BITMAP", [7] = "NO_PKT_BUFFER",
	[10] = "NO_RESOURCE", [11] = "PSN_OOR_WINDOW", [25] = "UNEXP_EVENT",
}
local SYNDROMES = {
	[0x1f] = "ACK", [0x60] = "NAK: PSN sequence", [0x61] = "NAK: invalid request",
	[0x62] = "NAK: remote access", [0x63] = "NAK: remote operation",
}
local MARKS = { [0] = "NONE", [1] = "SKIP_ONCE", [2] = "ALWAYS_SKIP", [3] = "reserved" }
local ENDPOINT_OPS = { [0] = "Port Status Update", [1] = "EV Probe" }
local TSR = { [0] = "128 ns", [1] = "implementation-defined" }

local f = {}

local function field(kind, name, label, ...)
	f[name] = ProtoField[kind]("mrc." .. name, label, ...)
end

local function masked(name, label, bits, mask, values, display)
	field("uint" .. bits, name, label, display or base.DEC, values, mask)
end

-- The same filter name for other bits.
local function same(name, as, label, bits, mask, values)
	f[name] = ProtoField["uint" .. bits]("mrc." .. as, label, values and base.DEC or base.HEX, values, mask)
end

field("uint8", "bth.opcode", "Opcode", base.HEX, OPCODES)
field("bool", "bth.se", "Solicited Event", 8, nil, 0x80)
field("bool", "bth.m", "M", 8, nil, 0x40)
masked("bth.pad", "PadCnt", 8, 0x30)
masked("bth.tver", "TVer", 8, 0x0f)
field("uint16", "bth.pkey", "P_Key", base.HEX)
field("uint24", "bth.dqpn", "Destination QP", base.HEX)
field("bool", "bth.a", "A, SACK wanted", 8, nil, 0x80)
field("bool", "bth.rtx", "RTX, retransmission", 8, nil, 0x20)
field("bool", "bth.ts", "TS, TSETH follows", 8, nil, 0x10)
field("uint24", "bth.psn", "PSN", base.DEC)
field("uint16", "meth.rqmsn", "RQMSN, receive", base.DEC)
field("uint16", "meth.msn", "MSN, message", base.DEC)
field("uint16", "ts.tx", "Timestamp", base.DEC)
masked("ts.tsr", "Unit", 16, 0x8000, TSR)
masked("ts.ftype", "Type", 16, 0x000f)
field("uint64", "reth.va", "Virtual Address, or offset", base.HEX)
field("uint32", "reth.rkey", "R_Key", base.HEX)
field("uint32", "reth.dmalen", "DMA Length", base.DEC)
field("uint32", "imm", "Immediate", base.HEX)
field("uint32", "ieth.rkey", "R_Key to invalidate", base.HEX)
field("uint64", "atomic.swap_add", "Swap or Add", base.HEX)
field("uint64", "atomic.compare", "Compare", base.HEX)
field("uint64", "atomack.original", "Original value", base.HEX)
field("uint8", "aeth.syndrome", "Syndrome", base.HEX, SYNDROMES)
field("uint24", "aeth.msn", "MSN", base.DEC)
masked("sack.m", "M, mark", 8, 0x60, MARKS)
field("bool", "sack.pr", "PR, answer to a probe", 8, nil, 0x02)
field("int16", "sack.ack_psn_offset", "Trigger, from CACK", base.DEC)
field("uint16", "sack.probe_id", "Probe id", base.HEX)
field("uint32", "sack.ev", "EV of the packet answered", base.HEX)
field("uint16", "sack.spdcid", "SPDCID", base.HEX)
field("uint16", "sack.dpdcid", "DPDCID", base.HEX)
field("uint24", "sack.cack", "CACK", base.DEC)
masked("sack.cc_type", "CC type", 8, 0xf0)
masked("sack.cc_fl", "CC flags", 8, 0x0f)
field("uint8", "sack.mpr", "MPR, units of 128 PSNs", base.DEC)
field("int16", "sack.offset", "Bitmap, from CACK", base.DEC)
field("uint64", "sack.bitmap", "Bitmap", base.HEX)
field("string", "sack.drawn", "Bitmap, drawn")
field("uint16", "sack.tx_ts", "Timestamp, reflected", base.DEC)
masked("sack.ooo", "Out of order", 16, 0x7fff)
field("bool", "sack.restore", "Restore window", 8, nil, 0x80)
masked("sack.pen", "Window penalty", 8, 0x7f)
field("uint24", "sack.rcvd", "Received, units of 256 B", base.DEC)
field("uint8", "nack.reason", "Reason", base.DEC, NACKS)
field("uint8", "nack.vendor", "Vendor info, RNR timer", base.DEC)
field("uint32", "nack.ev", "EV of the packet refused", base.HEX)
field("uint16", "nack.spdcid", "SPDCID", base.HEX)
field("uint16", "nack.dpdcid", "DPDCID", base.HEX)
field("uint24", "nack.psn", "PSN refused", base.DEC)
masked("nack.cc_type", "CC type", 8, 0xf0)
masked("nack.cc_fl", "CC flags", 8, 0x0f)
field("uint16", "nack.tx_ts", "Timestamp, reflected", base.DEC)
field("uint8", "probe.vendor", "Vendor info", base.DEC)
field("uint16", "probe.id", "Probe id", base.HEX)
field("uint16", "probe.spdcid", "SPDCID", base.HEX)
field("uint16", "probe.dpdcid", "DPDCID", base.HEX)
masked("ep.req_op", "Operation", 8, 0x03, ENDPOINT_OPS)
masked("ep.rsp_op", "Operation", 8, 0x0c, ENDPOINT_OPS)
same("ep.rsp_op_high", "ep.rsp_op", "Operation", 8, 0x30, ENDPOINT_OPS)		-- D4, D5: the other reading
field("uint8", "ep.vendor", "Vendor info", base.DEC)
field("uint32", "ep.ports", "Ports that are up", base.HEX)
same("ep.ports_1", "ep.ports", "Ports that are up", 32, 0xfffffffe)
field("uint16", "ep.tx_ts", "Timestamp, reflected", base.DEC)
field("uint32", "self.id", "Test", base.DEC)
field("uint32", "self.number", "Number", base.DEC)
field("uint64", "self.secret", "Secret of the test", base.HEX)
field("uint32", "deth.qkey", "Q_Key", base.HEX)
field("uint8", "deth.mark", "Mark, 4d speaks MRC", base.HEX)
field("uint24", "deth.sqpn", "Source QP", base.HEX)
field("bytes", "payload", "Payload")
field("bytes", "padding", "Padding")
field("uint32", "icrc", "ICRC", base.HEX)
field("bool", "icrc.good", "ICRC is right")

-- What the packet alone does not hold.
field("uint32", "ev", "Entropy value (EV)", base.HEX)
field("uint8", "plane", "Plane", base.DEC)
field("string", "path", "Path")
field("uint32", "stream", "Connection", base.DEC)
field("framenum", "of", "Answers", base.NONE, frametype.ACK)
field("framenum", "sacked_in", "Acknowledged in", base.NONE, frametype.ACK)
field("framenum", "first_copy", "First copy", base.NONE)
field("framenum", "cause_in", "Cause, in", base.NONE)
field("string", "cause", "Sent again because")
field("relative_time", "rtt", "Round trip")
field("uint32", "newly", "Newly acknowledged", base.DEC)
field("uint32", "gap", "PSNs passed over", base.DEC)
field("uint32", "gap_left", "Of these never seen", base.DEC)
field("bool", "late", "Came after a later PSN")

local expert = {}

local function info(name, text, severity, group)
	expert[name] = ProtoExpert.new("mrc.expert." .. name, text, group or expert_group or
				       PI_SEQUENCE, severity)
end

info("rtx", "Sent again", PI_NOTE)
info("duplicate", "Sent again without RTX", PI_WARN)
info("mark", "Congestion: the packet answered was marked", PI_NOTE)
info("ce", "Congestion: marked on its way", PI_NOTE)
info("refused", "Refused", PI_WARN)
info("trimmed", "A switch cut the payload off", PI_NOTE)
info("nak", "The operation failed", PI_ERROR, PI_RESPONSE_CODE)
info("port", "A port of the sender is down", PI_WARN)
info("icrc", "ICRC is wrong", PI_ERROR, PI_CHECKSUM)
info("reserved", "Reserved bits are not zero", PI_WARN, PI_PROTOCOL)
info("short", "Shorter than its headers", PI_ERROR, PI_MALFORMED)
info("long", "Longer than its headers", PI_WARN, PI_MALFORMED)
info("edge", "The bitmap shows CACK + 1", PI_WARN, PI_PROTOCOL)

return {
	f = f, expert = expert,
	OPCODES = OPCODES, EXTRA = EXTRA, NACKS = NACKS, SYNDROMES = SYNDROMES, MARKS = MARKS,
	ENDPOINT_OPS = ENDPOINT_OPS,
}
