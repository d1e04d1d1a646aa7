-- The body of who plays, moved by us tick by tick (1/20 s). Speeds are Minecraft's, in blocks a
-- tick. Places are the engine's; `state.lua` turns them into Minecraft's.

local WALK, SPRINT, SNEAK, SWIM = 0.2159, 0.2806, 0.0655, 0.11
local JUMP, GRAVITY, DRAG = 0.42, 0.08, 0.98
local HALF, TALL, EYE = 0.3, 1.8, 1.62
local EDGE = 1e-4

local scene = inhabit.scene
local body = {
	-- Who stands falls onto the ground in every tick; who does not is in the air, and can't jump.
	pos = { x = 0, y = 80, z = 0 }, vel = { x = 0, y = -GRAVITY * DRAG, z = 0 }, yaw = 0, pitch = 0,
	life = scene.start_health, food = scene.start_food, saturation = 5, spent = 0, oxygen = 300,
	xp = 0, grounded = false, fallen = 0, sleeping = false, dead = false, immune = 0, hungry = 0,
	ticks = 0,
}
inhabit.body = body

local function hits(x, y, z, half, tall)
	for bx = math.floor(x - half + 0.5), math.floor(x + half + 0.5) do
		for bz = math.floor(z - half + 0.5), math.floor(z + half + 0.5) do
			for by = math.floor(y + 0.5), math.floor(y + tall + 0.5) do
				if inhabit.solid(bx, by, bz) then return true end
			end
		end
	end
	return false
end

--- Move a box by its velocity until it meets something, axis by axis.
-- Returns whether it stands, and whether a wall stopped it.
function inhabit.slide(pos, vel, half, tall)
	local grounded, blocked = false, false
	local steps = math.max(1, math.ceil(math.abs(vel.y) / 0.4))
	for _ = 1, steps do
		local y = pos.y + vel.y / steps
		if hits(pos.x, y + EDGE, pos.z, half, tall - 2 * EDGE) then
			if vel.y < 0 then
				grounded = true
				pos.y = math.floor(pos.y + 0.5 + EDGE) - 0.5
			end
			vel.y = 0
			break
		end
		pos.y = y
	end
	for _, axis in ipairs({ "x", "z" }) do
		local was = pos[axis]
		pos[axis] = was + vel[axis]
		if hits(pos.x, pos.y + EDGE, pos.z, half, tall - 2 * EDGE) then
			pos[axis] = was
			blocked = blocked or math.abs(vel[axis]) > EDGE
		end
	end
	return grounded, blocked
end

--- Whether a box could stand there.
function inhabit.fits(x, y, z, half, tall)
	return not hits(x, y + EDGE, z, half, tall - 2 * EDGE)
end

local function liquid_at(y)
	local name = inhabit.block_at({ x = body.pos.x, y = y, z = body.pos.z })
	if name == "water" or name == "flowing_water" then return "water" end
	if name == "lava" or name == "flowing_lava" then return "lava" end
	return nil
end

--- Where its eyes are.
function body.eyes()
	return { x = body.pos.x, y = body.pos.y + EYE, z = body.pos.z }
end

--- Where it looks, as a vector of length one.
function body.looks()
	local flat = math.cos(body.pitch)
	return { x = -math.sin(body.yaw) * flat, y = -math.sin(body.pitch), z = math.cos(body.yaw) * flat }
end

--- Turn so as to look at a place.
function body.face(at)
	local eyes = body.eyes()
	local dx, dy, dz = at.x - eyes.x, at.y - eyes.y, at.z - eyes.z
	local flat = math.sqrt(dx * dx + dz * dz)
	if flat > EDGE then body.yaw = math.atan2(-dx, dz) end
	body.pitch = -math.atan2(dy, math.max(flat, EDGE))
end

local ARMOUR = { "feet", "legs", "chest", "head" }

--- Armour points of what it wears, 0 to 20.
function body.armour()
	local points = 0
	for _, slot in ipairs(ARMOUR) do
		points = points + (inhabit.about(inhabit.plain_name(inhabit.pack.equipment(slot):get_name())).armour or 0)
	end
	return math.min(20, points)
end

--- Take `amount` of damage; `source` has `where`, and may say fire, explosion, projectile, bare
-- (armour does not help).
function body.hurt(amount, source)
	if body.dead or amount <= 0 or (body.immune > 0 and not source.bare) then return end
	if not source.bare then
		amount = amount * (1 - math.min(20, body.armour()) / 25)
		inhabit.pack.wear_armour()
		body.immune = 10
	end
	body.life = math.max(0, body.life - amount)
	body.damage = {
		amount = amount, fire = source.fire or false, explosion = source.explosion or false,
		projectile = source.projectile or false, bare = source.bare or false, hunger = source.hunger or 0,
		where = source.where, by = source.by, tick = body.ticks,
	}
	if body.life <= 0 then body.dead = true end
