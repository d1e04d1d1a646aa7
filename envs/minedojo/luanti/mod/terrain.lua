-- The land, chunk by chunk, from the seed. Heights are Minecraft's: the sea stands at 62.

local scene = inhabit.scene
local look = assert(inhabit.looks[scene.look], "no look " .. scene.look)
local SEA, FLOOR = 62, 0
local START = inhabit.START
local MARGIN = 5  -- how far a tree reaches beyond its column
local CLEARING = 6  -- no trees so near to where one starts, for the view

local hills = PerlinNoise({
	offset = 0, scale = 1, spread = { x = 60, y = 60, z = 60 }, seed = scene.world_seed % 100000,
	octaves = 4, persistence = 0.5, lacunarity = 2,
})
local patches = PerlinNoise({
	offset = 0, scale = 1, spread = { x = 20, y = 20, z = 20 }, seed = scene.world_seed % 100000 + 7,
	octaves = 2, persistence = 0.5, lacunarity = 2,
})

local function height(x, z)
	if scene.flat then return 63 end
	local swell = hills:get_2d({ x = x, y = z })
	local far = math.sqrt((x - START) ^ 2 + (z - START) ^ 2)
	if look.island and far < look.island * 3 then
		return math.floor(look.base + look.rough * swell + (64 - look.base + 2) * math.max(0, 1 - far / (look.island * 3)) * 1.3 + 0.5)
	end
	-- Around the start the land is calm, so that nobody starts on a cliff.
	local calm = math.min(1, 0.25 + far / 40)
	return math.floor(look.base + look.rough * swell * calm + 0.5)
end

local heights = {}

--- Height of the topmost ground block of a column.
function inhabit.ground(x, z)
	local key = x * 65536 + z
	local known = heights[key]
	if not known then
		known = height(x, z)
		heights[key] = known
	end
	return known
end

local ORES = scene.look == "nether" and {
	{ "quartz_ore", 10, 117, 16, 10 }, { "glowstone", 66, 120, 4, 6 }, { "magma", 20, 40, 4, 8 },
	{ "gravel", 5, 110, 3, 20 }, { "lava", 20, 60, 2, 6 },
} or scene.look == "the_end" and {} or {
	-- block, lowest, highest, veins in 16x16 columns, blocks in a vein
	{ "coal_ore", 5, 100, 20, 10 }, { "iron_ore", 5, 63, 20, 7 }, { "gold_ore", 5, 31, 4, 7 },
	{ "redstone_ore", 5, 15, 8, 6 }, { "diamond_ore", 5, 15, 3, 6 }, { "lapis_ore", 5, 30, 3, 5 },
	{ "emerald_ore", 5, 31, scene.look == "extreme_hills" and 6 or 1, 1 },
	{ "gravel", 5, 100, 6, 20 }, { "dirt", 5, 100, 6, 20 }, { "clay", 50, 62, 3, 14 },
	{ "stone__1", 5, 80, 5, 20 }, { "stone__3", 5, 80, 5, 20 }, { "stone__5", 5, 80, 5, 20 },
	{ "monster_egg", 10, 60, 2, 2 },
}

local function id(name) return minetest.get_content_id("mc:" .. name) end

local function column(data, area, low, high, x, z, ids)
	local top = inhabit.ground(x, z)
	local bare = look.bare and top > look.bare
	local patch = look.patch and patches:get_2d({ x = x, y = z }) > 0.35
	for y = low, high do
		local here = nil
		if y < FLOOR then here = nil
		elseif y == FLOOR then here = ids.bedrock
		elseif y <= top - 4 then here = ids.rock
		elseif y < top then here = bare and ids.rock or ids.under
		elseif y == top then
			here = patch and ids.patch or bare and ids.rock or ids.top
			if top < SEA - 1 and ids.top == ids.grass then here = ids.under end
		elseif y <= SEA and look.water then
			here = ids.water
		end
		if here then data[area:index(x, y, z)] = here end
	end
end

