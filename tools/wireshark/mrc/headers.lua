-- SPDX-License-Identifier: GPL-2.0
-- headers.lua - BTH and what follows it, into the tree and into a table of what the analysis needs.

local fields = require("mrc.fields")
local f, expert = fields.f, fields.expert
local EXTRA, NACKS, SYNDROMES, MARKS = fields.EXTRA, fields.NACKS, fields.SYNDROMES, fields.MARKS
local M24 = 2^24
local high, bit_1 = false, false	-- D4, D5: the other reading

local function readings(op_high, port_bit_1)
	high, bit_1 = op_high, port_bit_1
end

-- zero(item, value): a note where reserved bits are set.
local function zero(tree, range, value)
	if value ~= 0 then
		tree:add_proto_expert_info(expert.reserved, "Reserved bits are not zero: byte " .. range:offset() .. " of the frame")
	end
end

local function timestamp(tree, tvb, at)
	tree:add(f["ts.tx"], tvb(at, 2))
	tree:add(f["ts.tsr"], tvb(at + 2, 2))
	tree:add(f["ts.ftype"], tvb(at + 2, 2))
	zero(tree, tvb(at + 2, 2), tvb(at + 2, 2):bitfield(1, 11))
end

local function bth(tree, tvb, p)
	local t = tree:add(tvb(0, 12), "Base Transport Header")
	t:add(f["bth.opcode"], tvb(0, 1))
	for _, name in ipairs({ "se", "m", "pad", "tver" }) do
		t:add(f["bth." .. name], tvb(1, 1))
	end
	t:add(f["bth.pkey"], tvb(2, 2))
	t:add(f["bth.dqpn"], tvb(5, 3))
	for _, name in ipairs({ "a", "rtx", "ts" }) do
		t:add(f["bth." .. name], tvb(8, 1))
	end
	t:add(f["bth.psn"], tvb(9, 3))
	zero(t, tvb(8, 1), tvb(8, 1):bitfield(1, 1) + tvb(8, 1):bitfield(4, 4))
	p.pad, p.dqpn, p.psn = tvb(1, 1):bitfield(2, 2), tvb(5, 3):uint(), tvb(9, 3):uint()
	p.a, p.rtx, p.ts = tvb(8, 1):bitfield(0, 1) == 1, tvb(8, 1):bitfield(2, 1) == 1, tvb(8, 1):bitfield(3, 1) == 1
end

local function data(tree, tvb, p)
	local at = 12
	local t = tree:add(tvb(at, 4), "Message Header (METH)")
	t:add(f["meth.rqmsn"], tvb(at, 2))
	t:add(f["meth.msn"], tvb(at + 2, 2))
	p.msn = tvb(at + 2, 2):uint()
	at = at + 4
	if p.ts then
		timestamp(tree:add(tvb(at, 4), "Timestamp (TSETH)"), tvb, at)
		at = at + 4
	end
	t = tree:add(tvb(at, 16), "RDMA Header (RETH)")
	t:add(f["reth.va"], tvb(at, 8))
	t:add(f["reth.rkey"], tvb(at + 8, 4))
	t:add(f["reth.dmalen"], tvb(at + 12, 4))
	at = at + 16
	local extra = EXTRA[p.opcode]
	if extra == "imm" or extra == "ieth" then
		tree:add(f[extra == "imm" and "imm" or "ieth.rkey"], tvb(at, 4))
		at = at + 4
	elseif extra == "atomic" then
		tree:add(f["atomic.swap_add"], tvb(at, 8))
		tree:add(f["atomic.compare"], tvb(at + 8, 8))
		at = at + 16
	elseif extra == "atomack" then
		tree:add(f["atomack.original"], tvb(at, 8))
		at = at + 8
	end
	return at
end

local function plain(tree, tvb, at, list)
	for _, entry in ipairs(list) do
		tree:add(f[entry[1]], tvb(at + entry[2], entry[3]))
	end
end

local control = {}

control[0xd1] = { 4, "Acknowledge (AETH)", function(t, tvb, at, p)
	plain(t, tvb, at, { { "aeth.syndrome", 0, 1 }, { "aeth.msn", 1, 3 } })
	p.syndrome = tvb(at, 1):uint()
	if p.syndrome ~= 0x1f then
		t:add_proto_expert_info(expert.nak, SYNDROMES[p.syndrome] or "NAK")
	end
end }

