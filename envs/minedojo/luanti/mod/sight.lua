-- What has been seen: blocks and mobs that a ray from the eyes has met.

local body = inhabit.body
local FAR, ACROSS, DOWN = 32, 24, 14
local WIDE, HIGH = math.rad(45), math.rad(32)
local sight = { blocks = {}, mobs = {} }
inhabit.sight = sight

--- Remember a block at a place.
function sight.note(name, at)
	local known = sight.blocks[name]
	if not known then
		known = {}
		sight.blocks[name] = known
	end
	known[minetest.pos_to_string(at)] = at
end

--- The first block along a ray, by steps of a third of a block; nil if there is none. Where plants
-- are `thin`, it goes through them.
function sight.ray(from, way, far, thin)
	local last
	for step = 1, far * 3 do
		local x = math.floor(from.x + way.x * step / 3 + 0.5)
		local y = math.floor(from.y + way.y * step / 3 + 0.5)
		local z = math.floor(from.z + way.z * step / 3 + 0.5)
		if not (last and last.x == x and last.y == y and last.z == z) then
			last = { x = x, y = y, z = z }
			local name = minetest.get_node(last).name
			if name ~= "air" then
				if name == "ignore" then return nil end
				local plain = inhabit.plain_name(name)
				if not (thin and inhabit.block(plain).shape == "plant") then return last, plain, step / 3 end
			end
		end
	end
	return nil
end

--- Look: remember what stands in view now.
function sight.look()
	local from = body.eyes()
	for i = 0, ACROSS do
		for j = 0, DOWN do
			local yaw = body.yaw + (i / ACROSS * 2 - 1) * WIDE
			local pitch = body.pitch + (j / DOWN * 2 - 1) * HIGH
			local flat = math.cos(pitch)
			local at, name = sight.ray(from, { x = -math.sin(yaw) * flat, y = -math.sin(pitch), z = math.cos(yaw) * flat }, FAR)
			if at then sight.note(name, at) end
		end
	end
	for _, mob in ipairs(inhabit.mobs.all) do
		if inhabit.sight.sees(mob) then mob.seen = body.ticks end
	end
end

--- Whether a mob is in view and nothing stands between.
function sight.sees(mob)
	local way = vector.subtract(vector.add(mob.pos, { x = 0, y = mob.kind.height / 2, z = 0 }), body.eyes())
	local far = vector.length(way)
	if far > FAR then return false end
	local turn = (math.atan2(-way.x, way.z) - body.yaw + math.pi) % (2 * math.pi) - math.pi
	if math.abs(turn) > WIDE and far > 3 then return false end
	local at = sight.ray(body.eyes(), vector.divide(way, math.max(far, 0.01)), math.floor(far))
	return at == nil
end

--- How many rays of a grid over the picture meet what: names of blocks and numbers of mobs.
-- `wide` and `high` are the tangents of half the picture's angles. Plants let every other ray pass.
function sight.view(ask)
	local from, ahead = body.eyes(), body.looks()
	local right = { x = math.cos(body.yaw), y = 0, z = math.sin(body.yaw) }
	local up = { x = -ahead.y * -math.sin(body.yaw), y = math.cos(body.pitch), z = -ahead.y * math.cos(body.yaw) }
	local blocks, seen = {}, {}
	for i = 1, ask.across do
		for j = 1, ask.down do
			local u, v = ((i - 0.5) / ask.across * 2 - 1) * ask.wide, (1 - (j - 0.5) / ask.down * 2) * ask.high
			local way = vector.normalize(vector.add(ahead, vector.add(vector.multiply(right, u), vector.multiply(up, v))))
			local at, name, far = sight.ray(from, way, FAR, (i + j) % 2 == 0)
			local mob, near = inhabit.mobs.hit(from, way, FAR)
			if mob and not (at and far < near) then seen[mob.id] = (seen[mob.id] or 0) + 1
			elseif at then blocks[name] = (blocks[name] or 0) + 1 end
		end
	end
	local bodies = {}
	for id, count in pairs(seen) do bodies[#bodies + 1] = { id = id, rays = count } end
	return { blocks = blocks, mobs = bodies }
end

--- Whether nothing stands between the eyes and the middle of a block.
function sight.meets(at, eyes)
	local way = vector.subtract(at, eyes)
	local far = vector.length(way)
	if far < 1.95 then return true end
	local hit = sight.ray(eyes, vector.divide(way, far), 5)
	return hit ~= nil and vector.equals(hit, at)
end

--- Names of blocks that were seen and still stand: the nearest place, how many, and how many of
-- them can be dug from here.
function sight.known()
	local known, eyes = {}, body.eyes()
	for name, places in pairs(sight.blocks) do
		local best, least, count, near = nil, math.huge, 0, 0
		for k, at in pairs(places) do
			if inhabit.block_at(at) ~= name then places[k] = nil
			else
				count = count + 1
				local far = vector.distance(at, eyes)
				if far <= 4 and sight.meets(at, eyes) then near = near + 1 end
				-- Equal distances are settled by name, for `pairs` keeps no order.
				if far < least or (far == least and k < minetest.pos_to_string(best)) then best, least = at, far end
			end
		end
		if best then known[name] = { at = best, far = least, count = count, near = near } end
	end
	return known
end

--- The nearest block of some names within a distance, seen or not, but for places to `avoid`;
-- nil if none is near.
function sight.nearest(names, far, avoid)
	local nodes = {}
	for _, name in ipairs(names) do nodes[#nodes + 1] = "group:any_" .. name end
	local at = vector.round(body.pos)
	local low = { x = at.x - far, y = 1, z = at.z - far }
	local high = { x = at.x + far, y = 126, z = at.z + far }
	local best, least = nil, math.huge
	for _, place in ipairs(minetest.find_nodes_in_area(low, high, nodes)) do
		local away = math.abs(place.x - at.x) + 1.5 * math.abs(place.y - at.y) + math.abs(place.z - at.z)
		if away < least and not (avoid and avoid[minetest.pos_to_string(place)]) then best, least = place, away end
	end
	return best
end
