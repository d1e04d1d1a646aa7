-- How each kind of country is made: its ground, its trees and what is strewn over it.
-- `plants` is {block, share of the columns, variant}; `trees` is the share of columns with one.

-- The middle of the first chunk of land: who starts there sees land all around at once.
inhabit.START = 8

local GREEN = { { "tallgrass", 0.10, 1 }, { "yellow_flower", 0.008 }, { "red_flower", 0.008 } }

local function with(...)
	local all = table.copy(GREEN)
	for _, one in ipairs({ ... }) do all[#all + 1] = one end
	return all
end

local FIELD = {
	{ "wheat", 0.004 }, { "carrots", 0.003 }, { "potatoes", 0.003 }, { "beetroots", 0.003 },
	{ "pumpkin", 0.003 }, { "brown_mushroom", 0.002 }, { "red_mushroom", 0.002 },
	{ "web", 0.0015 }, { "reeds", 0.003 },
}

local function strewn(...)
	local all = with(...)
	for _, one in ipairs(FIELD) do all[#all + 1] = one end
	return all
end

inhabit.looks = {
	plains = { base = 66, rough = 2, top = "grass", under = "dirt", tree = "oak", trees = 0.002, plants = strewn() },
	forest = { base = 66, rough = 4, top = "grass", under = "dirt", tree = "oak", other = "birch", trees = 0.025, plants = strewn() },
	taiga = { base = 68, rough = 7, top = "grass", under = "dirt", tree = "spruce", trees = 0.022, plants = strewn({ "double_plant", 0.03, 3 }) },
	jungle = { base = 67, rough = 8, top = "grass", under = "dirt", tree = "jungle", trees = 0.04, plants = strewn({ "vine", 0.03 }, { "melon_block", 0.004 }, { "cocoa", 0.002 }) },
	desert = { base = 66, rough = 5, top = "sand", under = "sandstone", plants = { { "cactus", 0.006 }, { "deadbush", 0.012 }, { "reeds", 0.002 }, { "web", 0.001 } } },
	savanna = { base = 67, rough = 4, top = "grass", under = "dirt", tree = "acacia", trees = 0.004, plants = strewn({ "tallgrass", 0.25, 1 }) },
	swampland = { base = 62, rough = 3, top = "grass", under = "dirt", tree = "oak", trees = 0.012, plants = strewn({ "vine", 0.02 }, { "waterlily", 0.02 }, { "brown_mushroom", 0.01 }), water = true },
	extreme_hills = { base = 84, rough = 30, top = "grass", under = "dirt", bare = 92, tree = "spruce", trees = 0.005, plants = strewn() },
	ice_plains = { base = 66, rough = 3, top = "snow", under = "dirt", tree = "spruce", trees = 0.002, plants = { { "snow_layer", 0.05 } } },
	ocean = { base = 50, rough = 5, top = "sand", under = "gravel", plants = {}, water = true, island = 13 },
	mushroom_island = { base = 66, rough = 5, top = "mycelium", under = "dirt", tree = "mushroom", trees = 0.006, plants = { { "brown_mushroom", 0.03 }, { "red_mushroom", 0.03 } } },
	nether = { base = 64, rough = 10, top = "netherrack", under = "netherrack", rock = "netherrack", plants = { { "nether_wart", 0.01 }, { "fire", 0.004 }, { "brown_mushroom", 0.004 } }, patch = "soul_sand" },
	the_end = { base = 64, rough = 5, top = "end_stone", under = "end_stone", rock = "end_stone", tree = "chorus", trees = 0.003, plants = {} },
}
