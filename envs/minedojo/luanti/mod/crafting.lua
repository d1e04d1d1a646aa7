-- Crafting and smelting from what is carried; the engine's own recipes have the last word.

local pack = inhabit.pack
local crafting = {}
inhabit.crafting = crafting

local by_output, smelts = {}, {}
for _, recipe in ipairs(inhabit.content.recipes) do
	by_output[recipe.name] = by_output[recipe.name] or {}
	table.insert(by_output[recipe.name], recipe)
end
for _, smelt in ipairs(inhabit.content.smelts) do
	smelts[smelt.name] = smelts[smelt.name] or {}
	table.insert(smelts[smelt.name], smelt)
end

local function cells(recipe)
	local all = {}
	if recipe.rows then
		for r, row in ipairs(recipe.rows) do
			for c, one in ipairs(row) do
				if one then all[#all + 1] = { one = one, cell = (r - 1) * 3 + c } end
			end
		end
	else
		for i, one in ipairs(recipe.items) do all[i] = { one = one, cell = i } end
	end
	return all
end

local function stock()
	local have = {}
	for _, stack in ipairs(pack.inventory():get_list("main")) do
		if not stack:is_empty() then have[stack:get_name()] = (have[stack:get_name()] or 0) + stack:get_count() end
	end
	return have
end

-- What is lacking, in words: of which kind, where others of that name are carried.
local function called(want, have)
	if want.variant == nil then return want.name end
	local exact = inhabit.engine_name(want.name, want.variant)
	for name in pairs(have) do
		if name ~= exact and inhabit.plain_name(name) == want.name then
			return want.name .. " (" .. minetest.registered_items[exact].description .. ")"
		end
	end
	return want.name
end

-- Which carried item goes in which cell; and what is lacking (name in words -> count).
local function assign(recipe)
	local have, chosen, lacking = stock(), {}, {}
	local wanted = cells(recipe)
	for pass = 1, 2 do
		for _, want in ipairs(wanted) do
			local exact = want.one.variant ~= nil
			if exact == (pass == 1) then
				local pick
				if exact then
					pick = inhabit.engine_name(want.one.name, want.one.variant)
					if (have[pick] or 0) == 0 then pick = nil end
				else
					local names = {}
					for name, count in pairs(have) do
						if count > 0 and inhabit.plain_name(name) == want.one.name then names[#names + 1] = name end
					end
					table.sort(names)
					pick = names[1]
				end
				if pick then
					have[pick] = have[pick] - 1
					chosen[want.cell] = pick
				else
					local name = called(want.one, have)
					lacking[name] = (lacking[name] or 0) + 1
				end
			end
		end
	end
	return chosen, lacking
end

local function result(chosen)
	local items = {}
	for i = 1, 9 do items[i] = ItemStack(chosen[i] or "") end
	return minetest.get_craft_result({ method = "normal", width = 3, items = items })
end

local LEFT_OVER = { milk_bucket = "bucket", water_bucket = "bucket", lava_bucket = "bucket" }

local function spend(name)
	local plain, variant = inhabit.plain_name(name)
	pack.take(plain, variant, 1)
	if LEFT_OVER[plain] then pack.add(LEFT_OVER[plain], 0, 1) end
end

local function total(lacking)
	local sum = 0
	for _, count in pairs(lacking) do sum = sum + count end
	return sum
end

--- "2 more iron_ingot and 1 more stick"
function crafting.words(lacking)
	local parts = {}
	for name, count in pairs(lacking) do parts[#parts + 1] = count .. " more " .. name end
	table.sort(parts)
	return table.concat(parts, " and ")
end

--- A name with its article, if it has one: "shears" and "oak_planks" do not.
function crafting.with_article(name)
	if name:match("[^s]s$") then return name end
	return (name:match("^[aeiou]") and "an " or "a ") .. name
end

--- Whether a recipe fits the player's own two by two cells.
function crafting.by_hand(recipe)
	if not recipe.rows then return #recipe.items <= 4 end
	return #recipe.rows <= 2 and #recipe.rows[1] <= 2
end

--- The recipe of an item that can be made now. Returns recipe and cells, or nil, a reason and
-- a sentence. `variant` nil takes any.
function crafting.choose(name, variant, table_near)
	local best, least = nil, math.huge
	local blocked
	for _, recipe in ipairs(by_output[name] or {}) do
		if variant == nil or recipe.variant == variant then
			local chosen, lacking = assign(recipe)
			if total(lacking) == 0 then
				if table_near or crafting.by_hand(recipe) then return recipe, chosen end
				blocked = true
			elseif total(lacking) < least then
				best, least = lacking, total(lacking)
			end
		end
	end
	if blocked then return nil, "not_found", "There is no crafting_table within " .. inhabit.hands.STATION .. " blocks." end
	if best then return nil, "missing_item", "To craft " .. crafting.with_article(name) .. " you need " .. crafting.words(best) .. "." end
	return nil, "not_allowed", "There is no recipe for " .. name .. "."
end

--- Carry out a recipe: takes what it needs, adds what it makes, checks both.
function crafting.make(recipe, chosen)
	local made = result(chosen).item
	local want = inhabit.engine_name(recipe.name, recipe.variant)
	assert(made:get_name() == want, "the engine makes " .. made:to_string() .. " of a recipe of " .. want)
	for i = 1, 9 do
		if chosen[i] then spend(chosen[i]) end
	end
	return made:get_count(), pack.add(recipe.name, recipe.variant, made:get_count())
end

crafting.heat = 0

-- A carried fuel of that name; not the last piece of what is to be smelted: charcoal is made of logs.
local function burnable(name, smelted)
	for _, stack in ipairs(pack.inventory():get_list("main")) do
		local plain, variant = inhabit.plain_name(stack:get_name())
		if plain == name and (stack:get_name() ~= smelted or pack.count(plain, variant) > 1) then return stack:get_name() end
	end
end

--- Take fuel for one more item, which is to be made of `smelted`; false if there is none.
function crafting.fire(smelted)
	while crafting.heat < 1 do
		local found
		for _, fuel in ipairs(inhabit.content.fuel) do
			found = burnable(fuel[1], smelted)
			if found then
				spend(found)
				crafting.heat = crafting.heat + fuel[2]
				break
			end
		end
		if not found then return false end
	end
	crafting.heat = crafting.heat - 1
	return true
end

--- What to smelt for an item: its source as carried; or nil, a reason and a sentence.
function crafting.source(name)
	local sources = {}
	for _, smelt in ipairs(smelts[name] or {}) do
		local slot, stack = pack.find(smelt.source, smelt.source_variant)
		if slot then return smelt, stack:get_name() end
		sources[#sources + 1] = smelt.source
	end
	if #sources == 0 then return nil, "not_allowed", "Nothing can be smelted to " .. name .. "." end
	table.sort(sources)
	return nil, "missing_item", "To smelt " .. crafting.with_article(name) .. " you need 1 more " .. table.concat(sources, " or ", 1, math.min(3, #sources)) .. "."
end

--- Smelt one; the time it takes is the caller's. Returns how many there are, and for how many of
-- them there was no room.
function crafting.smelt(smelt, carried)
	local made = minetest.get_craft_result({ method = "cooking", width = 1, items = { ItemStack(carried) } }).item
	local want = inhabit.engine_name(smelt.name, smelt.variant)
	assert(made:get_name() == want, "the engine smelts " .. carried .. " to " .. made:to_string())
	spend(carried)
	return made:get_count(), pack.add(smelt.name, smelt.variant, made:get_count())
end
