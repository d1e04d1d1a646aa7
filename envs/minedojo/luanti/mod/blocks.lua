-- The blocks, as the catalogue describes them. Nothing flows, falls or grows by itself.

local SHAPES = {
	cube = {},
	leaves = { drawtype = "allfaces_optional", paramtype = "light" },
	glass = { drawtype = "glasslike", paramtype = "light", sunlight_propagates = true },
	plant = {
		drawtype = "plantlike", paramtype = "light", sunlight_propagates = true, walkable = false,
		selection_box = { type = "fixed", fixed = { -0.4, -0.5, -0.4, 0.4, 0.4, 0.4 } },
	},
	slab = {
		drawtype = "nodebox", paramtype = "light",
		node_box = { type = "fixed", fixed = { -0.5, -0.5, -0.5, 0.5, 0, 0.5 } },
	},
	carpet = {
		drawtype = "nodebox", paramtype = "light", walkable = false, sunlight_propagates = true,
		node_box = { type = "fixed", fixed = { -0.5, -0.5, -0.5, 0.5, -0.44, 0.5 } },
	},
	post = {
		drawtype = "nodebox", paramtype = "light", sunlight_propagates = true,
		node_box = { type = "fixed", fixed = { -0.13, -0.5, -0.13, 0.13, 0.5, 0.13 } },
	},
	torch = {
		drawtype = "nodebox", paramtype = "light", walkable = false, sunlight_propagates = true,
		node_box = { type = "fixed", fixed = { -0.07, -0.5, -0.07, 0.07, 0.15, 0.07 } },
	},
	stairs = {
		drawtype = "nodebox", paramtype = "light",
		node_box = { type = "fixed", fixed = { { -0.5, -0.5, -0.5, 0.5, 0, 0.5 }, { -0.5, 0, 0, 0.5, 0.5, 0.5 } } },
	},
	panel = {
		drawtype = "nodebox", paramtype = "light", sunlight_propagates = true,
		node_box = { type = "fixed", fixed = { -0.5, -0.5, 0.4, 0.5, 0.5, 0.5 } },
	},
	cactus = {
		drawtype = "nodebox", paramtype = "light",
		node_box = { type = "fixed", fixed = { -0.44, -0.5, -0.44, 0.44, 0.5, 0.44 } },
	},
	liquid = {
		drawtype = "glasslike", paramtype = "light", walkable = false, pointable = false,
		buildable_to = true, use_texture_alpha = "blend",
	},
}

for _, block in ipairs(inhabit.content.blocks) do
	local definition = table.copy(SHAPES[block.shape])
	definition.description = block.label
	definition.tiles = block.tiles
	definition.light_source = math.min(block.light, 14)
	definition.groups = { ["any_" .. block.name] = 1 }
	definition.stack_max = block.stack
	definition.buildable_to = definition.buildable_to or block.replaceable
	if block.image then
		definition.inventory_image = block.image
		definition.wield_image = block.image
	end
	if block.shape == "plant" then definition.walkable = false end
	if block.name == "water" or block.name == "flowing_water" then
		definition.post_effect_color = { a = 110, r = 30, g = 60, b = 130 }
	elseif block.shape == "liquid" then
		definition.post_effect_color = { a = 190, r = 220, g = 80, b = 10 }
	end
	minetest.register_node(":" .. inhabit.engine_name(block.name, block.variant), definition)
end

local by_name = {}
for _, block in ipairs(inhabit.content.blocks) do
	by_name[block.name] = by_name[block.name] or block
end

--- What the catalogue says of a block by its plain name; nil for air and what isn't loaded.
function inhabit.block(name)
	return by_name[name]
end

--- Plain name and variant of the block at a place; "air" where there is none.
function inhabit.block_at(at)
	return inhabit.plain_name(minetest.get_node(at).name)
end

--- Whether a body can't pass a block that Luanti calls `name`. What isn't loaded counts as solid.
function inhabit.is_solid(name)
	if name == "air" then return false end
	local definition = minetest.registered_nodes[name]
	return definition == nil or definition.walkable ~= false
end

--- Whether a body can't pass the block at a place.
function inhabit.solid(x, y, z)
	return inhabit.is_solid(minetest.get_node({ x = x, y = y, z = z }).name)
end
