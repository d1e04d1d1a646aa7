-- What stands taller than a block. A tree belongs to its column and is the same from every side.

local function crown(put, x, y, z, radius, height, leaf)
	for dy = 0, height - 1 do
		local r = dy < height - 2 and radius or math.max(radius - 1, 1)
		for dx = -r, r do
			for dz = -r, r do
				local corner = math.abs(dx) == r and math.abs(dz) == r
				if not (corner and (dy + dx + dz) % 2 == 0) then put(x + dx, y + dy, z + dz, leaf, true) end
			end
		end
	end
end

local function trunk(put, x, y, z, height, log)
	for dy = 0, height - 1 do put(x, y + dy, z, log) end
end

local function leafy(log, leaf, low, high, radius)
	return function(put, x, y, z, share)
		local height = low + math.floor(share * (high - low + 1))
		crown(put, x, y + height - 2, z, radius, 4, leaf)
		trunk(put, x, y, z, height, log)
	end
end

local function spruce(put, x, y, z, share)
	local height = 6 + math.floor(share * 4)
	for dy = 2, height do
		local r = (height - dy) % 2 == 0 and 1 or math.min(2, math.ceil((height - dy) / 2))
		for dx = -r, r do
			for dz = -r, r do
				if math.abs(dx) + math.abs(dz) <= r + (r > 1 and 1 or 0) then
					put(x + dx, y + dy, z + dz, "mc:leaves__1", true)
				end
			end
		end
	end
	put(x, y + height + 1, z, "mc:leaves__1", true)
	trunk(put, x, y, z, height, "mc:log__1")
end

local function acacia(put, x, y, z, share)
	local lean = share < 0.5 and 1 or -1
	trunk(put, x, y, z, 4, "mc:log2")
	put(x + lean, y + 4, z, "mc:log2")
	put(x + 2 * lean, y + 5, z, "mc:log2")
	crown(put, x + 2 * lean, y + 5, z, 3, 1, "mc:leaves2")
	crown(put, x + 2 * lean, y + 6, z, 2, 1, "mc:leaves2")
	put(x + 2 * lean, y + 5, z, "mc:log2")
end

local function mushroom(put, x, y, z, share)
	local cap = share < 0.5 and "mc:red_mushroom_block" or "mc:brown_mushroom_block"
	crown(put, x, y + 5, z, 3, 1, cap)
	if share < 0.5 then crown(put, x, y + 4, z, 3, 1, cap) end
	trunk(put, x, y, z, 5, "mc:red_mushroom_block__10")
end

local function chorus(put, x, y, z, share)
	local height = 3 + math.floor(share * 5)
	trunk(put, x, y, z, height, "mc:chorus_plant")
	put(x + 1, y + height - 2, z, "mc:chorus_plant")
	put(x + 1, y + height - 1, z, "mc:chorus_flower")
	put(x, y + height, z, "mc:chorus_flower")
end

inhabit.trees = {
	oak = leafy("mc:log", "mc:leaves", 4, 6, 2),
	birch = leafy("mc:log__2", "mc:leaves__2", 5, 7, 2),
	jungle = leafy("mc:log__3", "mc:leaves__3", 6, 11, 3),
	spruce = spruce, acacia = acacia, mushroom = mushroom, chorus = chorus,
}