local function veins(data, area, low, high, rock)
	for bx = math.floor(low.x / 16), math.floor(high.x / 16) do
		for bz = math.floor(low.z / 16), math.floor(high.z / 16) do
			for kind, ore in ipairs(ORES) do
				local draw = PcgRandom((bx * 3413 + bz * 7919 + kind * 104729 + scene.world_seed * 31) % 2147483648)
				draw:next()
				local ore_id = id(ore[1])
				for _ = 1, ore[4] do
					local x, y, z = bx * 16 + draw:next(0, 15), draw:next(ore[2], ore[3]), bz * 16 + draw:next(0, 15)
					for _ = 1, ore[5] do
						if x >= low.x and x <= high.x and z >= low.z and z <= high.z and y >= low.y and y <= high.y then
							local i = area:index(x, y, z)
							if data[i] == rock then data[i] = ore_id end
						end
						local side, way = draw:next(1, 3), draw:next(0, 1) * 2 - 1
						if side == 1 then x = x + way elseif side == 2 then y = y + way else z = z + way end
					end
				end
			end
		end
	end
end

local function plant(put, x, y, z)
	local share = inhabit.at_place(x, 0, z, 2)
	for _, one in ipairs(look.plants) do
		if share < one[2] then
			local name = inhabit.engine_name(one[1], one[3])
			local tall = (one[1] == "cactus" or one[1] == "reeds") and 3 or 1
			for i = 0, tall - 1 do put(x, y + 1 + i, z, name) end
			return
		end
		share = share - one[2]
	end
end

local function grown(put, low, high)
	for x = low.x - MARGIN, high.x + MARGIN do
		for z = low.z - MARGIN, high.z + MARGIN do
			local top = inhabit.ground(x, z)
			local wet = look.water and top < SEA
			local near = math.abs(x - START) < 3 and math.abs(z - START) < 3
			local clearing = math.abs(x - START) < CLEARING and math.abs(z - START) < CLEARING
			local share = inhabit.at_place(x, 0, z, 1)
			local trees = (look.island and math.abs(x - START) + math.abs(z - START) < 16) and 0.03 or look.trees or 0
			if not wet and not clearing and not scene.flat and share < trees then
				local kind = look.tree or "oak"
				if look.other and inhabit.at_place(x, 1, z, 1) < 0.3 then kind = look.other end
				inhabit.trees[kind](put, x, top + 1, z, inhabit.at_place(x, 2, z, 1))
			elseif not wet and not near and not scene.flat then
				plant(put, x, top, z)
			elseif wet and look.water and inhabit.at_place(x, 3, z, 1) < 0.01 and scene.look == "swampland" then
				put(x, SEA + 1, z, "mc:waterlily")
			end
		end
	end
end

minetest.set_mapgen_setting("mg_name", "singlenode", true)
minetest.register_on_generated(function(low, high)
	if high.y < FLOOR or low.y > 160 then return end
	local vm, vlow, vhigh = minetest.get_mapgen_object("voxelmanip")
	local area = VoxelArea:new({ MinEdge = vlow, MaxEdge = vhigh })
	local data = vm:get_data()
	local cold = scene.temperature < 0.15 and look.top == "grass"
	local ids = {
		rock = id(look.rock or "stone"), under = id(look.under), top = id(cold and "snow" or look.top), grass = id("grass"),
		bedrock = id("bedrock"), water = id("water"), patch = look.patch and id(look.patch),
	}
	for x = low.x, high.x do
		for z = low.z, high.z do column(data, area, low.y, high.y, x, z, ids) end
	end
	veins(data, area, low, high, ids.rock)
	grown(function(x, y, z, name, soft)
		if x < low.x or x > high.x or y < low.y or y > high.y or z < low.z or z > high.z then return end
		local i = area:index(x, y, z)
		if not soft or data[i] == minetest.CONTENT_AIR then data[i] = minetest.get_content_id(name) end
	end, low, high)
	vm:set_data(data)
	vm:set_lighting({ day = 0, night = 0 })
	vm:calc_lighting()
	vm:write_to_map(data)
end)
