-- Begins another episode on the same land, so that the engine need not start again.

local scene, body, sight, mobs, pack, sky =
	inhabit.scene, inhabit.body, inhabit.sight, inhabit.mobs, inhabit.pack, inhabit.sky
local first = table.copy(body)

--- Take back what the scene placed, and begin with another one: {scene}. Nothing else may have
-- changed the land, and the new scene has the same land.
function inhabit.restart(ask)
	inhabit.unfurnish()
	while #mobs.all > 0 do mobs.remove(mobs.all[1]) end
	mobs.next_id, mobs.killed = 1, {}
	for key in pairs(scene) do scene[key] = nil end
	for key, value in pairs(ask.scene) do scene[key] = value end
	for key in pairs(body) do
		if type(body[key]) ~= "function" then body[key] = nil end
	end
	for key, value in pairs(table.copy(first)) do body[key] = value end
	body.life, body.food = scene.start_health, scene.start_food
	pack.used, sight.blocks = {}, {}
	sky.time, sky.days, sky.weather = scene.start_time, 0, scene.initial_weather
	if sky.weather == "normal" then sky.weather = "clear" end
	inhabit.crafting.heat = 0
	inhabit.hands.progress, inhabit.hands.digs, inhabit.hands.eating = 0, nil, nil
	inhabit.reseed()
	return inhabit.begin()
end