-- From the left: #: arrived, .: missing; the first is CACK + offset.
local function draw(p)
	local top, out = 0, {}
	for i = 1, 64 do
		top = p.bitmap[i] and i or top
	end
	for i = 1, top do
		out[i] = p.bitmap[i] and "#" or "."
	end
	local first = (p.cack + p.offset) % M24
	return top == 0 and "nothing beyond CACK" or
	       string.format("%d %s %d", first, table.concat(out), (first + top - 1) % M24)
end

control[0xdc] = { 36, "Selective Acknowledgement (SETH, CC_STATE)", function(t, tvb, at, p)
	plain(t, tvb, at, { { "sack.m", 1, 1 }, { "sack.pr", 1, 1 } })
	p.m, p.pr = tvb(at + 1, 1):bitfield(1, 2), tvb(at + 1, 1):bitfield(6, 1) == 1
	plain(t, tvb, at, { { p.pr and "sack.probe_id" or "sack.ack_psn_offset", 2, 2 }, { "sack.ev", 4, 4 },
		{ "sack.spdcid", 8, 2 }, { "sack.dpdcid", 10, 2 }, { "sack.cack", 13, 3 }, { "sack.cc_type", 16, 1 },
		{ "sack.cc_fl", 16, 1 }, { "sack.mpr", 17, 1 }, { "sack.offset", 18, 2 }, { "sack.bitmap", 20, 8 } })
	zero(t, tvb(at, 2), tvb(at, 2):bitfield(0, 9) + tvb(at, 2):bitfield(11, 3) + tvb(at, 2):bitfield(15, 1))
	zero(t, tvb(at + 12, 1), tvb(at + 12, 1):uint())
	p.trigger, p.probe_id = tvb(at + 2, 2):int(), tvb(at + 2, 2):uint()
	p.ev, p.spdcid, p.cack = tvb(at + 4, 4):uint(), tvb(at + 8, 2):uint(), tvb(at + 13, 3):uint()
	p.offset, p.bitmap = tvb(at + 18, 2):int(), {}
	for i = 1, 64 do
		p.bitmap[i] = tvb(at + 20, 8):bitfield(64 - i, 1) == 1
	end
	p.drawn = draw(p)
	t:add(f["sack.drawn"], tvb(at + 20, 8), p.drawn)
	plain(t, tvb, at, { { "sack.tx_ts", 28, 2 }, { "sack.ooo", 30, 2 }, { "sack.restore", 32, 1 },
		{ "sack.pen", 32, 1 }, { "sack.rcvd", 33, 3 } })
	zero(t, tvb(at + 30, 1), tvb(at + 30, 1):bitfield(0, 1))
	if p.bitmap[2 - p.offset] then
		t:add_proto_expert_info(expert.edge)
	end
	if p.m ~= 0 then
		t:add_proto_expert_info(expert.mark, "EV to be passed over: " .. MARKS[p.m])
	end
end }

control[0xdd] = { 20, "Negative Acknowledgement (NETH)", function(t, tvb, at, p)
	plain(t, tvb, at, { { "nack.reason", 2, 1 }, { "nack.vendor", 3, 1 }, { "nack.ev", 4, 4 },
		{ "nack.spdcid", 8, 2 }, { "nack.dpdcid", 10, 2 }, { "nack.psn", 13, 3 }, { "nack.cc_type", 16, 1 },
		{ "nack.cc_fl", 16, 1 }, { "nack.tx_ts", 18, 2 } })
	zero(t, tvb(at, 2), tvb(at, 2):uint())
	zero(t, tvb(at + 12, 1), tvb(at + 12, 1):uint())
	zero(t, tvb(at + 17, 1), tvb(at + 17, 1):uint())
	p.reason, p.ev, p.spdcid = tvb(at + 2, 1):uint(), tvb(at + 4, 4):uint(), tvb(at + 8, 2):uint()
	t:add_proto_expert_info(p.reason <= 2 and expert.trimmed or expert.refused, NACKS[p.reason] or "unknown reason")
end }

