-- The world behind inhabit's Minecraft: everything that happens, happens in ticks of our own.
-- Luanti draws, keeps the map and knows the recipes; it moves nothing by itself.

local path = minetest.get_modpath("inhabit")
local trusted = minetest.request_insecure_environment()
assert(trusted, "inhabit must stand in secure.trusted_mods")

inhabit = {}  -- what the parts share

local function read(name)
	local file = assert(io.open(path .. "/" .. name, "rb"))
	local text = file:read("*a")
	file:close()
	return assert(minetest.parse_json(text), name .. " is no JSON")
end

inhabit.content = read("content.json")
inhabit.scene = read("scene.json")

for _, part in ipairs({
	"chance", "items", "blocks", "recipes", "looks", "trees", "terrain", "sky", "body", "pack",
	"mobs", "temper", "digging", "hands", "routes", "sight", "moves", "crafting", "skills", "state",
	"start", "restart", "screen",
}) do
	dofile(path .. "/" .. part .. ".lua")
end
assert(loadfile(path .. "/bridge.lua"))(trusted)
