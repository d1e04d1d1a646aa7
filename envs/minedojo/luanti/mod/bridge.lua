-- One line of JSON in, one out, over two pipes. The server stands still while nobody asks: it waits
-- for the next line.

local trusted = ...
local questions, answers = trusted.io.stdin, nil

local function answer(ok, value)
	local text = minetest.write_json({ ok = ok, value = value })
	answers:write(assert(text), "\n")
	local sent, why = answers:flush()
	if not sent then minetest.request_shutdown("the bridge is closed: " .. tostring(why)) end
end

-- Only once somebody stands in the world: until then starting it may still fail.
minetest.register_on_joinplayer(function()
	answers = assert(trusted.io.open("/proc/self/fd/" .. minetest.settings:get("inhabit_answers"), "w"))
	answer(true, "ready")
end)

local calls = {
	start = function() return inhabit.start() end,
	restart = function(ask) return inhabit.restart(ask) end,
	step = function(ask) return inhabit.skills.step(ask) end,
	skill = function(ask) return inhabit.skills.run(ask) end,
	state = function(ask) return inhabit.state(ask) end,
	show = function() return { count = inhabit.screen.show() } end,
	wait = function(ask)
		for _ = 1, ask.steps do coroutine.yield() end
		return {}
	end,
	voxels = function(ask) return inhabit.voxels(ask) end,
	view = function(ask) return inhabit.sight.view(ask) end,
	rays = function(ask) return inhabit.rays(ask) end,
	blocks = function(ask) return inhabit.blocks_near(ask) end,
	craft_result = function(ask) return inhabit.craft_result(ask) end,
	change = function(ask) return inhabit.change(ask) end,
}

local running
local function go(ask)
	local ok, value = coroutine.resume(running, ask)
	if not ok then
		local trace = debug.traceback(running, tostring(value))
		running = nil
		return answer(false, trace)
	end
	if coroutine.status(running) == "dead" then
		running = nil
		answer(true, value)
	end
end

minetest.register_globalstep(function()
	if not answers or not minetest.get_player_by_name("singleplayer") then return end
	if running then go() end
	while not running do
		local text, why = questions:read("*l")
		if not text then
			minetest.request_shutdown("the bridge is closed: " .. tostring(why))
			running = coroutine.create(function() while true do coroutine.yield() end end)
			return
		end
		local ask = minetest.parse_json(text)
		local call = ask and calls[ask.op]
		if call then
			running = coroutine.create(call)
			go(ask)
		else
			answer(false, "there is no such call: " .. text)
		end
	end
end)