end

local function needs()
	if body.spent >= 4 then
		body.spent = body.spent - 4
		if body.saturation > 0 then body.saturation = math.max(0, body.saturation - 1)
		else body.food = math.max(0, body.food - 1) end
	end
	body.hungry = body.hungry + 1
	if body.hungry >= 80 then
		body.hungry = 0
		if body.food >= 18 and body.life < 20 then
			body.life = math.min(20, body.life + 1)
			body.spent = body.spent + 6
		elseif body.food == 0 and body.life > 1 then
			body.hurt(1, { bare = true, hunger = 1, by = "hunger" })
		end
	end
	if liquid_at(body.pos.y + EYE) == "water" then
		body.oxygen = body.oxygen - 1
		if body.oxygen <= -20 then
			body.oxygen = 0
			body.hurt(2, { bare = true, by = "drowning" })
		end
	else
		body.oxygen = math.min(300, body.oxygen + 15)
	end
	local wet = liquid_at(body.pos.y + 0.1)
	if wet == "lava" then body.hurt(4, { fire = true, by = "lava" }) end
	if body.pos.y < -20 then body.hurt(4, { bare = true, by = "the void" }) end
	body.immune = math.max(0, body.immune - 1)
end

local function motion(intent)
	local wet = liquid_at(body.pos.y + 0.4)
	local speed = wet and SWIM or intent.sneak and SNEAK or (intent.sprint and body.food > 6) and SPRINT or WALK
	local forward, side = intent.forward or 0, intent.side or 0
	local length = math.sqrt(forward * forward + side * side)
	if length > 1 then forward, side = forward / length, side / length end
	local s, c = math.sin(body.yaw), math.cos(body.yaw)
	body.vel.x = (-s * forward + c * side) * speed
	body.vel.z = (c * forward + s * side) * speed
	if wet then
		body.vel.y = intent.jump and 0.12 or math.max(body.vel.y - 0.02, -0.1)
	else
		if intent.jump and body.grounded then
			body.vel.y = JUMP
			body.spent = body.spent + 0.05
		end
	end
	local before = body.pos.y
	local old = { x = body.pos.x, z = body.pos.z }
	local ladder = inhabit.block_at(body.pos) == "ladder" or inhabit.block_at(body.pos) == "vine"
	if ladder then body.vel.y = (forward > 0 or intent.jump) and 0.12 or -0.1 end
	local grounded, blocked = inhabit.slide(body.pos, body.vel, HALF, TALL)
	body.blocked = blocked
	if not wet and not ladder then
		if body.pos.y < before then body.fallen = body.fallen + before - body.pos.y end
		if grounded then
			body.hurt(math.ceil(body.fallen - 3 - EDGE), { bare = true, by = "falling" })
			body.fallen = 0
		end
		body.vel.y = (body.vel.y - GRAVITY) * DRAG
	else
		body.fallen = 0
	end
	if wet and blocked and intent.jump then body.vel.y = 0.3 end
	body.grounded = grounded
	local walked = math.sqrt((body.pos.x - old.x) ^ 2 + (body.pos.z - old.z) ^ 2)
	body.spent = body.spent + walked * (intent.sprint and 0.1 or 0.01)
end

--- One tick of the body. `intent`: forward and side in [-1, 1], jump, sneak, sprint.
function body.tick(intent)
	body.ticks = body.ticks + 1
	if body.dead then return end
	body.sneaking = intent.sneak or false
	motion(intent)
	needs()
end

--- One tick of the whole world. Waits where the land isn't there yet.
function inhabit.tick(intent)
	inhabit.land.wait(body.pos)
	body.tick(intent or {})
	inhabit.mobs.tick()
	inhabit.sky.tick()
end

local LAND = 39  -- how far around there must be land: half a chunk

inhabit.land = {}
local asked
--- Wait until the land around a place has been made.
function inhabit.land.wait(at)
	local x, z = math.floor(at.x / 16) * 16 + 8, math.floor(at.z / 16) * 16 + 8
	local key = x .. "," .. z
	if key == asked then return end
	local done = false
	minetest.emerge_area(
		{ x = x - LAND, y = 0, z = z - LAND }, { x = x + LAND, y = 120, z = z + LAND },
		function(_, _, left) done = done or left == 0 end
	)
	while not done do coroutine.yield() end
	asked = key
end
