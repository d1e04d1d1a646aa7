-- The first moment: where the scene says, with what it says.

local scene, body, pack = inhabit.scene, inhabit.body, inhabit.pack

local replaced = {}  -- what stood where the scene placed its blocks, in order

local function stand()
	if scene.start_position then
		local at = scene.start_position
		body.pos = { x = -(at.x - 0.5), y = at.y - 0.5, z = at.z - 0.5 }
		body.yaw, body.pitch = -math.rad(at.yaw), math.rad(at.pitch)
		inhabit.land.wait(body.pos)
		return
	end
	local at = inhabit.START
	body.pos = { x = at, y = inhabit.ground(at, at) + 0.5, z = at }
	inhabit.land.wait(body.pos)
	body.yaw = inhabit.draw(0, 3) * math.pi / 2
	if scene.start_yaw then body.yaw = -math.rad(scene.start_yaw) end
	body.pitch = 0.1
end

local function furnish()
	local feet = inhabit.routes.here()
	for _, block in ipairs(scene.blocks) do
		local low = { x = feet.x - block.offset[1], y = feet.y + block.offset[2], z = feet.z + block.offset[3] }
		replaced[#replaced + 1] = { at = low, node = minetest.get_node(low) }
		-- MineDojo has the item's name of a shulker box that is another as a block.
		local name = inhabit.hands.placeable(block.name) or block.name
		minetest.set_node(low, { name = inhabit.engine_name(name, block.variant) })
	end
end

--- Put back what stood where the scene placed its blocks.
function inhabit.unfurnish()
	for i = #replaced, 1, -1 do minetest.set_node(replaced[i].at, replaced[i].node) end
	replaced = {}
end

local function people()
	local low, high = scene.initial_mob_spawn_range_low, scene.initial_mob_spawn_range_high
	for _, name in ipairs(scene.initial_mobs) do
		local at = {}
		for i = 1, 3 do at[i] = low[i] + inhabit.chance() * (high[i] - low[i]) end
		-- Nobody starts inside somebody else.
		if math.abs(at[1]) < 2 and math.abs(at[3]) < 2 then at[3] = math.max(2, math.min(high[3], 3)) end
		inhabit.mobs.spawn(name, body.pos.x - at[1], body.pos.y + at[2], body.pos.z + at[3])
	end
end

local function animals()
	if not scene.allow_mob_spawn then return end
	for _ = 1, 6 do
		body.ticks = 0
		inhabit.mobs.visit()
	end
end

-- The block that the eyes are in, if nothing can be seen there.
local function around_eyes()
	local eyes, inside = body.eyes(), nil
	for up = 1, 0, -1 do
		inside = inhabit.block_at({ x = eyes.x, y = eyes.y + up, z = eyes.z })
		if (inhabit.block(inside) or {}).shape ~= "cube" then return nil end
	end
	return inside
end

--- Furnish the world and stand in it. Tells the block that the eyes are in, if nothing is seen there.
function inhabit.begin()
	pack.prepare()
	for _, item in ipairs(scene.initial_inventory) do pack.set(item.slot, item.name, item.variant, item.quantity) end
	stand()
	furnish()
	body.grounded = true
	people()
	animals()
	return { inside = around_eyes() }
end

--- Begin the first episode.
function inhabit.start()
	local begun = inhabit.begin()
	inhabit.screen.prepare(minetest.get_player_by_name("singleplayer"))
	return begun
end
