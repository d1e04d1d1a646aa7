-- How long a block takes, what tool it needs and what it leaves, by Minecraft's rules.

local LEVELS = { wooden = 0, golden = 0, stone = 1, iron = 2, diamond = 3 }
local digging = {}
inhabit.digging = digging

--- The tool in a stack: kind, level and speed; nil for no tool.
local function tool_of(stack)
	return inhabit.about(inhabit.plain_name(stack:get_name())).tool
end

local function shears_it(block, stack)
	local tool = tool_of(stack)
	return tool ~= nil and tool.kind == "shears" and block.sheared
end

--- Whether a block drops something when broken with this stack.
function digging.harvests(block, stack)
	if not block.harvest or shears_it(block, stack) then return true end
	local tool = tool_of(stack)
	return tool ~= nil and tool.kind == block.tool and tool.level >= block.harvest
end

-- How many times faster than a hand a tool breaks a block.
local function speed_of(block, tool)
	if not tool then return 1 end
	if tool.kind == "sword" then return block.name == "web" and 15 or block.leafy and 1.5 or 1 end
	if tool.kind == "shears" and (block.name == "web" or block.shape == "leaves") then return 15 end
	return tool.kind == block.tool and tool.speed or 1
end

--- Ticks that a block takes with this stack; nil for what can't be broken.
function digging.ticks(block, stack)
	if block.hardness < 0 then return nil end
	local speed = speed_of(block, tool_of(stack)) * inhabit.scene.break_speed_multiplier
	if not inhabit.body.grounded then speed = speed / 5 end
	local share = speed / math.max(block.hardness, 1e-6) / (digging.harvests(block, stack) and 30 or 100)
	if share >= 1 then return 1 end
	return math.ceil(1 / share)
end

--- Slot (from 1) of the carried item that breaks a block best, and its ticks. An empty or idle
-- hand counts too (slot nil). Prefers what harvests; whoever holds shears, shears.
function digging.best(block)
	local best, fewest, harvests = nil, math.huge, false
	local held = inhabit.pack.equipment("mainhand")
	if shears_it(block, held) then return 1, digging.ticks(block, held), true end
	for i, stack in ipairs(inhabit.pack.inventory():get_list("main")) do
		local ticks, good = digging.ticks(block, stack), digging.harvests(block, stack)
		if ticks and ((good and not harvests) or (good == harvests and ticks < fewest)) then
			best, fewest, harvests = i, ticks, good
		end
	end
	return best, fewest, harvests
end

--- Cheapest tool that harvests a block, in words; nil if a hand does.
function digging.wanted(block)
	if not block.harvest then return nil end
	for _, name in ipairs({ "wooden", "stone", "iron", "diamond" }) do
		if LEVELS[name] >= block.harvest then
			return block.tool == "shears" and "shears" or name .. "_" .. block.tool
		end
	end
	return nil
end

local function drops(block, stack)
	if shears_it(block, stack) then return { { name = block.name, variant = 0, low = 1, high = 1, share = 1 } } end
	return block.drops
end

--- Break a block at a place: it is gone, and what it leaves is in the pack.
-- Returns what was gained (name -> count) and how much of it there was no room for.
function digging.take(at)
	local name, variant = inhabit.block_at(at)
	local block = inhabit.block(name)
	if not block then return {}, 0 end
	local stack = inhabit.pack.equipment("mainhand")
	local gained, lost = {}, 0
	if digging.harvests(block, stack) then
		for _, drop in ipairs(drops(block, stack)) do
			local which = drop.same and variant or drop.variant
			if drop.share >= 1 or inhabit.chance() < drop.share then
				local count = inhabit.draw(drop.low, drop.high)
				if count > 0 then
					local rest = inhabit.pack.add(drop.name, which, count)
					lost = lost + rest
					gained[drop.name] = (gained[drop.name] or 0) + count - rest
				end
			end
		end
		inhabit.body.xp = inhabit.body.xp + (block.xp or 0)
	end
	minetest.set_node(at, { name = "air" })
	inhabit.digging.settle({ x = at.x, y = at.y + 1, z = at.z })
	if block.hardness > 0 then inhabit.pack.wear(1) end
	inhabit.body.spent = inhabit.body.spent + 0.005
	return gained, lost
end

--- What stood on a block that is gone: sand falls, plants come off.
function digging.settle(at)
	local name = inhabit.block_at(at)
	local block = inhabit.block(name)
	if not block then return end
	if name == "sand" or name == "gravel" then
		local node = minetest.get_node(at)
		local low = at.y - 1
		while low > 1 and minetest.get_node({ x = at.x, y = low - 1, z = at.z }).name == "air" do low = low - 1 end
		minetest.set_node(at, { name = "air" })
		minetest.set_node({ x = at.x, y = low, z = at.z }, node)
		digging.settle({ x = at.x, y = at.y + 1, z = at.z })
	elseif block.shape == "plant" and name ~= "vine" then
		digging.take(at)
	elseif name == "reeds" or name == "cactus" then
		digging.take(at)
	end
end
