-- Names and items. "mc:planks" is variant 0 of planks, "mc:planks__2" its variant 2.

local PREFIX = "mc:"

--- Luanti's name of an item.
function inhabit.engine_name(name, variant)
	if name == "air" then return name end
	if variant and variant > 0 then return PREFIX .. name .. "__" .. variant end
	return PREFIX .. name
end

--- Minecraft's name and variant of what Luanti calls `engine`; "air", 0 for nothing.
function inhabit.plain_name(engine)
	local name = engine:match("^mc:(.*)$")
	if not name then return "air", 0 end
	local base, variant = name:match("^(.-)__(%d+)$")
	if base then return base, tonumber(variant) end
	return name, 0
end

--- What the catalogue says of an item by its plain name; an empty table if nothing.
function inhabit.about(name)
	return inhabit.content.items[name] or {}
end

for _, item in ipairs(inhabit.content.only_items) do
	minetest.register_craftitem(":" .. inhabit.engine_name(item.name, item.variant), {
		description = item.label,
		inventory_image = item.image,
		stack_max = item.stack,
		groups = { ["any_" .. item.name] = 1 },
	})
end

minetest.override_item("", { wield_image = "hand.png", wield_scale = { x = 1, y = 1, z = 2.5 } })
