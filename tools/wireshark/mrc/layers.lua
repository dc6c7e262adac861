-- SPDX-License-Identifier: GPL-2.0
-- layers.lua - what lies around a packet: IP, UDP, path, EV.

local names = require("mrc.fabric")

local get = {}
for key, name in pairs({ ip = "ip", ipv6 = "ipv6", label = "ipv6.flow", dst6 = "ipv6.dst", segment = "ipv6.routing.srh.addr",
			 udp = "udp", interface = "frame.interface_name", ecn4 = "ip.dsfield.ecn",
			 ecn6 = "ipv6.tclass.ecn" }) do
	local ok, extract = pcall(Field.new, name)
	get[key] = ok and extract or function() end
end

local function last(extract)
	local all = { extract() }
	return all[#all]
end

-- What surrounds the packet: udp, ip (range of the innermost header), v6, ev, ce, plane, path.
local function surroundings(pinfo, fabric)
	local s = {}
	local ip4, ip6 = last(get.ip), last(get.ipv6)
	-- The inner header is the last one: an outer one is IPv6, an inner one begins behind it.
	if ip4 and (not ip6 or ip4.offset > ip6.offset) then
		s.ip, s.v6 = ip4, false
	else
		s.ip, s.v6 = ip6, ip6 ~= nil
	end
	s.udp = last(get.udp)
	local label, ecn = s.v6 and last(get.label), last(s.v6 and get.ecn6 or get.ecn4)
	s.ev = pinfo.src_port * 65536 + (label and label.value % 65536 or 0)
	s.ce = ecn and ecn.value == 3
	local addresses = { get.dst6() }
	if #addresses > (s.v6 and 1 or 0) and addresses[1] then
		local bytes = addresses[1].range:bytes()
		local usids = names.usids_of(bytes, 4, {})
		for _, segment in ipairs({ get.segment() }) do
			names.usids_of(segment.range:bytes(), 4, usids)
		end
		s.plane = fabric and names.plane_of(fabric, bytes, usids)
		local nodes = s.plane and fabric.names(s.plane, usids)
		if not nodes then
			nodes = {}
			for i, usid in ipairs(usids) do
				nodes[i] = string.format("%x", usid)
			end
		end
		s.path = table.concat(nodes, " > ")
	end
	if not s.plane then
		local interface = get.interface()
		s.plane = interface and tonumber(tostring(interface.value):match("(%d+)$"))
	end
	return s
end

return { surroundings = surroundings }
