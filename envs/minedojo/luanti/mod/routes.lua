-- Ways through the land: walking, jumping, falling, digging through and building up.
-- A* over places to stand, cheapest in ticks; Voyager's pathfinder digs and builds as well.

local body, pack, digging = inhabit.body, inhabit.pack, inhabit.digging
local routes = { searched = 0 }  -- how many places all searches have looked through
inhabit.routes = routes
local STEP, JUMP, BUILD, LIMIT = 5, 8, 25, 6000
local FILLERS = { "dirt", "cobblestone", "netherrack", "end_stone", "sand", "stone", "planks", "gravel", "sandstone" }

--- Slot (from 1) of a block that may be spent on building; nil if none.
function routes.filler()
	for _, name in ipairs(FILLERS) do
		local slot = pack.find(name)
		if slot then return slot, name end
	end
	return nil
end

local function key(x, y, z)
	return (x + 2048) * 4194304 + (y + 64) * 4096 + (z + 2048)
end

-- What a search knows of the land; forgotten at the next one. A place has some twenty neighbours
-- that ask for it.
local nodes, costs, breaking

local function node(x, y, z)
	local k = key(x, y, z)
	local name = nodes[k]
	if not name then
		name = minetest.get_node({ x = x, y = y, z = z }).name
		nodes[k] = name
	end
	return name
end

local function solid(x, y, z) return inhabit.is_solid(node(x, y, z)) end

local function wet(x, y, z) return inhabit.plain_name(node(x, y, z)) == "water" end

local function ticks_for(plain, block)
	if not breaking[plain] then
		local _, ticks = digging.best(block)
		breaking[plain] = ticks
	end
	return breaking[plain]
end

local SIDES = { { 1, 0, 0 }, { -1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 }, { 0, 0, -1 } }
local NEVER_DUG = { crafting_table = true, furnace = true, chest = true, cactus = true }

local function cost_of(x, y, z)
	local name = node(x, y, z)
	if name == "air" then return 0 end
	if name == "ignore" then return nil end
	local plain = inhabit.plain_name(name)
	if plain == "lava" or plain == "flowing_lava" or plain == "fire" then return nil end
	if not inhabit.is_solid(name) then return plain == "water" and 3 or 0 end
	local block = inhabit.block(plain)
	if NEVER_DUG[plain] or not block or block.hardness < 0 then return nil end
	for _, side in ipairs(SIDES) do
		local beside = inhabit.plain_name(node(x + side[1], y + side[2], z + side[3]))
		if beside == "lava" or beside == "water" then return nil end
	end
	local ticks = ticks_for(plain, block)
	if ticks > 400 then return nil end
	return ticks + 2
end

-- What it costs to be rid of a block; 0 for a free place, nil where it can't be done.
local function clearing(x, y, z)
	local k = key(x, y, z)
	local cost = costs[k]
	if cost == nil then
		cost = cost_of(x, y, z) or false
		costs[k] = cost
	end
	return cost or nil
end

local WAYS = { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } }

-- Neighbours of a place to stand: {x, y, z, cost, kind}.
local function neighbours(x, y, z, builds)
	local found = {}
	local function add(nx, ny, nz, cost, kind) found[#found + 1] = { nx, ny, nz, cost, kind } end
	local above = clearing(x, y + 2, z)
	for _, side in ipairs(WAYS) do
		local nx, nz = x + side[1], z + side[2]
		local feet, head = clearing(nx, y, nz), clearing(nx, y + 1, nz)
		if feet and head then
			if solid(nx, y - 1, nz) or wet(nx, y, nz) or wet(nx, y - 1, nz) then
				add(nx, y, nz, STEP + feet + head, "walk")
			else
				for drop = 1, 3 do
					local below = clearing(nx, y - drop, nz)
					if not below or below > 3 then break end
					if solid(nx, y - drop - 1, nz) or wet(nx, y - drop, nz) then
						add(nx, y - drop, nz, STEP + feet + head + 3 * drop, "walk")
						break
					end
				end
				if builds > 0 then add(nx, y, nz, STEP + BUILD + feet + head, "bridge") end
			end
			-- A step down that is dug: a staircase.
			local below = clearing(nx, y - 1, nz)
			if below and solid(nx, y - 1, nz) and solid(nx, y - 2, nz) then
				add(nx, y - 1, nz, STEP + feet + head + below, "walk")
			end
		end
		local top = clearing(nx, y + 2, nz)
		if above and head and top and solid(nx, y, nz) then
			add(nx, y + 1, nz, JUMP + above + head + top, "jump")
		end
	end
	if builds > 0 and above then add(x, y + 1, z, BUILD + above, "pillar") end
	if wet(x, y, z) and above then add(x, y + 1, z, JUMP + above, "swim") end
	local under = clearing(x, y - 1, z)
	if under and solid(x, y - 2, z) then add(x, y - 1, z, STEP + under, "down") end
	return found
end

-- A heap of {cost, place}.
local function push(heap, cost, place)
	local i = #heap + 1
	heap[i] = { cost, place }
	while i > 1 do
		local up = math.floor(i / 2)
		if heap[up][1] <= heap[i][1] then break end
		heap[up], heap[i] = heap[i], heap[up]
		i = up
	end
end

local function pop(heap)
	local top, last = heap[1], table.remove(heap)
	if #heap == 0 then return top end
	heap[1] = last
	local i = 1
	while true do
		local least = i
		for child = 2 * i, 2 * i + 1 do
			if heap[child] and heap[child][1] < heap[least][1] then least = child end
		end
		if least == i then return top end
		heap[least], heap[i] = heap[i], heap[least]
		i = least
	end
end

--- The place where the body stands, as whole numbers.
function routes.here()
	return { x = math.floor(body.pos.x + 0.5), y = math.floor(body.pos.y + 0.9), z = math.floor(body.pos.z + 0.5) }
end

--- The cheapest way to a place for which `there(x, y, z)` holds; `guess` is a lower bound of the
-- ticks from a place, and `most` how many places it looks through before it gives up. A list of
-- {x, y, z, kind} without the start; nil if it found none.
function routes.find(there, guess, most)
	nodes, costs, breaking = {}, {}, {}
	local start = routes.here()
	local first = { start.x, start.y, start.z, nil, nil, 0 }
	local best = { [key(start.x, start.y, start.z)] = 0 }
	local heap, tried = {}, 0
	local builds = 0
	for _, name in ipairs(FILLERS) do builds = builds + pack.count(name) end
	push(heap, guess(start.x, start.y, start.z), first)
	while #heap > 0 and tried < (most or LIMIT) do
		local place = pop(heap)[2]
		local x, y, z, cost = place[1], place[2], place[3], place[6]
		if cost <= best[key(x, y, z)] then
			if there(x, y, z) then
				local way = {}
				while place[5] do
					table.insert(way, 1, { x = place[1], y = place[2], z = place[3], kind = place[5] })
					place = place[4]
				end
				return way
			end
			tried = tried + 1
			routes.searched = routes.searched + 1
			for _, one in ipairs(neighbours(x, y, z, builds)) do
				local far, k = cost + one[4], key(one[1], one[2], one[3])
				if one[2] > 1 and (best[k] == nil or far < best[k]) then
					best[k] = far
					push(heap, far + guess(one[1], one[2], one[3]), { one[1], one[2], one[3], place, one[5], far })
				end
			end
		end
	end
	return nil
end
