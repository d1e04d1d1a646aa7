-- What hands do in a tick: attack, use, place, craft, smelt, equip, drop, destroy.

local body, pack, digging = inhabit.body, inhabit.pack, inhabit.digging
local REACH, ARM, STATION = 4.5, 3, 4
local hands = { progress = 0 }
inhabit.hands = hands
hands.REACH, hands.ARM, hands.STATION = REACH, ARM, STATION

--- What is pointed at: a mob within arm's length, else a block within reach.
function hands.pointed()
	local from, way = body.eyes(), body.looks()
	local mob, distance = inhabit.mobs.hit(from, way, ARM)
	local to = vector.add(from, vector.multiply(way, REACH))
	for thing in minetest.raycast(from, to, false, false) do
		if thing.type == "node" then
			if mob and distance < vector.distance(from, thing.intersection_point) then break end
			return nil, thing
		end
	end
	return mob, nil
end

--- Damage that the thing in the hand does.
function hands.damage()
	return inhabit.about(inhabit.plain_name(pack.equipment("mainhand"):get_name())).damage or 1
end

--- Attack for a tick what is pointed at: hits a mob, digs a block a little further.
function hands.attack()
	local mob, thing = hands.pointed()
	if mob then
		hands.progress = 0
		if mob.immune == 0 then
			inhabit.mobs.hurt(mob, hands.damage(), body)
			pack.wear(1)
			body.spent = body.spent + 0.1
		end
		return
	end
	if not thing then
		hands.progress = 0
		return
	end
	local at = thing.under
	local key = minetest.pos_to_string(at)
	if hands.digs ~= key then
		hands.digs, hands.progress = key, 0
	end
	local block = inhabit.block((inhabit.block_at(at)))
	local ticks = block and digging.ticks(block, pack.equipment("mainhand"))
	if not ticks then return end
	hands.progress = hands.progress + 1 / ticks
	if hands.progress >= 1 - 1e-9 then
		hands.progress, hands.digs = 0, nil
		digging.take(at)
	end
end

--- Whether a block of a kind stands within a distance of the body.
function hands.near(name, distance)
	local at = vector.round(body.pos)
	local names = { "mc:" .. name }
	if name == "furnace" then names[2] = "mc:lit_furnace" end
	local found = minetest.find_nodes_in_area(vector.subtract(at, distance), vector.add(at, distance), names)
	return found[1]
end

local function free(at)
	local definition = minetest.registered_nodes[minetest.get_node(at).name]
	return definition ~= nil and definition.buildable_to
end

-- Whether a block at a place would be inside the body or a mob.
local function crowded(at)
	local function inside(pos, half, tall)
		return math.abs(pos.x - at.x) < half + 0.5 and math.abs(pos.z - at.z) < half + 0.5
			and pos.y < at.y + 0.5 and pos.y + tall > at.y - 0.5
	end
	if inside(body.pos, 0.3, 1.8) then return true end
	for _, mob in ipairs(inhabit.mobs.all) do
		if inside(mob.pos, mob.kind.width / 2, mob.kind.height) then return true end
	end
	return false
end

--- Where a carried block could be put down in front: a free place on firm ground in reach.
function hands.spot()
	local feet = vector.round({ x = body.pos.x, y = body.pos.y + 0.5, z = body.pos.z })
	local way = body.looks()
	local best, least = nil, math.huge
	for dx = -3, 3 do
		for dz = -3, 3 do
			for dy = -1, 2 do
				local at = { x = feet.x + dx, y = feet.y + dy, z = feet.z + dz }
				local away = math.max(math.abs(at.x - body.pos.x), math.abs(at.z - body.pos.z)) > 0.81
				if free(at) and away and inhabit.solid(at.x, at.y - 1, at.z) then
					local ahead = dx * way.x + dz * way.z
					local cost = math.sqrt(dx * dx + dz * dz) + math.abs(dy) - ahead * 0.3
					if cost < least and vector.distance(body.eyes(), at) < REACH then best, least = at, cost end
				end
			end
		end
	end
	return best
end

--- Which block an item becomes; nil if it can't be placed.
function hands.placeable(name)
	return inhabit.about(name).places
end

--- Put the block of a slot (from 1) at a place.
function hands.place(slot, at)
	local stack = pack.inventory():get_stack("main", slot)
	local name, variant = inhabit.plain_name(stack:get_name())
	local node = inhabit.engine_name(hands.placeable(name), variant)
	if not minetest.registered_nodes[node] then node = inhabit.engine_name(hands.placeable(name), 0) end
	minetest.set_node(at, { name = node })
	pack.note_use(name)
	stack:take_item(1)
	local poured = name == "water_bucket" or name == "lava_bucket"
	if poured and stack:is_empty() then stack, poured = ItemStack(inhabit.engine_name("bucket", 0)), false end
	pack.inventory():set_stack("main", slot, stack)
	if poured then pack.add("bucket", 0, 1) end
end

--- Put the block of a slot (from 1) where one points: on a side, or in place of grass. Nothing
-- happens where there is no room for it.
function hands.build(slot)
	local name, variant = inhabit.plain_name(pack.inventory():get_stack("main", slot):get_name())
	local _, thing = hands.pointed()
	if not thing or not hands.placeable(name) then return end
	local at = free(thing.under) and thing.under or thing.above
	local node = inhabit.engine_name(hands.placeable(name), variant)
	if free(at) and not (inhabit.is_solid(node) and crowded(at)) then hands.place(slot, at) end
end

--- Eat the food of a slot (from 1): 32 ticks of chewing are the caller's.
function hands.eat(slot)
	local stack = pack.inventory():get_stack("main", slot)
	local food = inhabit.about(inhabit.plain_name(stack:get_name())).food
	body.food = math.min(20, body.food + food.points)
	body.saturation = math.min(body.food, body.saturation + food.saturation)
	stack:take_item(1)
	pack.inventory():set_stack("main", slot, stack)
end

--- Slot (from 1) of the best thing to fight with.
function hands.weapon()
	local best, most = nil, 1
	for i, stack in ipairs(pack.inventory():get_list("main")) do
		local damage = inhabit.about(inhabit.plain_name(stack:get_name())).damage or 1
		if damage > most then best, most = i, damage end
	end
	return best
end
