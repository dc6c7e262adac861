-- SPDX-License-Identifier: GPL-2.0
-- analysis.lua - what one packet says of others: connections, causes, round trips.

local fields = require("mrc.fields")
local f, expert, NACKS = fields.f, fields.expert, fields.NACKS

-- By direction (source, destination, destination QP): what was sent, and what is known of it.
local flows, streams, results, requests

local M24 = 2^24

local function reset()
	flows, streams, results, requests = {}, 0, {}, {}
end

local function unwrap(flow, psn)
	return flow.high + (psn - flow.high + M24 / 2) % M24 - M24 / 2
end

local function flow_of(src, dst, qpn)
	local key = src .. ">" .. dst .. ">" .. qpn
	local flow = flows[key]
	if not flow then
		flow = { key = key, src = src, dst = dst, qpn = qpn, sent = {}, nacks = {} }
		flows[key] = flow
	end
	return flow
end

-- A connection is two directions. Control packets name the receiver's QP, and the low half of the sender's.
local function joined(flow, back)
	if flow and back and flow ~= back and not flow.back and not back.back then
		flow.back, back.back = back, flow
		local number = math.min(flow.stream or math.huge, back.stream or math.huge)
		if number == math.huge then
			number, streams = streams, streams + 1
		end
		flow.stream, back.stream = number, number
	end
	if flow and not flow.stream then
		flow.stream, streams = streams, streams + 1
	end
end

-- Did a packet with UDP source port @port have the EV @ev? Fields of lower layers are not known on Wireshark's first
-- pass, so the flow label is not; devices may have the port in either half.
local function same_path(port, ev)
	return port == math.floor(ev / 65536) or port == ev % 65536
end

-- The direction that a control packet of @back speaks of: known, or the one that has sent what it names.
local function answered(back, psn, ev, half)
	if back.back then
		return back.back
	end
	local by_half
	for _, flow in pairs(flows) do
		if flow.src == back.dst and flow.dst == back.src and not flow.back and flow.high then
			local record = psn and flow.sent[unwrap(flow, psn)]
			if record and same_path(record.port, ev) then
				joined(flow, back)
				return flow
			end
			if flow.qpn % 65536 == half then
				by_half = flow
			end
		end
	end
	if by_half then
		joined(by_half, back)
	end
	return by_half
end

local function cause_of(flow, psn)
	local nack = flow.nacks[psn]
	if nack then
		return "refused: " .. (NACKS[nack.reason] or nack.reason), nack.frame
	end
	if flow.highest_sacked and flow.highest_sacked > psn then
		return "later packets were acknowledged", flow.sacked_in
	end
	return "no acknowledgement came"
end

local function data_sent(p, frame, time, r)
	local flow = flow_of(p.src, p.dst, p.dqpn)
	joined(flow)
	r.flow = flow
	flow.high = flow.high or p.psn
	local psn = unwrap(flow, p.psn)
	local before = flow.sent[psn]
	if before then
		r.first_copy, r.duplicate = before.first, not p.rtx
	end
	if before or p.rtx then
		r.again = true
		r.cause, r.cause_in = cause_of(flow, psn)
	elseif flow.top and psn < flow.top then
		r.late = true
	elseif flow.top and psn > flow.top + 1 then
		r.gap, r.gap_from, r.gap_to = psn - flow.top - 1, flow.top + 1, psn - 1
	end
	flow.sent[psn] = { first = before and before.first or frame, frame = frame, time = time, port = p.port, result = r,
			   copies = before and before.copies + 1 or 1 }
	flow.top = math.max(flow.top or psn, psn)
	flow.high = math.max(flow.high, psn)
end

local WALK = 65536	-- most PSNs that one SACK is followed over

local function covered(flow, psn, frame)
	local record = flow.sent[psn]
	if record and not record.result.sacked_in then
		record.result.sacked_in = frame
		return 1
	end
	return 0
end

