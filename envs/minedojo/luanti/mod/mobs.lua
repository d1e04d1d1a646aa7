-- Mobs: our own bodies on our own ticks; the engine only shows where they are.

local GRAVITY, DRAG = 0.08, 0.98
local CROWD, FORGOTTEN = 14, 44  -- how many at once, and how far off they are let go
local mobs = { all = {}, killed = {}, next_id = 1 }
inhabit.mobs = mobs

for name, kind in pairs(inhabit.content.mobs) do
	minetest.register_entity("inhabit:" .. name, {
		initial_properties = {
			visual = "mesh", mesh = "mob_" .. name .. ".obj", textures = { "mob_" .. name .. ".png" },
			visual_size = { x = 10, y = 10 }, physical = false, pointable = false, static_save = false,
			backface_culling = true, damage_texture_modifier = "",
		},
	})
end
for _, shot in ipairs({ "arrow", "fireball" }) do
	minetest.register_entity("inhabit:" .. shot, {
		initial_properties = {
			visual = "sprite", textures = { shot .. ".png" }, visual_size = { x = 0.4, y = 0.4 },
			physical = false, pointable = false, static_save = false,
		},
	})
end

--- The lowest place at or under `y` where a box stands on something.
local function footing(x, y, z)
	for down = y + 3, y - 30, -1 do
		if inhabit.solid(x, down - 1, z) and not inhabit.solid(x, down, z) and not inhabit.solid(x, down + 1, z) then
			return down - 0.5
		end
	end
	return y
end

