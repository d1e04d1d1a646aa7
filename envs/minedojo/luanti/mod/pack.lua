-- What is carried: 36 slots, the first of which is the main hand, and what is worn. All in the
-- engine's inventory; here are the ways to change it.

local pack = { used = {} }
inhabit.pack = pack
local SIZES = { main = 36, worn = 5 }
local WORN = { feet = 1, legs = 2, chest = 3, head = 4, offhand = 5 }

--- Note that an item was put to its use: a tool struck, armour put on, a block placed.
function pack.note_use(name)
	pack.used[name] = (pack.used[name] or 0) + 1
end

--- The engine's inventory of who plays.
function pack.inventory()
	return minetest.get_player_by_name("singleplayer"):get_inventory()
end

function pack.prepare()
	local inventory = pack.inventory()
	for list, size in pairs(SIZES) do
		inventory:set_size(list, size)
		inventory:set_list(list, {})
	end
end

--- Put an item where the scene says: a slot from 0, or a part of the body.
function pack.set(slot, name, variant, quantity)
	local stack = ItemStack(inhabit.engine_name(name, variant) .. " " .. quantity)
	if name == "air" then stack = ItemStack("") end
	if slot == "mainhand" then slot = 0 end
	if type(slot) == "number" and slot < 36 then
		pack.inventory():set_stack("main", slot + 1, stack)
	else
		pack.inventory():set_stack("worn", WORN[slot] or slot - 35, stack)
	end
end

--- What is worn or held: mainhand, offhand, feet, legs, chest, head.
function pack.equipment(slot)
	if slot == "mainhand" then return pack.inventory():get_stack("main", 1) end
	return pack.inventory():get_stack("worn", WORN[slot])
end

function pack.replace(slot, stack)
	if slot == "mainhand" then pack.inventory():set_stack("main", 1, stack)
	else pack.inventory():set_stack("worn", WORN[slot], stack) end
end

--- How many of an item there are, of one variant or of any.
function pack.count(name, variant)
	local total = 0
	for _, stack in ipairs(pack.inventory():get_list("main")) do
		local plain, which = inhabit.plain_name(stack:get_name())
		if plain == name and (variant == nil or variant == which) then total = total + stack:get_count() end
	end
	return total
end

--- Slot (from 1) of the first stack of an item; nil if there is none.
function pack.find(name, variant)
	for i, stack in ipairs(pack.inventory():get_list("main")) do
		local plain, which = inhabit.plain_name(stack:get_name())
		if plain == name and (variant == nil or variant == which) then return i, stack end
	end
	return nil
end

--- Whether an item is worn.
function pack.wears(name)
	for _, stack in ipairs(pack.inventory():get_list("worn")) do
		if inhabit.plain_name(stack:get_name()) == name then return true end
	end
	return false
end

--- Take items away. The count must be there.
function pack.take(name, variant, count)
	while count > 0 do
		local slot, stack = pack.find(name, variant)
		assert(slot, "there are not so many " .. name)
		local part = math.min(count, stack:get_count())
		stack:take_item(part)
		pack.inventory():set_stack("main", slot, stack)
		count = count - part
	end
end

--- Add items; returns how many there was no room for.
function pack.add(name, variant, count)
	local rest = pack.inventory():add_item("main", inhabit.engine_name(name, variant) .. " " .. count)
	return rest:get_count()
end

--- Bring the item of a slot (from 1) to where it is used: armour is put on, the rest in the hand.
function pack.equip(slot)
	local inventory = pack.inventory()
	local stack = inventory:get_stack("main", slot)
	local place = inhabit.about(inhabit.plain_name(stack:get_name())).slot
	if place then
		local worn = pack.equipment(place)
		pack.note_use((inhabit.plain_name(stack:get_name())))
		pack.replace(place, stack)
		inventory:set_stack("main", slot, worn)
	elseif slot ~= 1 then
		inventory:set_stack("main", slot, inventory:get_stack("main", 1))
		inventory:set_stack("main", 1, stack)
	end
end

local function worn_out(stack, uses)
	local plain = inhabit.plain_name(stack:get_name())
	local lasts = inhabit.about(plain).durability
	if not lasts then return stack end
	local meta = stack:get_meta()
	local used = meta:get_int("used") + uses
	if used >= lasts then return ItemStack("") end
	meta:set_int("used", used)
	return stack
end

--- Wear the tool in the hand by some uses; it breaks when it has had enough.
function pack.wear(uses)
	local name = inhabit.plain_name(pack.equipment("mainhand"):get_name())
	if name ~= "air" then pack.note_use(name) end
	pack.replace("mainhand", worn_out(pack.equipment("mainhand"), uses))
end

function pack.wear_armour()
	for _, slot in ipairs({ "feet", "legs", "chest", "head" }) do
		local stack = pack.equipment(slot)
		if not stack:is_empty() then pack.replace(slot, worn_out(stack, 1)) end
	end
end

--- Durability left and in all; -1, -1 for what doesn't wear.
function pack.durability(stack)
	local lasts = inhabit.about(inhabit.plain_name(stack:get_name())).durability
	if not lasts then return -1, -1 end
	return lasts - stack:get_meta():get_int("used"), lasts
end
