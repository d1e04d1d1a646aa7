-- Time of day and weather: counted in ticks of ours, shown by the engine.

local scene = inhabit.scene
local DAY = 24000
local COLORS = {
	nether = { base = "#5a1a12", light = 11 }, the_end = { base = "#1a1426", light = 12 },
}

local sky = { time = scene.start_time, days = 0, weather = scene.initial_weather }
if sky.weather == "normal" then sky.weather = "clear" end
inhabit.sky = sky

--- How bright the sun is: 0 at night to 1 at day (after the angle of the sun).
function sky.sun()
	local angle = math.cos((sky.time / DAY - 0.25) * 2 * math.pi) * 2 + 0.5
	local bright = math.max(0, math.min(1, angle))
	if sky.weather == "rain" then bright = bright * 0.8 end
	if sky.weather == "thunder" then bright = bright * 0.5 end
	return bright
end

--- Whether it rains or snows on land like this.
function sky.wet()
	return sky.weather == "rain" or sky.weather == "thunder"
end

--- Whether what falls is snow; nil where nothing falls.
function sky.snows()
	if not sky.wet() or scene.rainfall == 0 then return nil end
	return scene.temperature < 0.15
end

--- Whether nothing that keeps light off stands over a place.
function sky.open(at)
	for y = math.floor(at.y + 2.5), 130 do
		local name = minetest.get_node({ x = at.x, y = y, z = at.z }).name
		local definition = minetest.registered_nodes[name]
		if name ~= "ignore" and not (definition and definition.sunlight_propagates) then return false end
	end
	return true
end

function sky.tick()
	if not scene.allow_time_passage then return end
	sky.time = sky.time + 1
	if scene.always_night and (sky.time % DAY) > 22000 then sky.time = sky.time - (sky.time % DAY) + 14000 end
	if sky.time >= DAY then
		sky.time = sky.time - DAY
		sky.days = sky.days + 1
	end
end

--- How much of day there is in what is drawn, 0 to 1.
function sky.ratio()
	local color = COLORS[scene.look]
	if color then return color.light / 15 end
	return 0.32 + 0.68 * sky.sun()
end

local function mix(a, b, share)
	return { r = a[1] + (b[1] - a[1]) * share, g = a[2] + (b[2] - a[2]) * share, b = a[3] + (b[3] - a[3]) * share }
end

local shown
--- Make the player see the sky as it is.
function sky.show(player)
	-- The engine's day begins at midnight, Minecraft's at six.
	minetest.set_timeofday(((sky.time / DAY) + 0.25) % 1)
	player:override_day_night_ratio(sky.ratio())
	local key = sky.weather .. math.floor(sky.sun() * 20)
	if key == shown then return end
	shown = key
	local fixed = COLORS[scene.look]
	if fixed then
		player:set_sky({ type = "plain", base_color = fixed.base, clouds = false })
		player:set_sun({ visible = false, sunrise_visible = false })
		player:set_moon({ visible = false })
		player:set_stars({ visible = scene.look == "the_end", count = 400 })
		return
	end
	local day = sky.wet() and { 118, 126, 138 } or { 128, 176, 240 }
	if sky.weather == "thunder" then day = { 74, 78, 88 } end
	player:set_clouds({ density = 0 })
	player:set_sky({ type = "plain", base_color = mix({ 8, 10, 24 }, day, sky.sun()), clouds = false })
	player:set_sun({ visible = not sky.wet(), sunrise_visible = false })
	player:set_moon({ visible = not sky.wet() })
	player:set_stars({ visible = not sky.wet() and sky.sun() < 0.3, count = 600 })
end
