-- High-level skills: each looks first, has its time, and checks afterwards what came of it.

local scene, body, pack, digging, hands, moves, crafting, sight, mobs =
	inhabit.scene, inhabit.body, inhabit.pack, inhabit.digging, inhabit.hands, inhabit.moves, inhabit.crafting, inhabit.sight, inhabit.mobs
local skills = { known = {} }
inhabit.skills = skills
local NEAR, ROAMS, ROAM, TRIES = 36, 6, 30, 3
local OTHERS = 1000  -- places that a search for a way looks through where the nearest block has none
local fail = moves.fail

local function listed(gained)
	local parts = {}
	for name, count in pairs(gained) do
		if count > 0 then parts[#parts + 1] = count .. " " .. name end
	end
	table.sort(parts)
	return #parts > 0 and table.concat(parts, " and ") or "nothing"
end

local function nearest_mob(name, far)
	local best, least = nil, far
	for _, mob in ipairs(mobs.all) do
		local away = vector.distance(mob.pos, body.pos)
		if mob.name == name and away < least then best, least = mob, away end
	end
	return best, least
end

-- Stand before a mob, within arm's length.
local function reach_mob(mob)
	for _ = 1, 12 do
		if mob.gone then return end
		local middle = vector.add(mob.pos, { x = 0, y = mob.kind.height * 0.6, z = 0 })
		local far = vector.distance(middle, body.eyes())
		if far < hands.ARM then
			body.face(middle)
			return
		end
		if far < 7 and math.abs(mob.pos.y - body.pos.y) < 3 then
			for _ = 1, 25 do
				if mob.gone or vector.distance(mob.pos, body.pos) < 2.4 then break end
				body.face(middle)
				local aside = math.sqrt((mob.pos.x - body.pos.x) ^ 2 + (mob.pos.z - body.pos.z) ^ 2)
				moves.tick({ forward = math.min(1, aside), sprint = aside > 2, jump = body.blocked })
			end
		else
			local at = table.copy(mob.pos)
			local weight, high = moves.weight(at), mob.kind.flies and 4 or 2
			moves.go(function(x, y, z)
				return math.abs(x - at.x) + math.abs(z - at.z) < 2.5 and math.abs(y - at.y) < high
			end, function(x, y, z)
				return (math.abs(x - at.x) + math.abs(y - at.y) + math.abs(z - at.z)) * weight
			end, mob.name)
		end
	end
	if not mob.gone then fail("out_of_reach", "The " .. mob.name .. " kept away from you.") end
end

local function seen_mob(name)
	local mob = nearest_mob(name, 40)
	if not mob then fail("not_found", "No " .. name .. " is near; find one first.") end
	return mob
end

-- The nearest block of a kind that there is a way to; one stands before it then. Nil if none.
local function reachable(name)
	local avoid = {}
	for try = 1, TRIES do
		local at = sight.nearest({ name }, NEAR, avoid)
		if not at then return nil end
		local ok, why = pcall(moves.approach, at, name, try > 1 and OTHERS or nil)
		if ok then return at end
		if type(why) ~= "table" or why.reason ~= "blocked" then error(why, 0) end
		avoid[minetest.pos_to_string(at)] = true
	end
	return nil
end

local function find_block(name)
	for turn = 0, ROAMS do
		inhabit.land.wait(body.pos)
		local at = reachable(name)
		if at then
			sight.look()
			sight.blocks[name] = sight.blocks[name] or {}
			sight.blocks[name][minetest.pos_to_string(at)] = at
			return "You found " .. name .. "; it is within reach."
		end
		if turn < ROAMS then moves.roam(body.yaw + (turn == 0 and 0 or (inhabit.chance() - 0.5) * 1.5), ROAM) end
	end
	fail("not_found", "You walked about and found no " .. name .. ".")
end

local function find_mob(name)
	for _ = 0, ROAMS do
		local mob = nearest_mob(name, 40)
		if mob then
			reach_mob(mob)
			sight.look()
			return "You found " .. crafting.with_article(name) .. "; it is close."
		end
		moves.roam(body.yaw + (inhabit.chance() - 0.5) * 2, ROAM)
		moves.wait(100)
	end
	fail("not_found", "You walked about and met no " .. name .. ".")
end

function skills.known.find(name)
	if inhabit.content.mobs[name] then return find_mob(name) end
	return find_block(name)
end

function skills.known.explore()
	moves.roam(body.yaw + (inhabit.chance() - 0.5), ROAM)
	for _ = 1, 4 do
		body.yaw = body.yaw + math.pi / 2
		sight.look()
		moves.wait(1)
	end
	return "You walked on and looked around."
end

skills.known["look around"] = function()
	for _ = 1, 4 do
		body.yaw = body.yaw + math.pi / 2
		moves.wait(2)
		sight.look()
	end
	return "You looked around."
end

function skills.known.mine(name)
	local block = inhabit.block(name)
	sight.look()
	local seen = sight.known()[name]
	if not seen then fail("not_found", "You have not seen any " .. name .. "; find it first.") end
	local _, _, harvests = digging.best(block)
	if not harvests and not digging.harvests(block, ItemStack("")) then
		fail("missing_item", "To mine " .. name .. " you need " .. crafting.with_article(digging.wanted(block)) .. " or better.")
	end
	moves.approach(seen.at, name)
	if inhabit.block_at(seen.at) ~= name then fail("not_found", "The " .. name .. " is gone.") end
	local gained, lost = moves.dig(seen.at)
	if inhabit.block_at(seen.at) == name then fail("blocked", "The " .. name .. " still stands.") end
	if lost > 0 then fail("no_room", "You mined " .. name .. ", but your inventory is full.") end
	moves.wait(2)
	sight.look()
	return "You mined " .. name .. " and got " .. listed(gained) .. "."
end

function skills.known.craft(name)
	local recipe, chosen, why = crafting.choose(name, nil, hands.near("crafting_table", hands.STATION) ~= nil)
	if not recipe then fail(chosen, why) end
	local count, lost = crafting.make(recipe, chosen)
	moves.wait(4)
	if lost > 0 then fail("no_room", "You crafted " .. name .. ", but your inventory is full.") end
	return "You crafted " .. count .. " " .. name .. "."
end

function skills.known.smelt(name)
	local smelt, carried, why = crafting.source(name)
	if not smelt then fail(carried, why) end
	if not hands.near("furnace", hands.STATION) then
		fail("not_found", "There is no furnace within " .. hands.STATION .. " blocks.")
	end
	if not crafting.fire(carried) then fail("missing_item", "You have no fuel; coal, planks or logs burn.") end
	moves.wait(200)
	local count, lost = crafting.smelt(smelt, carried)
	if lost > 0 then fail("no_room", "You smelted " .. name .. ", but your inventory is full.") end
	return "You smelted " .. count .. " " .. name .. "."
end

local function carried(name)
	local slot = pack.find(name)
	if not slot and pack.wears(name) then fail("already", "You wear the " .. name .. " already.") end
	if not slot then fail("missing_item", "You have no " .. name .. ".") end
	return slot
end

function skills.known.place(name)
	local slot = carried(name)
	if not hands.placeable(name) then fail("not_allowed", "A " .. name .. " can't be placed.") end
	local at = hands.spot()
	if not at then
		-- In a narrow shaft room is made first.
		local here = inhabit.routes.here()
		local side = { x = here.x - math.floor(math.sin(body.yaw) + 0.5), y = here.y, z = here.z + math.floor(math.cos(body.yaw) + 0.5) }
		if side.x ~= here.x and side.z ~= here.z then side.z = here.z end
		moves.dig(side)
		at = hands.spot()
		slot = carried(name)
	end
	if not at then fail("no_room", "There is no free place near you for the " .. name .. ".") end
	body.face(at)
	moves.wait(2)
	hands.place(slot, at)
	sight.look()
	-- Plants may stand before it, but one knows where one has put a thing.
	if inhabit.block_at(at) == name then sight.note(name, at) end
	return "You placed the " .. name .. "."
end

function skills.known.equip(name)
	local slot = carried(name)
	pack.equip(slot)
	moves.wait(1)
	return "You equipped the " .. name .. "."
end

--- What a thing is for: a block is placed, armour put on, a tool or an instrument used once.
function skills.known.use(name)
	local slot = carried(name)
	if hands.placeable(name) then return skills.known.place(name) end
	pack.equip(slot)
	if not inhabit.about(name).slot then
		moves.wait(10)
		pack.note_use(name)
	end
	return "You used the " .. name .. "."
end

function skills.known.eat(name)
	local slot = carried(name)
	if not inhabit.about(name).food then fail("not_allowed", "A " .. name .. " can't be eaten.") end
	if body.food >= 20 and name ~= "golden_apple" then fail("already", "You are not hungry.") end
	pack.equip(slot)
	moves.wait(32)
	hands.eat(1)
	return "You ate the " .. name .. "; your food is " .. body.food .. " of 20."
end

function skills.known.hunt(name)
	local mob = seen_mob(name)
	local before = mobs.killed[name] or 0
	local weapon = hands.weapon()
	if weapon then pack.equip(weapon) end
	while not mob.gone do
		reach_mob(mob)
		if mob.gone then break end
		if mob.immune == 0 then
			mobs.hurt(mob, hands.damage(), body)
			pack.wear(1)
			body.spent = body.spent + 0.1
		end
		moves.wait(mob.gone and 1 or 10)
	end
	if (mobs.killed[name] or 0) == before then fail("not_found", "The " .. name .. " is gone, and not by you.") end
	return "You killed the " .. name .. "."
end

-- Add what was gained, and fail where there is no room for it.
local function gain(name, count, did)
	if pack.add(name, 0, count) > 0 then fail("no_room", "You " .. did .. ", but your inventory is full.") end
end

function skills.known.milk(name)
	local mob = seen_mob(name)
	carried("bucket")
	reach_mob(mob)
	pack.take("bucket", 0, 1)
	gain("milk_bucket", 1, "milked the " .. name)
	moves.wait(4)
	return "You milked the " .. name .. " and have a milk_bucket."
end

function skills.known.shear(name)
	local mob = seen_mob(name)
	pack.equip(carried("shears"))
	if mob.shorn then fail("already", "This " .. name .. " has been shorn.") end
	reach_mob(mob)
	mob.shorn = mob.age + 3000
	pack.wear(1)
	local count = inhabit.draw(1, 3)
	gain("wool", count, "sheared the " .. name)
	moves.wait(4)
	return "You sheared the " .. name .. " and got " .. count .. " wool."
end

function skills.known.collect(name)
	carried("bucket")
	local at = sight.nearest({ name }, 5)
	if not at then fail("out_of_reach", "There is no " .. name .. " within reach; find some first.") end
	moves.approach(at, name)
	pack.take("bucket", 0, 1)
	minetest.set_node(at, { name = "air" })
	gain(name .. "_bucket", 1, "filled the bucket with " .. name)
	moves.wait(4)
	return "You filled the bucket with " .. name .. "."
end

function skills.known.sleep()
	if not hands.near("bed", hands.STATION) then fail("not_found", "There is no bed within 4 blocks.") end
	local time = inhabit.sky.time
	if time < 12541 or time > 23458 then fail("wrong_state", "You can sleep at night only.") end
	body.sleeping = true
	moves.wait(100)
	-- As in Minecraft, where the time stands still it does so during sleep, too.
	if not scene.allow_time_passage or scene.always_night then return "You slept, and it is still night." end
	inhabit.sky.time, inhabit.sky.days = 0, inhabit.sky.days + 1
	return "You slept until the morning."
end

function skills.known.wait()
	moves.wait(100)
	return "You waited for five seconds."
end

--- Carry out a skill: {skill, name, deadline in ticks}. What came of it, the ticks it took, and how
-- many places its searches for ways looked through.
function skills.run(ask)
	local skill = assert(skills.known[ask.skill], "there is no skill " .. ask.skill)
	moves.left = ask.deadline
	local began, before = body.ticks, inhabit.routes.searched
	local ok, said = xpcall(skill, function(why)
		if type(why) == "table" then return why end
		return debug.traceback(tostring(why))
	end, ask.name)
	body.sleeping = false
	if not ok and type(said) ~= "table" then error(said, 0) end
	local came = ok and { feedback = said } or { reason = said.reason, feedback = said.feedback }
	came.ticks, came.places = body.ticks - began, inhabit.routes.searched - before
	return came
end

local STEP = {}

function STEP.use()
	local slot, stack = 1, pack.equipment("mainhand")
	local name = inhabit.plain_name(stack:get_name())
	local mob = hands.pointed()
	if mob and name == "bucket" and (mob.name == "cow" or mob.name == "mooshroom") then
		pack.take("bucket", 0, 1)
		pack.add("milk_bucket", 0, 1)
	elseif mob and name == "shears" and mob.name == "sheep" and not mob.shorn then
		mob.shorn = mob.age + 3000
		pack.wear(1)
		pack.add("wool", 0, inhabit.draw(1, 3))
	elseif inhabit.about(name).food and body.food < 20 then
		hands.eating = (hands.eating or 0) + 1
		if hands.eating >= 32 then
			hands.eating = 0
			hands.eat(slot)
		end
		return
	else
		hands.build(slot)
	end
	hands.eating = 0
end

function STEP.attack() hands.attack() end

function STEP.drop()
	local stack = pack.equipment("mainhand")
	stack:take_item(1)
	pack.replace("mainhand", stack)
end

function STEP.craft(ask)
	if ask.station == "furnace" then
		local smelt, stack = crafting.source(ask.item)
		if smelt and hands.near("furnace", hands.STATION) and crafting.fire(stack) then crafting.smelt(smelt, stack) end
		return
	end
	local near = hands.near("crafting_table", hands.STATION) ~= nil
	local recipe, chosen = crafting.choose(ask.item, nil, near)
	if recipe then crafting.make(recipe, chosen) end
end

function STEP.equip(ask) pack.equip(ask.slot + 1) end

function STEP.place(ask) hands.build(ask.slot + 1) end

function STEP.destroy(ask) pack.inventory():set_stack("main", ask.slot + 1, ItemStack("")) end

--- One tick of low-level control: forward, side, jump, sneak, sprint; pitch and yaw in radians to
-- turn by; `function` one of use, drop, attack, craft, equip, place, destroy.
function skills.step(ask)
	body.yaw = (body.yaw + ask.yaw) % (2 * math.pi)
	body.pitch = math.max(-math.pi / 2, math.min(math.pi / 2, body.pitch + ask.pitch))
	if ask["function"] ~= "attack" then hands.progress = 0 end
	if ask["function"] and not body.dead then STEP[ask["function"]](ask) end
	inhabit.tick(ask)
	return {}
end
