-- SPDX-License-Identifier: GPL-2.0
-- icrc.lua - the invariant CRC.

local bxor = (bit32 or bit or {}).bxor or load("return function(a, b) return a ~ b end")()
local crc_table = {}
for i = 0, 255 do
	local c = i
	for _ = 1, 8 do
		c = c % 2 == 1 and bxor(0xedb88320, math.floor(c / 2)) % 2^32 or math.floor(c / 2)
	end
	crc_table[i] = c
end

local function crc(c, text)
	for i = 1, #text do
		c = bxor(crc_table[bxor(c % 256, text:byte(i)) % 256], math.floor(c / 256)) % 2^32
	end
	return c
end

-- IBTA A17.3.3: eight bytes of ones, then the innermost IP packet, with ones where switches write.
local function icrc_of(s, tvb)
	local ip, ones = s.ip.range:raw(), "\255"
	if s.v6 then
		ip = string.char(ip:byte(1) - ip:byte(1) % 16 + 15) .. ones:rep(3) .. ip:sub(5, 7) .. ones .. ip:sub(9, 40)
	else
		ip = ip:sub(1, 1) .. ones .. ip:sub(3, 8) .. ones .. ip:sub(10, 10) .. ones:rep(2) .. ip:sub(13)
	end
	local c = crc(0xffffffff, ones:rep(8) .. ip .. s.udp.range:raw():sub(1, 6) .. ones:rep(2))
	c = crc(c, tvb:raw(0, 4) .. ones .. tvb:raw(5, tvb:len() - 9))
	return bxor(c, 0xffffffff) % 2^32
end

return { of = icrc_of }
