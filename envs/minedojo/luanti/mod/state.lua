-- Everything that can be asked about a moment, in Minecraft's coordinates: its x runs the other
-- way (so that turning right means a larger yaw), and blocks begin at whole numbers.

local body, pack, sky, scene = inhabit.body, inhabit.pack, inhabit.sky, inhabit.scene

local function theirs(at)
	return { -at.x + 0.5, at.y + 0.5, at.z + 0.5 }
end

local function degrees(yaw)
	return -((math.deg(yaw) + 180) % 360 - 180)
end

local function stack_of(stack)
	local name, variant = inhabit.plain_name(stack:get_name())
	local left, lasts = pack.durability(stack)
	return { name = name, variant = variant, quantity = stack:get_count(), durability = left, lasts = lasts }
end

local function things()
	local inventory, equipment = {}, {}
	for i, stack in ipairs(pack.inventory():get_list("main")) do inventory[i] = stack_of(stack) end
	for i, slot in ipairs({ "mainhand", "offhand", "feet", "legs", "chest", "head" }) do
		equipment[i] = stack_of(pack.equipment(slot))
	end
	return inventory, equipment
end

local function around()
	local all = {}
	for _, mob in ipairs(inhabit.mobs.all) do
		all[#all + 1] = {
			id = mob.id, name = mob.name, pos = theirs(mob.pos), health = mob.health,
			far = vector.distance(mob.pos, body.pos), seen = mob.seen ~= nil and mob.seen >= body.ticks - 200,
			visible = inhabit.sight.sees(mob), shorn = mob.shorn ~= nil,
		}
	end
	return all
end

local function hurt()
	local last = body.damage
	if not last then return nil end
	local where = last.where or body.pos
	local dx, dy, dz = where.x - body.pos.x, where.y - body.pos.y, where.z - body.pos.z
	return {
		amount = last.amount, distance = vector.distance(where, body.pos), fire = last.fire, explosion = last.explosion,
		projectile = last.projectile, unblockable = last.bare, hunger = last.hunger, by = last.by, tick = last.tick,
		yaw = degrees(math.atan2(-dx, dz)), pitch = -math.deg(math.atan2(dy, math.sqrt(dx * dx + dz * dz))),
	}
end

