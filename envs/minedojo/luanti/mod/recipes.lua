-- The recipes, given to the engine, which judges every craft and every smelting.

local function ingredient(one)
	if not one then return "" end
	if one.variant then return inhabit.engine_name(one.name, one.variant) end
	return "group:any_" .. one.name
end

for _, recipe in ipairs(inhabit.content.recipes) do
	local output = inhabit.engine_name(recipe.name, recipe.variant) .. " " .. recipe.count
	local items = {}
	if recipe.rows then
		for r, row in ipairs(recipe.rows) do
			items[r] = {}
			for c, one in ipairs(row) do items[r][c] = ingredient(one) end
		end
		minetest.register_craft({ output = output, recipe = items })
	else
		for i, one in ipairs(recipe.items) do items[i] = ingredient(one) end
		minetest.register_craft({ type = "shapeless", output = output, recipe = items })
	end
end

for _, smelt in ipairs(inhabit.content.smelts) do
	minetest.register_craft({
		type = "cooking", cooktime = 10,
		output = inhabit.engine_name(smelt.name, smelt.variant),
		recipe = ingredient({ name = smelt.source, variant = smelt.source_variant }),
	})
end
