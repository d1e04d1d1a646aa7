-- Minds of mobs: what each wants to do in a tick. Speeds are blocks a tick.

local body, mobs = inhabit.body, inhabit.mobs

local function toward(mob, x, z)
	local dx, dz = x - mob.pos.x, z - mob.pos.z
	local far = math.sqrt(dx * dx + dz * dz)
	if far < 0.05 then return 0, 0, far end
	return dx / far, dz / far, far
end

local function distance(mob)
	return vector.distance(mob.pos, body.pos)
end

local function sees(mob)
	local from = { x = mob.pos.x, y = mob.pos.y + mob.kind.height * 0.85, z = mob.pos.z }
	return minetest.line_of_sight(from, body.eyes())
end

local function wander(mob)
	if not mob.goal or mob.age >= mob.goal.till then
		mob.goal = { till = mob.age + inhabit.draw(40, 120) }
		if inhabit.chance() < 0.5 then
			mob.goal.x = mob.home.x + inhabit.draw(-6, 6)
			mob.goal.z = mob.home.z + inhabit.draw(-6, 6)
		end
	end
	if not mob.goal.x then return { dx = 0, dz = 0, speed = 0 } end
	local dx, dz, far = toward(mob, mob.goal.x, mob.goal.z)
	if far < 0.5 then
		mob.goal.x = nil
		return { dx = 0, dz = 0, speed = 0 }
	end
	return { dx = dx, dz = dz, speed = mob.kind.speed * 0.6 }
end

local function flee(mob)
	local dx, dz = toward(mob, body.pos.x, body.pos.z)
	return { dx = -dx, dz = -dz, speed = mob.kind.speed * 1.3 }
end

local function strike(mob, source)
	if mob.cooldown > 0 or body.dead then return end
	mob.cooldown = 20
	source.where, source.by = mob.pos, mob.name
	body.hurt(mob.kind.damage, source)
end

local function chase(mob)
	local dx, dz, far = toward(mob, body.pos.x, body.pos.z)
	local reach = mob.kind.width / 2 + 1.1
	if far < reach and math.abs(body.pos.y - mob.pos.y) < 2 then
		strike(mob, {})
		return { dx = dx, dz = dz, speed = 0.001 }
	end
	return { dx = dx, dz = dz, speed = mob.kind.speed }
end

local function shoot(mob, shot)
	local far = distance(mob)
	local dx, dz = toward(mob, body.pos.x, body.pos.z)
	if mob.cooldown == 0 and far < 15 and sees(mob) then
		mob.cooldown = 40
		local show = minetest.add_entity(vector.add(mob.pos, { x = dx, y = mob.kind.height * 0.8, z = dz }), "inhabit:" .. shot)
		if show then mob.shot = { shape = show, till = mob.age + 6 } end
		-- The farther, the likelier it misses.
		if inhabit.chance() < 1 - far / 20 then
			body.hurt(mob.kind.damage, { projectile = true, fire = shot == "fireball", where = mob.pos, by = mob.name })
		end
	end
	local keep = far > 8 and 1 or far < 4 and -1 or 0
	return { dx = dx * (keep == 0 and 0.01 or keep), dz = dz * (keep == 0 and 0.01 or keep), speed = mob.kind.speed * 0.8 }
end

local minds = {}

--- A fuse of 30 ticks once it is near; what is close breaks, who is close is hurt.
function minds.creeper(mob)
	local far = distance(mob)
	if far < 3 and sees(mob) then mob.fuse = (mob.fuse or 0) + 1
	elseif mob.fuse then mob.fuse = mob.fuse > 1 and mob.fuse - 1 or nil end
	if not mob.fuse or mob.fuse < 30 then return chase(mob) end
	local at = vector.round(mob.pos)
	for dx = -2, 2 do
		for dy = -1, 2 do
			for dz = -2, 2 do
				local place = vector.add(at, { x = dx, y = dy, z = dz })
				local block = inhabit.block((inhabit.block_at(place)))
				if dx * dx + dy * dy + dz * dz <= 6 and block and block.hardness >= 0 and block.hardness < 10 then
					minetest.set_node(place, { name = "air" })
				end
			end
		end
	end
	body.hurt(math.max(0, mob.kind.damage * (1 - far / 7)), { explosion = true, where = mob.pos, by = mob.name })
	mobs.remove(mob)
	return nil
end

function minds.skeleton(mob) return shoot(mob, "arrow") end
minds.blaze = function(mob) return shoot(mob, "fireball") end
minds.ghast = minds.blaze
minds.shulker = function(mob)
	shoot(mob, "fireball")
	return { dx = 0, dz = 0, speed = 0 }
end
minds.witch = function(mob) return shoot(mob, "fireball") end
minds.llama = function(mob) return shoot(mob, "arrow") end

--- Steps aside through nowhere when it was hurt, and comes back.
function minds.enderman(mob)
	if mob.immune == 9 and inhabit.chance() < 0.5 then
		local x, z = body.pos.x + inhabit.draw(-4, 4), body.pos.z + inhabit.draw(-4, 4)
		local rx, rz = math.floor(x + 0.5), math.floor(z + 0.5)
		for y = math.floor(body.pos.y) + 3, math.floor(body.pos.y) - 3, -1 do
			if inhabit.fits(rx, y - 0.5, rz, 0.3, 2.8) and inhabit.solid(rx, y - 1, rz) then
				mob.pos = { x = rx, y = y - 0.5, z = rz }
				break
			end
		end
	end
	return chase(mob)
end

--- By day a spider leaves alone who leaves it alone; it leaps at whom it hunts.
function minds.spider(mob)
	if inhabit.sky.sun() > 0.5 and mob.panic == 0 and mob.health == mob.kind.health then return wander(mob) end
	local want = chase(mob)
	want.jump = distance(mob) < 4 and mob.age % 30 == 0
	return want
end

function minds.slime(mob)
	local want = chase(mob)
	want.jump = mob.age % 20 == 0
	if mob.grounded and not want.jump then want.speed = 0 end
	return want
end

--- Dead things burn by day under the open sky.
local function burns(mob)
	if not mob.kind.burns or inhabit.sky.sun() < 0.7 or mob.age % 20 ~= 0 then return end
	if inhabit.sky.wet() or not inhabit.sky.open(mob.pos) then return end
	mobs.hurt(mob, 1, nil)
end

local function peaceful(mob)
	if mob.panic > 0 and not mob.angry then return flee(mob) end
	if mob.name == "chicken" and mob.age % 1200 == 1199 then mob.egg = true end
	if mob.name == "sheep" and mob.shorn and mob.age >= mob.shorn then mob.shorn = nil end
	return wander(mob)
end

local function flying(mob, want)
	if mob.kind.flies then
		local ground = mob.angry and body.pos.y + 1 or mob.home.y + 1
		want.dy = math.max(-0.1, math.min(0.1, (ground - mob.pos.y) * 0.1 + math.sin(mob.age / 9) * 0.05))
	end
	return want
end

--- One tick of a mob.
function inhabit.temper(mob)
	if mob.shot and mob.age >= mob.shot.till then
		mob.shot.shape:remove()
		mob.shot = nil
	end
	local want
	local hunts = mob.angry and not body.dead and distance(mob) < 20
	if hunts then want = (minds[mob.name] or chase)(mob) else want = peaceful(mob) end
	if not want then return end
	mobs.move(mob, flying(mob, want))
	burns(mob)
end
