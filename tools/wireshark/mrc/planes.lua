-- SPDX-License-Identifier: GPL-2.0
-- planes.lua - statistics: what each plane carried.

local of = {}

-- Once mrc's fields are registered, and before a packet is read.
local function prepare()
	for _, name in ipairs({ "plane", "bth.opcode", "bth.rtx", "nack.reason", "sack.m", "rtt", "ev" }) do
		of[name] = Field.new("mrc." .. name)
	end
end

local function count(planes, len)
	local opcode, plane = of["bth.opcode"](), of.plane()
	if not opcode then
		return
	end
	local name = plane and plane.value or "?"
	local n = planes[name] or { packets = 0, bytes = 0, data = 0, again = 0, trimmed = 0, marked = 0, evs = {}, rtts = {} }
	planes[name] = n
	n.packets, n.bytes = n.packets + 1, n.bytes + len
	local op = opcode.value
	if op < 0xd8 and op ~= 0xd1 then
		n.data = n.data + 1
		n.again = n.again + (of["bth.rtx"]().value and 1 or 0)
	end
	local reason, mark, ev, rtt = of["nack.reason"](), of["sack.m"](), of.ev(), of.rtt()
	n.trimmed = n.trimmed + (reason and reason.value <= 2 and 1 or 0)
	n.marked = n.marked + (mark and mark.value ~= 0 and 1 or 0)
	n.evs[ev.value] = true
	if rtt then
		table.insert(n.rtts, rtt.value:tonumber())
	end
end

local function text_of(planes)
	local keys, all = {}, 0
	for name, n in pairs(planes) do
		keys[#keys + 1] = name
		all = all + n.bytes
	end
	table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
	local out = { string.format("%-6s %9s %9s %12s %7s %7s %8s %8s %6s %12s", "plane", "packets", "data", "bytes",
				    "share", "again", "trimmed", "marked", "EVs", "median RTT") }
	for _, name in ipairs(keys) do
		local n, evs = planes[name], 0
		for _ in pairs(n.evs) do
			evs = evs + 1
		end
		table.sort(n.rtts)
		local rtt = n.rtts[math.floor(#n.rtts / 2) + 1]
		out[#out + 1] = string.format("%-6s %9d %9d %12d %6.1f%% %7d %8d %8d %6d %12s", tostring(name), n.packets, n.data,
					      n.bytes, 100 * n.bytes / all, n.again, n.trimmed, n.marked, evs,
					      rtt and string.format("%.1f us", rtt * 1e6) or "-")
	end
	return table.concat(out, "\n") .. "\n"
end

local function planes_listener(show)
	local planes, tap = {}, Listener.new("frame", "mrc")
	function tap.packet(_, tvb)
		count(planes, tvb:len())
	end
	function tap.reset()
		planes = {}
	end
	function tap.draw()
		show(text_of(planes))
	end
	return tap
end

return { prepare = prepare, listen = planes_listener }