--- Let a mob of a kind appear at a column near a height.
function mobs.spawn(name, x, y, z)
	local kind = inhabit.content.mobs[name]
	local rx, rz = math.floor(x + 0.5), math.floor(z + 0.5)
	local ground = inhabit.ground(rx, rz)
	local pos = { x = rx, y = ground + 0.5, z = rz }
	-- Under the ground, where the one who asks is there too.
	if y < ground - 3 or inhabit.solid(rx, ground + 1, rz) then pos.y = footing(rx, math.floor(y + 0.5), rz) end
	if kind.flies then pos.y = pos.y + 1.2 end
	local mob = {
		id = mobs.next_id, name = name, kind = kind, pos = pos, vel = { x = 0, y = 0, z = 0 },
		yaw = inhabit.chance() * 2 * math.pi, health = kind.health, immune = 0, cooldown = 0,
		grounded = false, age = 0, angry = kind.temper == "hostile", home = table.copy(pos),
	}
	mobs.next_id = mobs.next_id + 1
	mob.shape = minetest.add_entity(pos, "inhabit:" .. name)
	mobs.all[#mobs.all + 1] = mob
	return mob
end

function mobs.remove(mob)
	for i, other in ipairs(mobs.all) do
		if other == mob then table.remove(mobs.all, i) break end
	end
	if mob.shape then mob.shape:remove() end
	if mob.shot then mob.shot.shape:remove() end
	mob.gone = true
end

--- Hurt a mob; whoever did it earns what it leaves.
function mobs.hurt(mob, amount, by)
	if mob.gone then return end
	mob.health = mob.health - amount
	mob.immune = 10
	mob.panic = 60
	mob.flash = 6
	mob.angry = mob.kind.temper ~= "passive" or mob.angry
	if by then
		local dx, dz = mob.pos.x - by.pos.x, mob.pos.z - by.pos.z
		local away = math.max(0.1, math.sqrt(dx * dx + dz * dz))
		mob.vel.x, mob.vel.z, mob.vel.y = dx / away * 0.35, dz / away * 0.35, 0.3
		mob.thrown = 6
		mob.fuse = nil
	end
	if mob.health > 0 then return end
	mobs.remove(mob)
	if by ~= inhabit.body then return end
	mobs.killed[mob.name] = (mobs.killed[mob.name] or 0) + 1
	inhabit.body.xp = inhabit.body.xp + mob.kind.xp
	for _, drop in ipairs(mob.kind.drops) do
		local count = inhabit.draw(drop.low, drop.high)
		if inhabit.chance() < drop.share and count > 0 then inhabit.pack.add(drop.name, drop.variant, count) end
	end
end

--- The first mob along a ray, and how far; nil if none within `reach`.
function mobs.hit(from, way, reach)
	local best, least = nil, reach
	for _, mob in ipairs(mobs.all) do
		local half = mob.kind.width / 2 + 0.1
		local near, far = 0, least
		for _, axis in ipairs({ "x", "y", "z" }) do
			local low, high = mob.pos[axis] - half, mob.pos[axis] + half
			if axis == "y" then low, high = mob.pos.y - 0.1, mob.pos.y + mob.kind.height + 0.1 end
			local speed = way[axis]
			if math.abs(speed) < 1e-9 then
				if from[axis] < low or from[axis] > high then near = math.huge end
			else
				local a, b = (low - from[axis]) / speed, (high - from[axis]) / speed
				near, far = math.max(near, math.min(a, b)), math.min(far, math.max(a, b))
			end
		end
		if near <= far and near < least then best, least = mob, near end
	end
	return best, least
end

--- Walk, fall, swim or fly for a tick as its mind wants. `want`: dx, dz (direction), speed, jump.
function mobs.move(mob, want)
	if (mob.thrown or 0) > 0 then
		mob.thrown = mob.thrown - 1
	else
		mob.vel.x, mob.vel.z = want.dx * want.speed, want.dz * want.speed
		if want.dx ~= 0 or want.dz ~= 0 then mob.yaw = math.atan2(-want.dx, want.dz) end
	end
	local half, tall = math.min(mob.kind.width / 2, 0.45), math.min(mob.kind.height, 1.9)
	local wet = inhabit.block_at(mob.pos) == "water"
	if mob.kind.flies then mob.vel.y = want.dy or 0
	elseif wet then mob.vel.y = mob.kind.swims and (want.dy or 0) or 0.05 end
	local grounded, blocked = inhabit.slide(mob.pos, mob.vel, half, tall)
	mob.grounded, mob.blocked = grounded, blocked
	if mob.kind.flies or wet then return end
	if grounded and (want.jump or blocked) then mob.vel.y = 0.42
	else mob.vel.y = (mob.vel.y - GRAVITY) * DRAG end
end

function mobs.tick()
	-- A copy: minds may remove their own body, or others'.
	for _, mob in ipairs(table.copy_list(mobs.all)) do
		if not mob.gone then
			mob.age = mob.age + 1
			mob.immune = math.max(0, mob.immune - 1)
			mob.cooldown = math.max(0, mob.cooldown - 1)
			mob.panic = math.max(0, (mob.panic or 0) - 1)
			inhabit.temper(mob)
			if not mob.gone and mob.pos.y < -20 then mobs.remove(mob) end
		end
	end
	mobs.visit()
end

function table.copy_list(list)
	local copy = {}
	for i, one in ipairs(list) do copy[i] = one end
	return copy
end

local NATIVE = {
	plains = { "cow", "pig", "sheep", "chicken", "horse" }, forest = { "cow", "pig", "sheep", "chicken", "wolf" },
	taiga = { "wolf", "rabbit", "sheep", "cow" }, jungle = { "chicken", "pig", "cow" },
	desert = { "rabbit" }, savanna = { "horse", "llama", "cow", "sheep" }, swampland = { "cow", "pig", "chicken", "slime" },
	extreme_hills = { "cow", "sheep", "pig", "llama" }, ice_plains = { "rabbit" }, ocean = { "squid" },
	mushroom_island = { "mooshroom" }, nether = { "zombie_pigman" }, the_end = { "enderman" },
}
local NIGHTLY = { "zombie", "skeleton", "creeper", "spider" }

--- Now and then somebody comes by: animals by day, others in the dark.
function mobs.visit()
	local scene = inhabit.scene
	if not scene.allow_mob_spawn or inhabit.body.ticks % 100 ~= 0 then return end
	for _, mob in ipairs(table.copy_list(mobs.all)) do
		if mob.visits and vector.distance(mob.pos, inhabit.body.pos) > FORGOTTEN then mobs.remove(mob) end
	end
	if #mobs.all >= CROWD then return end
	local dark = inhabit.sky.sun() < 0.2
	local names = NATIVE[scene.look]
	if dark and scene.look ~= "mushroom_island" and scene.look ~= "nether" then names = NIGHTLY end
	local turn, far = inhabit.chance() * 2 * math.pi, 14 + inhabit.chance() * 10
	local x, z = inhabit.body.pos.x + math.cos(turn) * far, inhabit.body.pos.z + math.sin(turn) * far
	mobs.spawn(names[inhabit.draw(1, #names)], x, inhabit.ground(math.floor(x), math.floor(z)) + 1, z).visits = true
end

--- Put the shapes where the bodies are.
function mobs.show()
	for _, mob in ipairs(mobs.all) do
		if not (mob.shape and mob.shape:get_pos()) then
			mob.shape = minetest.add_entity(mob.pos, "inhabit:" .. mob.name)
		end
		if mob.shape then
			mob.shape:set_pos(mob.pos)
			mob.shape:set_yaw(mob.yaw)
			local glow = (mob.fuse and mob.fuse % 10 < 5) and "^[colorize:#ffffff:140"
				or mob.immune > 4 and "^[colorize:#ff2020:90" or ""
			if glow ~= mob.glow then
				mob.glow = glow
				mob.shape:set_texture_mod(glow)
			end
		end
	end
end
