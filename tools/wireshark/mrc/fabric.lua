-- SPDX-License-Identifier: GPL-2.0
-- fabric.lua - names of planes and nodes from a fabric file (fabric.toml(5)).
--
-- A fabric: high, low (halves of its first block), len (of its block), planes, and names(plane, usids): a list of names.

-- The part of TOML that fabric files use: sections, lists of sections, and values on one line.
local function toml(text)
	local file = { lists = {} }
	local at = file
	local function value(v)
		v = v:gsub("^%s+", ""):gsub("%s+$", "")
		return v:match('^"(.*)"$') or tonumber(v) or v
	end
	for line in text:gmatch("[^\r\n]+") do
		line = line:gsub("^%s+", ""):gsub('%s*#[^"]*$', "")
		local list, section = line:match("^%[%[([%w_.]+)%]%]"), line:match("^%[([%w_.]+)%]")
		local key, v = line:match("^([%w_]+)%s*=%s*(.+)$")
		if list then
			at = {}
			file.lists[list] = file.lists[list] or {}
			table.insert(file.lists[list], at)
		elseif section then
			at = {}
			file[section] = at
		elseif key then
			at[key] = value(v)
		end
	end
	return file
end

local function pattern(text, numbers)
	return (text:gsub("{(%w+):?(%d*)}", function(what, digits)
		return string.format("%0" .. (digits == "" and "1" or digits) .. "d", numbers[what] or 0)
	end))
end

local function names_of_rule(file)
	local names = file["topology.names"] or {}
	local t0 = names.t0 or "p{plane}-t0-{t0}"
	local t1 = names.t1 or "p{plane}-t1-{t1}"
	local host = names.host or "h{t0}-{host}"
	return function(plane, usids)
		local out, last = {}, 0
		for _, usid in ipairs(usids) do
			local kind, n = math.floor(usid / 0x4000), usid % 0x4000
			if kind == 1 then
				last = n
				out[#out + 1] = pattern(t0, { plane = plane, t0 = n })
			elseif kind == 2 then
				out[#out + 1] = pattern(t1, { plane = plane, t1 = n })
			elseif kind == 3 then
				out[#out + 1] = pattern(host, { plane = plane, t0 = last, host = n })
			else
				out[#out + 1] = string.format("%x", usid)
			end
		end
		return out
	end
end

local function names_of_lists(file)
	local u, known = file.usid, {}
	local function add(plane, number, name)
		known[plane] = known[plane] or {}
		known[plane][plane * u.plane_stride + number] = name
	end
	for _, s in ipairs(file.lists.switch or {}) do
		add(s.plane, (s.tier == 0 and u.t0_base or u.t1_base) + s.index, s.name)
	end
	for _, h in ipairs(file.lists.host or {}) do
		for plane = 1, file.planes.count do
			add(plane, u.host_base + h.index, h.name)
		end
	end
	return function(plane, usids)
		local out = {}
		for _, usid in ipairs(usids) do
			out[#out + 1] = (known[plane] or {})[usid] or string.format("%x", usid)
		end
		return out
	end, u.plane_stride
end

local function read_fabric(path)
	local handle = path ~= "" and io.open(path)
	if not handle then
		return path ~= "" and report_failure("mrc: fabric file " .. path .. " cannot be read") or nil
	end
	local file = toml(handle:read("*a"))
	handle:close()
	local high, low, len = tostring((file.fabric or {}).block):match("^(%x+):(%x+)::/(%d+)$")
	if not high or not file.planes or not (file.topology or file.usid) then
		return report_failure("mrc: " .. path .. " names no uSIDs: it wants [fabric] block, [planes], " ..
				      "and [topology] or [usid]")
	end
	local out = { high = tonumber(high, 16), low = tonumber(low, 16), len = tonumber(len),
		      planes = file.planes.count }
	local good
	good, out.names, out.stride = pcall(file.topology and names_of_rule or names_of_lists, file)
	if not good or type(out.planes) ~= "number" then
		return report_failure("mrc: " .. path .. " lacks a key, or has a wrong value: mrcctl fabric check says which")
	end
	return out
end

local function usids_of(bytes, from, out)
	for i = from, 14, 2 do
		local usid = bytes:get_index(i) * 256 + bytes:get_index(i + 1)
		if usid == 0 then
			break
		end
		out[#out + 1] = usid
	end
	return out
end

-- The plane of an outer destination, or nil.
local function plane_of(fabric, bytes, usids)
	local high = bytes:get_index(0) * 256 + bytes:get_index(1)
	local low = bytes:get_index(2) * 256 + bytes:get_index(3)
	if high ~= fabric.high then
		return nil
	end
	local plane
	if fabric.len < 32 then
		plane = low - fabric.low + 1
	elseif low == fabric.low and (fabric.stride or 0) > 0 and usids[1] then
		plane = math.floor(usids[1] / fabric.stride)
	end
	return plane and plane >= 1 and plane <= fabric.planes and plane or nil
end

return { read = read_fabric, usids_of = usids_of, plane_of = plane_of }
