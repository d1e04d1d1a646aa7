-- What the player sees, and how the other side knows that the picture is of this moment.
--
-- The window is taller than the picture by a bar above and one below. A white mark in the lower
-- bar stands at a place that is the count of pictures modulo 8; once it is seen there, the
-- picture between the bars is of that count, or later.

local body = inhabit.body
local SLOTS = 8
local DOT = 4  -- pixels of the textures that bars and mark are made of
local screen = { count = 0 }
inhabit.screen = screen
local BAR = tonumber(minetest.settings:get("inhabit_bar"))
local WIDTH = tonumber(minetest.settings:get("inhabit_width"))

function screen.prepare(player)
	player:hud_set_flags({
		hotbar = false, healthbar = false, crosshair = true, wielditem = true, breathbar = false,
		minimap = false, minimap_radar = false, basic_debug = false,
	})
	player:set_physics_override({ speed = 0, jump = 0, gravity = 0, sneak = false })
	player:set_properties({ eye_height = 1.62, visual_size = { x = 0, y = 0 }, pointable = false })
	screen.overlay = player:hud_add({
		hud_elem_type = "image", position = { x = 0.5, y = 0.5 }, scale = { x = -100, y = -100 },
		text = "none.png", z_index = -300,
	})
	for i, y in ipairs({ 0, 1 }) do
		player:hud_add({
			hud_elem_type = "image", position = { x = 0.5, y = y }, scale = { x = WIDTH / DOT, y = BAR / DOT },
			alignment = { x = 0, y = y == 0 and 1 or -1 }, text = "black.png", z_index = 900 + i,
		})
	end
	screen.mark = player:hud_add({
		hud_elem_type = "image", position = { x = 0.5 / SLOTS, y = 1 }, scale = { x = BAR / DOT, y = BAR / DOT },
		alignment = { x = 0, y = -1 }, text = "white.png", z_index = 990,
	})
end

local function overlay()
	local snows = inhabit.sky.snows()
	if snows == nil or not inhabit.sky.open(body.pos) then return "none.png" end
	local phase = 1 + math.floor(body.ticks / 2) % 4
	if inhabit.sky.weather == "thunder" and body.ticks % 120 >= 117 then return "flash.png" end
	return (snows and "snowfall_" or "rainfall_") .. phase .. ".png"
end

--- Move the eyes to where the body is, and the mobs to where they are. To be called from a
-- coroutine: it lets the engine send what changed before the mark moves.
function screen.show()
	local player = minetest.get_player_by_name("singleplayer")
	player:set_pos(body.pos)
	player:set_look_horizontal(body.yaw % (2 * math.pi))
	player:set_look_vertical(body.pitch)
	inhabit.sky.show(player)
	player:hud_change(screen.overlay, "text", overlay())
	inhabit.mobs.show()
	coroutine.yield()
	screen.count = (screen.count + 1) % SLOTS
	player:hud_change(screen.mark, "position", { x = (screen.count + 0.5) / SLOTS, y = 1 })
	return screen.count
end
