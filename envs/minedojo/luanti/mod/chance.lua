-- Random numbers from the scene's seed alone: one stream for what happens, one per place.

local stream = PcgRandom(inhabit.scene.world_seed)
local FULL = 2 ^ 31

--- Begin the stream of events again.
function inhabit.reseed()
	stream = PcgRandom(inhabit.scene.world_seed)
end

--- A number in [0, 1) of the stream that events draw from.
function inhabit.chance()
	return (stream:next() + FULL) / (2 * FULL)
end

--- A whole number from `low` to `high`.
function inhabit.draw(low, high)
	return low + math.floor(inhabit.chance() * (high - low + 1))
end

--- A number in [0, 1) that belongs to a place and a purpose, whoever asks and whenever.
function inhabit.at_place(x, y, z, purpose)
	local seed = (x * 73856093 + y * 19349663 + z * 83492791 + purpose * 39916801
		+ inhabit.scene.world_seed * 2654435) % 2147483648
	local draw = PcgRandom(seed)
	draw:next()
	return (draw:next() + FULL) / (2 * FULL)
end