local function sack_came(p, frame, time, r)
	local back = flow_of(p.src, p.dst, p.dqpn)
	r.flow = back
	local psn = not p.pr and (p.cack + p.trigger) % M24 or nil
	if p.pr then
		local asked = requests[p.dst .. p.src .. "probe" .. p.probe_id]
		if asked then
			r.of, r.rtt = asked.frame, time - asked.time
		end
	end
	local flow = answered(back, psn, p.ev, p.spdcid)
	if not flow or not flow.high then
		return
	end
	local cack = unwrap(flow, p.cack)
	local record = psn and flow.sent[unwrap(flow, psn)]
	if record and same_path(record.port, p.ev) then
		r.of, r.rtt = record.frame, time - record.time
	end
	local newly = 0
	for n = math.max((flow.cack or cack - WALK) + 1, cack - WALK), cack do
		newly = newly + covered(flow, n, frame)
	end
	flow.cack = math.max(flow.cack or cack, cack)
	local top = cack
	for i, set in ipairs(p.bitmap) do
		if set then
			top = math.max(top, cack + p.offset + i - 1)
			newly = newly + covered(flow, cack + p.offset + i - 1, frame)
		end
	end
	if top > (flow.highest_sacked or -1) then
		flow.highest_sacked, flow.sacked_in = top, frame
	end
	r.newly = newly
end

local function nack_came(p, frame, time, r)
	local back = flow_of(p.src, p.dst, p.dqpn)
	r.flow = back
	local flow = answered(back, p.psn, p.ev, p.spdcid)
	if not flow or not flow.high then
		return
	end
	local psn = unwrap(flow, p.psn)
	flow.nacks[psn] = { reason = p.reason, frame = frame }
	local record = flow.sent[psn]
	if record then
		r.of, r.rtt = record.frame, time - record.time
	end
end

local function asked(p, kind, id, frame, time)
	requests[p.src .. p.dst .. kind .. id] = { frame = frame, time = time }
end

local function response(p, kind, id, time, r)
	local q = requests[p.dst .. p.src .. kind .. id]
	if q then
		r.of, r.rtt = q.frame, time - q.time
	end
end

-- What the packet @p says of others, once per frame.
local function analyse(p, pinfo)
	local frame, time = pinfo.number, pinfo.abs_ts
	local r = results[frame]
	if r then
		return r
	end
	r = {}
	results[frame] = r
	if p.data then
		data_sent(p, frame, time, r)
	elseif p.opcode == 0xdc then
		sack_came(p, frame, time, r)
	elseif p.opcode == 0xdd then
		nack_came(p, frame, time, r)
	elseif p.opcode == 0xde then
		r.flow = flow_of(p.src, p.dst, p.dqpn)
		asked(p, "probe", p.probe_id, frame, time)
	elseif p.opcode == 0xd1 then
		r.flow = flow_of(p.src, p.dst, p.dqpn)
	elseif p.opcode == 0xd8 then
		asked(p, "endpoint", p.psn % 65536, frame, time)
	elseif p.opcode == 0xd9 then
		response(p, "endpoint", p.psn % 65536, time, r)
	elseif p.opcode == 0xdf then	-- the same packet twice: where it leaves, and where it comes back
		local id = p.test .. ":" .. p.number
		response(p, "self", id, time, r)
		if not r.of then
			asked(p, "self", id, frame, time)
		end
	end
	return r
end

local function seconds(t)
	local whole = math.floor(t)
	return NSTime.new(whole, math.floor((t - whole) * 1e9 + 0.5))
end

local function show_analysis(tree, r)
	local function made(name, ...)
		local item = tree:add(f[name], ...)
		item:set_generated()
		return item
	end
	local flow = r.flow
	if flow and flow.stream then
		made("stream", flow.stream)
	end
	if r.of then
		made("of", r.of)
	end
	if r.rtt then
		made("rtt", seconds(r.rtt))
	end
	if r.newly then
		made("newly", r.newly)
	end
	if r.again then
		local item = made("cause", r.cause)
		item:add_proto_expert_info(r.duplicate and expert.duplicate or expert.rtx, "Sent again: " .. r.cause)
		if r.cause_in then
			made("cause_in", r.cause_in)
		end
		if r.first_copy then
			made("first_copy", r.first_copy)
		end
	end
	if r.late then
		made("late", true)
	end
	if r.gap then
		made("gap", r.gap)
		local left = 0
		for psn = r.gap_from, math.min(r.gap_to, r.gap_from + WALK) do
			left = left + (flow.sent[psn] and 0 or 1)
		end
		made("gap_left", left)
	end
	if r.sacked_in then
		made("sacked_in", r.sacked_in)
	end
end

reset()

return { reset = reset, analyse = analyse, show = show_analysis }
