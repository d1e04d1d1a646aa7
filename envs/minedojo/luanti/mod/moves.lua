-- What skills are made of: walk a way, dig a block, wait; all within a number of ticks.

local body, pack, digging, routes = inhabit.body, inhabit.pack, inhabit.digging, inhabit.routes
local moves = {}
inhabit.moves = moves

--- Fail with a reason that an agent may plan on. Caught by `skills.run`.
function moves.fail(reason, feedback)
	error({ reason = reason, feedback = feedback }, 0)
end

--- One tick of a skill; fails when its time is over or the body is dead.
function moves.tick(intent)
	if body.dead then moves.fail("died", "You died: " .. ((body.damage or {}).by or "of something") .. " killed you.") end
	if moves.left <= 0 then moves.fail("deadline", "You did not finish in time.") end
	moves.left = moves.left - 1
	inhabit.tick(intent)
end

function moves.wait(ticks)
	for _ = 1, ticks do moves.tick({}) end
end

--- Break the block at a place with the best that is carried.
function moves.dig(at)
	local name = inhabit.block_at(at)
	local block = inhabit.block(name)
	if not block or block.shape == "liquid" then return {}, 0 end
	local slot = digging.best(block)
	if slot then pack.equip(slot) end
	body.face(at)
	local ticks = digging.ticks(block, pack.equipment("mainhand"))
	if not ticks then moves.fail("not_allowed", "A " .. name .. " can't be broken.") end
	moves.wait(ticks)
	return digging.take(at)
end

local function clear(x, y, z)
	if inhabit.solid(x, y, z) then moves.dig({ x = x, y = y, z = z }) end
end

local function build(x, y, z)
	local slot = routes.filler()
	if not slot then return false end
	inhabit.hands.place(slot, { x = x, y = y, z = z })
	return true
end

-- Walk straight to the middle of a place; false if it could not be reached.
local function walk(to)
	for _ = 1, 60 do
		local dx, dz = to.x - body.pos.x, to.z - body.pos.z
		local flat = math.sqrt(dx * dx + dz * dz)
		local high = body.pos.y - (to.y - 0.5)
		if flat < 0.2 and math.abs(high) < 0.3 then return true end
		if flat > 0.02 then body.yaw = math.atan2(-dx, dz) end
		body.pitch = body.pitch * 0.7
		local up = high < -0.3
		moves.tick({ forward = flat < 0.1 and 0 or math.min(1, flat / 0.2159), jump = up })
	end
	return false
end

local function rise(step)
	clear(step.x, step.y + 1, step.z)
	for _ = 1, 30 do
		moves.tick({ jump = true })
		if body.pos.y > step.y - 0.5 + 0.05 then
			if not inhabit.solid(step.x, step.y - 1, step.z) and not build(step.x, step.y - 1, step.z) then return false end
			moves.wait(6)
			return true
		end
	end
	return false
end

local function take_step(step)
	if step.kind == "pillar" then return rise(step) end
	local here = routes.here()
	if step.kind == "down" then
		clear(step.x, step.y, step.z)
		return walk(step)
	end
	if step.kind == "jump" then
		clear(here.x, here.y + 2, here.z)
	elseif step.kind == "swim" then
		for _ = 1, 30 do
			moves.tick({ jump = true })
			if body.pos.y > step.y - 0.6 then break end
		end
		return true
	end
	for y = math.max(step.y + 1, here.y + 1), step.y, -1 do clear(step.x, y, step.z) end
	if step.kind == "bridge" and not inhabit.solid(step.x, step.y - 1, step.z) then
		if not build(step.x, step.y - 1, step.z) then return false end
	end
	return walk(step)
end

--- Go to where `there` holds. Fails if there is no way, or none among the `most` places nearest.
function moves.go(there, guess, what, most)
	for _ = 1, 8 do
		inhabit.land.wait(body.pos)
		local way = routes.find(there, guess, most)
		if not way then moves.fail("blocked", "You found no way to the " .. what .. ".") end
		local arrived = true
		for _, step in ipairs(way) do
			if not take_step(step) then
				arrived = false
				break
			end
		end
		if arrived then return end
		moves.wait(5)
	end
	moves.fail("blocked", "You could not get to the " .. what .. ".")
end

local function buried(at)
	return at.y < inhabit.ground(math.floor(at.x + 0.5), math.floor(at.z + 0.5)) - 2
end

--- Ticks that a block of the way takes at least, roughly: more where it has to be dug.
function moves.weight(at)
	return (buried(at) or buried(body.pos)) and 30 or 5
end

--- Go to where a block can be reached and seen, and look at it.
function moves.approach(at, what, most)
	local function there(x, y, z)
		local eyes = { x = x, y = y + 1.12, z = z }
		return vector.distance(at, eyes) <= 4.2 and inhabit.sight.meets(at, eyes)
	end
	local weight = moves.weight(at)
	moves.go(there, function(x, y, z)
		local far = math.abs(x - at.x) + math.abs(y - at.y) + math.abs(z - at.z)
		return math.max(0, far - 3) * weight
	end, what, most)
	body.face(at)
end

--- Walk over land some blocks in a direction, as far as it goes.
function moves.roam(yaw, blocks)
	local goal = { x = body.pos.x - math.sin(yaw) * blocks, z = body.pos.z + math.cos(yaw) * blocks }
	moves.go(function(x, _, z)
		return math.abs(x - goal.x) + math.abs(z - goal.z) < 8
	end, function(x, _, z)
		return (math.abs(x - goal.x) + math.abs(z - goal.z)) * moves.weight(body.pos)
	end, "land ahead")
end