control[0xde] = { 16, "Probe (PETH)", function(t, tvb, at, p)
	plain(t, tvb, at, { { "probe.vendor", 3, 1 }, { "probe.id", 4, 2 }, { "probe.spdcid", 8, 2 },
		{ "probe.dpdcid", 10, 2 } })
	zero(t, tvb(at, 3), tvb(at, 3):uint())
	zero(t, tvb(at + 6, 2), tvb(at + 6, 2):uint())
	timestamp(t, tvb, at + 12)
	p.probe_id = tvb(at + 4, 2):uint()
end }

control[0xd8] = { 16, "Endpoint Request (ERTH)", function(t, tvb, at, p)
	plain(t, tvb, at, { { "ep.req_op", 1, 1 }, { "ep.vendor", 3, 1 } })
	t:add(bit_1 and f["ep.ports_1"] or f["ep.ports"], tvb(at + 4, 4))
	zero(t, tvb(at, 2), tvb(at, 2):bitfield(0, 14))
	zero(t, tvb(at + 2, 1), tvb(at + 2, 1):uint())
	zero(t, tvb(at + 8, 4), tvb(at + 8, 4):uint())
	timestamp(t, tvb, at + 12)
	p.op, p.ports = tvb(at + 1, 1):bitfield(6, 2), tvb(at + 4, 4):bitfield(0, bit_1 and 31 or 32)
	zero(t, tvb(at + 7, 1), bit_1 and tvb(at + 7, 1):bitfield(7, 1) or 0)
end }

control[0xd9] = { 36, "Endpoint Response (EETH)", function(t, tvb, at, p)
	t:add(high and f["ep.rsp_op_high"] or f["ep.rsp_op"], tvb(at + 1, 1))
	t:add(f["ep.vendor"], tvb(at + 3, 1))
	t:add(f["ep.tx_ts"], tvb(at + 28, 2))
	p.op = tvb(at + 1, 1):bitfield(high and 2 or 4, 2)
	zero(t, tvb(at, 2), tvb(at, 2):uint() - p.op * (high and 16 or 4))
	zero(t, tvb(at + 2, 1), tvb(at + 2, 1):uint())
	zero(t, tvb(at + 4, 24), tvb(at + 4, 24):bytes():tohex():find("[1-9a-fA-F]") and 1 or 0)
	zero(t, tvb(at + 30, 6), tvb(at + 30, 6):bytes():tohex():find("[1-9a-fA-F]") and 1 or 0)
end }

-- Ours: a host sends it to itself along a path. What follows is the probe's payload.
control[0xdf] = { 16, "Self-probe", function(t, tvb, at, p)
	plain(t, tvb, at, { { "self.id", 0, 4 }, { "self.number", 4, 4 }, { "self.secret", 8, 8 } })
	p.test, p.number = tvb(at, 4):uint(), tvb(at + 4, 4):uint()
end }

-- A copy of a datagram: what RoCEv2 calls UD SEND Only.
local function datagram(tree, tvb, p)
	local t = tree:add(tvb(12, 8), "Datagram (DETH)")
	plain(t, tvb, 12, { { "deth.qkey", 0, 4 }, { "deth.mark", 4, 1 }, { "deth.sqpn", 5, 3 } })
	if p.opcode == 0xe5 then
		tree:add(f.imm, tvb(20, 4))
		return 24
	end
	return 20
end

local function shortest(opcode, ts)
	if control[opcode] then
		return 12 + control[opcode][1]
	elseif opcode >= 0xe4 then
		return opcode == 0xe5 and 24 or 20
	end
	local extra = { imm = 4, ieth = 4, atomic = 16, atomack = 8 }
	return 12 + 4 + (ts and 4 or 0) + 16 + (extra[EXTRA[opcode]] or 0)
end

local function headers(tree, tvb, p, len)
	local c = control[p.opcode]
	if c then
		c[3](tree:add(tvb(12, c[1]), c[2]), tvb, 12, p)
		if len > 12 + c[1] and p.opcode ~= 0xdf then
			tree:add_proto_expert_info(expert.long)
		end
		return 12 + c[1]
	elseif p.data then
		return data(tree, tvb, p)
	end
	return datagram(tree, tvb, p)
end

return { readings = readings, bth = bth, rest = headers, shortest = shortest }
