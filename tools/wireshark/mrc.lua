-- SPDX-License-Identifier: GPL-2.0
--
-- mrc.lua - MRC 1.0 for Wireshark and tshark, 4.0 and later.
--
--	tshark -X lua_script:mrc.lua -r FILE [-o mrc.fabric:fabric.toml] [-o mrc.planes:TRUE]
--	cp -r mrc.lua mrc ~/.local/lib/wireshark/plugins/	for Wireshark
--
-- Written from Documentation/reference/protocol.md. It takes MRC's opcodes (c0 to df, e4, e5) on MRC's ports and leaves
-- all others to Wireshark's RoCEv2. The folder mrc beside it has the parts.

package.path = __DIR__:gsub("/$", "") .. "/?.lua;" .. package.path

local fields = require("mrc.fields")
local names = require("mrc.fabric")
local layers = require("mrc.layers")
local icrc = require("mrc.icrc")
local headers = require("mrc.headers")
local analysis = require("mrc.analysis")
local planes = require("mrc.planes")

local f, expert = fields.f, fields.expert
local OPCODES, NACKS, SYNDROMES, MARKS, ENDPOINT_OPS = fields.OPCODES, fields.NACKS, fields.SYNDROMES, fields.MARKS, fields.ENDPOINT_OPS
local M24 = 2^24
local fabric	-- nil: none

local mrc = Proto("mrc", "Multipath Reliable Connection")
mrc.fields = f
mrc.experts = expert
mrc.prefs.ports = Pref.range("UDP ports", "4791,4971", "MRC's, RoCEv2's, and the one printed in 7.5.5.2", 65535)
mrc.prefs.fabric = Pref.string("Fabric file", "", "A fabric.toml, whose nodes and planes are named")
mrc.prefs.check = Pref.bool("Check ICRCs", true, "Costs about half a millisecond for 4 KiB")
mrc.prefs.op_high = Pref.bool("EETH: op in bits 5:4", false, "Disputed point D4; else in bits 3:2")
mrc.prefs.port_bit_1 = Pref.bool("Port status: bit 1 is port 1", false, "Disputed point D5; else bit 0 is")
mrc.prefs.planes = Pref.bool("tshark: print planes", false, "At the end: what each plane carried")

local function summary(p, s, r)
	local text = OPCODES[p.opcode]
	if p.opcode == 0xdc then
		text = text .. string.format(" CACK=%d %s", p.cack, p.pr and "probe=" .. p.probe_id or
					     "for PSN=" .. (p.cack + p.trigger) % M24)
		if not p.drawn:find("nothing") then
			text = text .. " [" .. p.drawn .. "]"
		end
		text = text .. (p.m ~= 0 and " " .. MARKS[p.m] or "")
	elseif p.opcode == 0xdd then
		text = text .. string.format(" PSN=%d %s", p.psn, NACKS[p.reason] or p.reason)
	elseif p.opcode == 0xde then
		text = text .. " probe=" .. p.probe_id
	elseif p.opcode == 0xdf then
		text = text .. string.format(" test=%d number=%d", p.test, p.number)
	elseif p.opcode == 0xd1 then
		text = text .. string.format(" PSN=%d %s", p.psn, SYNDROMES[p.syndrome] or p.syndrome)
	elseif p.opcode == 0xd8 or p.opcode == 0xd9 then
		text = text .. string.format(" id=%d %s", p.psn % 65536, ENDPOINT_OPS[p.op] or "?")
		if p.op == 0 and p.ports then
			text = text .. string.format(" up=%x", p.ports)
		end
	elseif p.data then
		text = text .. string.format(" PSN=%d MSN=%d", p.psn, p.msn or 0)
	end
	text = text .. string.format(" QP=%x EV=%08x", p.dqpn, s.ev)
	if s.plane then
		text = text .. " plane " .. s.plane
	end
	if r.again then
		text = text .. " [again: " .. r.cause .. "]"
	end
	return text
end

local roce = DissectorTable.get("udp.port"):get_dissector(4791)

local function trailer(tree, tvb, s, len)
	local item = tree:add_le(f.icrc, tvb(len, 4))
	if mrc.prefs.check and s.ip and s.udp and tvb:len() == tvb:reported_len() then
		local good = icrc.of(s, tvb) == tvb(len, 4):le_uint()
		tree:add(f["icrc.good"], good):set_generated()
		if not good then
			item:add_proto_expert_info(expert.icrc)
		end
	end
end

function mrc.dissector(tvb, pinfo, root)
	local opcode = tvb:len() >= 16 and tvb(0, 1):uint()
	if not opcode or not OPCODES[opcode] then
		local ok, read = pcall(function() return roce:call(tvb, pinfo, root) end)
		return ok and read or tvb:len()		-- what it finds malformed, it has said
	end
	local s = layers.surroundings(pinfo, fabric)
	local p = { opcode = opcode, src = tostring(pinfo.src), dst = tostring(pinfo.dst), port = pinfo.src_port,
		    data = opcode < 0xd8 and opcode ~= 0xd1 }
	pinfo.cols.protocol = "MRC"
	local tree = root:add(mrc, tvb())
	headers.bth(tree, tvb, p)
	tree:add(f.ev, s.ev):set_generated()
	if s.plane then
		tree:add(f.plane, s.plane):set_generated()
	end
	if s.path then
		tree:add(f.path, s.path):set_generated()
	end
	if s.ce then
		tree:add_proto_expert_info(expert.ce)
	end
	local len = tvb:len() - 4
	if len < headers.shortest(opcode, p.ts) then
		tree:add_proto_expert_info(p.data and len >= 16 and expert.trimmed or expert.short)
		pinfo.cols.info = OPCODES[opcode] .. " PSN=" .. p.psn .. " [cut short]"
		return tvb:len()
	end
	local at = headers.rest(tree, tvb, p, len)
	if len > at then
		local pad = math.min(p.pad, len - at)
		if len - pad > at then
			tree:add(f.payload, tvb(at, len - pad - at))
		end
		if pad > 0 then
			tree:add(f.padding, tvb(len - pad, pad))
		end
	end
	trailer(tree, tvb, s, len)
	if opcode == 0xd8 and p.op == 0 and fabric and p.ports % 2^fabric.planes ~= 2^fabric.planes - 1 then
		tree:add_proto_expert_info(expert.port)
	end
	local r = analysis.analyse(p, pinfo)
	analysis.show(tree, r)
	pinfo.cols.info = summary(p, s, r)
	return tvb:len()
end

local registered = {}

local function register()
	local ports = DissectorTable.get("udp.port")
	for _, port in ipairs(registered) do
		ports:remove(port, mrc)
	end
	registered = {}
	for from, to in (tostring(mrc.prefs.ports) .. ","):gmatch("(%d+)%-?(%d*),") do
		for port = tonumber(from), tonumber(to) or tonumber(from) do
			ports:add(port, mrc)
			registered[#registered + 1] = port
		end
	end
end

function mrc.prefs_changed()
	register()
end

function mrc.init()
	analysis.reset()
	fabric = names.read(mrc.prefs.fabric)
	headers.readings(mrc.prefs.op_high, mrc.prefs.port_bit_1)
end

register()

planes.prepare()

if gui_enabled() then
	register_menu("MRC/Planes", function()
		local window = TextWindow.new("MRC: planes")
		local tap = planes.listen(function(text) window:set(text) end)
		window:set_atclose(function() tap:remove() end)
		retap_packets()
	end, MENU_TOOLS_UNSORTED)
else
	planes.listen(function(text)
		if mrc.prefs.planes then
			print(text)
		end
	end)
end