--- The whole state, as plain JSON. `look` is false for who has no use for what was seen.
function inhabit.state(ask)
	if ask.look ~= false then inhabit.sight.look() end
	local inventory, equipment = things()
	local eyes = body.eyes()
	local open = sky.open(eyes)
	local blocks = {}
	local seen = ask.look ~= false and inhabit.sight.known() or {}
	for name, known in pairs(seen) do blocks[#blocks + 1] = { name = name, far = known.far, count = known.count, near = known.near } end
	table.sort(blocks, function(a, b) return a.name < b.name end)
	return {
		pos = theirs(body.pos), yaw = degrees(body.yaw), pitch = math.deg(body.pitch),
		life = body.life, food = body.food, saturation = body.saturation, oxygen = math.max(0, body.oxygen),
		armour = body.armour(), xp = body.xp, sleeping = body.sleeping, dead = body.dead, ticks = body.ticks,
		inventory = inventory, equipment = equipment, damage = hurt(),
		table_near = inhabit.hands.near("crafting_table", inhabit.hands.STATION) ~= nil,
		furnace_near = inhabit.hands.near("furnace", inhabit.hands.STATION) ~= nil,
		time = sky.time, days = sky.days, weather = sky.weather, raining = sky.snows() ~= nil, open = open,
		sun = sky.sun(), light = minetest.get_node_light(eyes, ((sky.time / 24000) + 0.25) % 1) or 0,
		mobs = around(), killed = inhabit.mobs.killed, used = pack.used, looks = scene.look, blocks = blocks, heat = inhabit.crafting.heat,
	}
end

--- Blocks of a box around the feet, by offsets in Minecraft's axes: x, then y, then z.
function inhabit.voxels(ask)
	local feet = inhabit.routes.here()
	local names = {}
	for dx = ask.low[1], ask.high[1] do
		for dy = ask.low[2], ask.high[2] do
			for dz = ask.low[3], ask.high[3] do
				local name, variant = inhabit.block_at({ x = feet.x - dx, y = feet.y + dy, z = feet.z + dz })
				names[#names + 1] = { name, variant }
			end
		end
	end
	return names
end

--- What each ray (pitch, yaw in radians from where one looks; distance) meets.
function inhabit.rays(ask)
	local found = {}
	for i, ray in ipairs(ask.rays) do
		local pitch, yaw = body.pitch + ray[1], body.yaw - ray[2]
		local flat = math.cos(pitch)
		local way = { x = -math.sin(yaw) * flat, y = -math.sin(pitch), z = math.cos(yaw) * flat }
		local at, name, far = inhabit.sight.ray(body.eyes(), way, math.ceil(ray[3]))
		local mob, near = inhabit.mobs.hit(body.eyes(), way, ray[3])
		local hit = { block = "air", far = -1, mob = mob and mob.name, mob_far = mob and near or -1 }
		if at and far <= ray[3] then
			local _, variant = inhabit.block_at(at)
			hit.block, hit.variant, hit.far, hit.at = name, variant, far, { -at.x, at.y, at.z }
		end
		found[i] = hit
	end
	return found
end

--- Names of all blocks within a distance, seen or not. Privileged.
function inhabit.blocks_near(ask)
	local at = vector.round(body.pos)
	local vm = VoxelManip()
	local low, high = vm:read_from_map(
		{ x = at.x - ask.distance, y = 1, z = at.z - ask.distance },
		{ x = at.x + ask.distance, y = 126, z = at.z + ask.distance }
	)
	assert(low and high)
	local seen = {}
	for _, id in ipairs(vm:get_data()) do seen[id] = true end
	local found = {}
	for id in pairs(seen) do
		local name = inhabit.plain_name(minetest.get_name_from_content_id(id))
		if name ~= "air" then found[#found + 1] = name end
	end
	table.sort(found)
	return found
end

--- What the engine itself makes of nine items, or smelts of one.
function inhabit.craft_result(ask)
	local items = {}
	for i, one in ipairs(ask.items) do items[i] = ItemStack(one) end
	return minetest.get_craft_result({ method = ask.method, width = ask.width, items = items }).item:to_string()
end

--- Change the world from outside: MineDojo's simulator methods.
function inhabit.change(ask)
	if ask.what == "time" then sky.time = ask.time
	elseif ask.what == "weather" then sky.weather = ask.weather
	elseif ask.what == "spawn" then
		local place = { x = body.pos.x - ask.offset[1], y = body.pos.y + ask.offset[2], z = body.pos.z + ask.offset[3] }
		inhabit.mobs.spawn(ask.name, place.x, place.y, place.z)
	elseif ask.what == "block" then
		local feet = inhabit.routes.here()
		minetest.set_node({ x = feet.x - ask.offset[1], y = feet.y + ask.offset[2], z = feet.z + ask.offset[3] },
			{ name = inhabit.engine_name(ask.name, ask.variant) })
	elseif ask.what == "inventory" then
		for _, item in ipairs(ask.items) do pack.set(item.slot, item.name, item.variant, item.quantity) end
	elseif ask.what == "clear" then pack.prepare()
	elseif ask.what == "look" then
		body.yaw, body.pitch = -math.rad(ask.yaw), math.rad(ask.pitch)
	elseif ask.what == "nobody" then
		while #inhabit.mobs.all > 0 do inhabit.mobs.remove(inhabit.mobs.all[1]) end
	elseif ask.what == "teleport" then
		body.pos = { x = -(ask.pos[1] - 0.5), y = ask.pos[2] - 0.5, z = ask.pos[3] - 0.5 }
		body.vel, body.fallen = { x = 0, y = 0, z = 0 }, 0
		inhabit.land.wait(body.pos)
	else error("there is no change " .. tostring(ask.what)) end
	return {}
end
