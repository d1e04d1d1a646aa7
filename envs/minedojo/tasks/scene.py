"""The scene of a task, its goals, and the names of what is in it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from inhabit.envs.core import SceneError, Task
from inhabit.envs.minedojo.tasks import language
from inhabit.envs.minedojo.world.game_state import GameState

Kind = Literal["open-ended", "harvest", "combat", "techtree", "survival", "creative", "playthrough"]
FURNISHING = frozenset(
    (
        *("initial_inventory", "blocks", "initial_mobs", "initial_mob_spawn_range_low"),
        *("initial_mob_spawn_range_high", "start_time", "initial_weather", "start_health"),
        *("start_food", "start_yaw"),
    )
)
"""The parameters of the simulator that a running world can change."""
_FROZEN = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
_NIGHT = 18000
_NOON = 6000
_DAY = 24000


def _known(kind: str, among: Any) -> AfterValidator:
    return AfterValidator(lambda name: language.known(kind, name, among()))


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _size(value: Any) -> Any:
    return (value, value) if isinstance(value, int) else value


def _biome(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        by_number = {number: name for name, number in language.biome_numbers().items()}
        if value not in by_number:
            raise ValueError(f"there is no biome number {value}")
        return by_number[value]
    return value


Item = Annotated[str, _known("item", lambda: language.names("item"))]
Block = Annotated[str, _known("block", lambda: language.names("block"))]
Mob = Annotated[str, _known("mob", language.mobs)]
Biome = Annotated[str, BeforeValidator(_biome), _known("biome", lambda: language.names("biome"))]
Weather = Annotated[str, _known("weather", lambda: language.WEATHERS)]
WorldType = Annotated[str, _known("world type", lambda: language.WORLD_TYPES)]
Offset = tuple[float, float, float]


class InventoryItem(BaseModel):
    """Something that is carried or worn from the start."""

    model_config = _FROZEN

    slot: Annotated[int | str, AfterValidator(language.slot)]
    """0 to 40, or mainhand, offhand, head, chest, legs, feet."""
    name: Item
    variant: int = Field(default=0, ge=0, le=120)
    quantity: int = Field(default=1, ge=1, le=64)

    @model_validator(mode="after")
    def _variant(self) -> InventoryItem:
        _check_variant(self.name, self.variant)
        return self


class PlacedBlock(BaseModel):
    """A block beside the start; `offset` is in blocks east, up and south of the feet."""

    model_config = _FROZEN

    name: Block
    variant: int = Field(default=0, ge=0, le=15)
    offset: tuple[
        Annotated[int, Field(ge=-30, le=30)],
        Annotated[int, Field(ge=-20, le=20)],
        Annotated[int, Field(ge=-30, le=30)],
    ]

    @model_validator(mode="after")
    def _variant(self) -> PlacedBlock:
        _check_variant(self.name, self.variant)
        return self


class Position(BaseModel):
    """Where one stands and looks; yaw and pitch in degrees."""

    model_config = _FROZEN

    x: float = Field(ge=-2000, le=2000)
    y: float = Field(ge=1, le=140)
    z: float = Field(ge=-2000, le=2000)
    yaw: float = Field(default=0.0, ge=-180, le=180)
    pitch: float = Field(default=0.0, ge=-90, le=90)


class Voxels(BaseModel):
    """The box of blocks around the feet that an observation holds."""

    model_config = _FROZEN

    xmin: int = Field(ge=-16, le=0)
    ymin: int = Field(ge=-16, le=0)
    zmin: int = Field(ge=-16, le=0)
    xmax: int = Field(ge=0, le=16)
    ymax: int = Field(ge=0, le=16)
    zmax: int = Field(ge=0, le=16)


class Ray(BaseModel):
    """One beam of the lidar, from where one looks."""

    model_config = _FROZEN

    pitch: float = Field(ge=-math.pi, le=math.pi)
    yaw: float = Field(ge=-math.pi, le=math.pi)
    distance: float = Field(gt=0, le=64)


def _rays(value: Any) -> Any:
    if not isinstance(value, (list, tuple)):
        return value
    keys = ("pitch", "yaw", "distance")
    return [
        dict(zip(keys, ray, strict=True))
        if isinstance(ray, (list, tuple)) and len(ray) == len(keys)
        else ray
        for ray in value
    ]


def _inventory(value: Any) -> Any:
    """MineDojo's task specs map a slot to an item; its code takes a list."""
    if isinstance(value, Mapping) and all(isinstance(about, Mapping) for about in value.values()):
        return [{"slot": slot, **about} for slot, about in value.items()]
    return value


class MineDojoScene(BaseModel):
    """MineDojo's parameters of `open-ended` and of its task classes.

    Offsets are in blocks: x to the east, y up, z to the south.
    """

    model_config = _FROZEN

    task: Kind = "open-ended"
    """MineDojo's class of the task: it says which fields make the goal."""

    initial_inventory: Annotated[tuple[InventoryItem, ...], BeforeValidator(_inventory)] = ()
    start_position: Position | None = None
    start_yaw: float | None = Field(default=None, ge=-180, le=180)
    """Where one looks at the start, in degrees: 0 is south, 90 west. One of four directions, picked
    uniformly at random, where neither this nor a position is given. Not a parameter of MineDojo's.
    """
    start_health: float = Field(default=20.0, gt=0, le=20)
    start_food: int = Field(default=20, ge=0, le=20)
    start_time: int | None = Field(default=None, ge=0, lt=24000)
    """0 is six in the morning, 6000 noon, 18000 midnight."""
    start_at_night: bool = False
    always_night: bool = False
    initial_weather: Weather | None = None
    allow_time_passage: bool = True
    allow_mob_spawn: bool = True
    break_speed_multiplier: float = Field(default=1.0, gt=0, le=100)
    generate_world_type: WorldType = "default"
    specified_biome: Biome | None = None
    world_seed: int | str | None = None
    flat_world_seed_string: str | None = Field(default=None, max_length=200)
    """Layers of a flat world in Minecraft. The embedded world has only one kind of flat world."""
    blocks: tuple[PlacedBlock, ...] = Field(default=(), max_length=4000)

    initial_mobs: Annotated[tuple[Mob, ...], BeforeValidator(_listed)] = Field(
        default=(), max_length=40
    )
    initial_mob_spawn_range_low: Offset | None = None
    initial_mob_spawn_range_high: Offset | None = None

    target_names: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ()
    """Items to have (harvest), or mobs to kill (combat)."""
    target_quantities: int | tuple[int, ...] | Mapping[str, int] = 1
    reward_weights: float | Mapping[str, float] = 1.0
    tech_item: str | None = None
    target_days: int | None = Field(default=None, ge=2, le=1000)

    image_size: Annotated[
        tuple[Annotated[int, Field(ge=64, le=2160)], Annotated[int, Field(ge=64, le=3840)]] | None,
        BeforeValidator(_size),
    ] = None
    """Size of the image, (height, width), or one number for both; the setting's by default."""
    use_voxel: bool = False
    voxel_size: Voxels | None = None
    use_lidar: bool = False
    lidar_rays: Annotated[tuple[Ray, ...], BeforeValidator(_rays)] = Field(
        default=(), max_length=4096
    )
    event_level_control: Literal[True] = True
    cam_interval: float = Field(default=15, gt=0, le=180)

    @model_validator(mode="after")
    def _together(self) -> MineDojoScene:
        _check_targets(self)
        _check_range(self)
        if self.generate_world_type == "from_file":
            raise ValueError("generate_world_type: 'from_file' is not supported by any backend")
        if self.generate_world_type == "specified_biome" and self.specified_biome is None:
            raise ValueError("specified_biome: generate_world_type asks for one, and none is given")
        if self.use_lidar and not self.lidar_rays:
            raise ValueError("lidar_rays: use_lidar asks for rays, and none are given")
        if self.use_voxel and self.voxel_size is None:
            raise ValueError("voxel_size: use_voxel asks for a box, and none is given")
        slots = [language.SLOTS.get(str(i.slot), i.slot) for i in self.initial_inventory]
        if twice := _twice(slots):
            raise ValueError(f"initial_inventory: slot {twice[0]} is given twice")
        if twice := _twice(self.target_names):
            raise ValueError(f"target_names: {twice[0]} is given twice")
        return self

    @property
    def quantities(self) -> Mapping[str, int]:
        """Target -> how many."""
        wanted = self.target_quantities
        if isinstance(wanted, Mapping):
            return dict(wanted)
        counts = [wanted] * len(self.target_names) if isinstance(wanted, int) else wanted
        return dict(zip(self.target_names, counts, strict=True))


def read_scene(task: Task) -> MineDojoScene:
    """The scene of a task.

    Raises:
        SceneError: a field is unknown, or its value is; with the nearest valid ones.
    """
    try:
        return MineDojoScene.model_validate(dict(task.scene))
    except ValidationError as error:
        raise SceneError(f"Task {task.id!r}, scene, {_words(error)}") from error


def as_world(scene: MineDojoScene, *, seed: int) -> Mapping[str, Any]:
    """The scene as plain values for the simulator, with every random choice made.

    Args:
        scene: checked.
        seed: decides what the scene leaves open.
    """
    biome = scene.specified_biome or "plains"
    about = language.biomes()[biome]
    start = _NIGHT if scene.start_at_night or scene.always_night else _NOON
    world: dict[str, Any] = {
        "world_seed": _number(scene.world_seed, seed),
        "look": about["look"],
        "temperature": float(about["temperature"]),
        "rainfall": float(about["rainfall"]),
        "flat": scene.generate_world_type == "flat",
        "start_time": start if scene.start_time is None else scene.start_time,
        "initial_weather": scene.initial_weather or "clear",
        "initial_inventory": [item.model_dump() for item in scene.initial_inventory],
        "blocks": [block.model_dump() for block in scene.blocks],
        "initial_mobs": list(scene.initial_mobs),
        "initial_mob_spawn_range_low": scene.initial_mob_spawn_range_low or (-7, 1, -7),
        "initial_mob_spawn_range_high": scene.initial_mob_spawn_range_high or (7, 1, 7),
    }
    for field in ("start_health", "start_food", "always_night", "allow_time_passage",
                  "allow_mob_spawn", "break_speed_multiplier"):  # fmt: skip
        world[field] = getattr(scene, field)
    if scene.start_position is not None:
        world["start_position"] = scene.start_position.model_dump()
    if scene.start_yaw is not None:
        world["start_yaw"] = scene.start_yaw
    return world


def _number(world_seed: int | str | None, seed: int) -> int:
    """A seed that is a number, as Minecraft takes any text for one."""
    text = f"{world_seed!r}" if world_seed is not None else f"seed {seed}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") % 2**31


def _twice(names: Sequence[object]) -> Sequence[object]:
    return [name for name in dict.fromkeys(names) if names.count(name) > 1]


def _check_variant(name: str, variant: int) -> None:
    there = language.variants().get(name, frozenset({0}))
    if variant not in there:
        raise ValueError(
            f"variant: there is no variant {variant} of {name}; there are: "
            f"{', '.join(map(str, sorted(there)))}"
        )


def _check_targets(scene: MineDojoScene) -> None:
    among: Mapping[str, tuple[str, Sequence[str]]] = {
        "harvest": ("item", language.names("item")),
        "combat": ("mob", language.mobs()),
    }
    if scene.task in among:
        kind, known = among[scene.task]
        if not scene.target_names:
            raise ValueError(f"target_names: a {scene.task} task needs at least one {kind}")
        for name in scene.target_names:
            _with_field("target_names", lambda name=name: language.known(kind, name, known))
    if scene.task == "techtree":
        if scene.tech_item is None:
            raise ValueError("tech_item: a techtree task needs one")
        item = scene.tech_item
        _with_field("tech_item", lambda: language.known("tech item", item, language.names("tech")))
    if scene.task == "survival" and scene.target_days is None:
        raise ValueError("target_days: a survival task needs them")
    try:
        counts = scene.quantities
    except ValueError as error:
        raise ValueError("target_quantities: give one for each of target_names") from error
    if set(counts) != set(scene.target_names):
        raise ValueError("target_quantities: its names have to be those of target_names")
    if any(not 1 <= count <= 36 * 64 for count in counts.values()):
        raise ValueError("target_quantities: has to be from 1 to 2304")


def _with_field(field: str, check: Any) -> None:
    try:
        check()
    except ValueError as error:
        raise ValueError(f"{field}: {error}") from error


def _check_range(scene: MineDojoScene) -> None:
    low, high = scene.initial_mob_spawn_range_low, scene.initial_mob_spawn_range_high
    if scene.initial_mobs and (low is None or high is None):
        missing = "low" if low is None else "high"
        raise ValueError(
            f"initial_mob_spawn_range_{missing}: initial_mobs need it, such as [7, 1, 7]"
        )
    if low is None or high is None:
        return
    for axis, a, b in zip("xyz", low, high, strict=True):
        if a > b:
            raise ValueError(
                f"initial_mob_spawn_range_low: its {axis} ({a:g}) is above that of "
                f"initial_mob_spawn_range_high ({b:g})"
            )
        if max(abs(a), abs(b)) > 35:
            raise ValueError(
                "initial_mob_spawn_range_high: nobody can appear more than 35 blocks away"
            )


def _words(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    said = str(first["msg"]).removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        near = language.nearest(str(first["loc"][-1]), MineDojoScene.model_fields)
        return f"{where}: there is no such field; nearest: {near}"
    return f"{where}: {said}" if where else said


_OBTAIN, _USE = 1.0, 10.0
"""MineDojo's reward weights of a tech item: for obtaining and for using it."""


def conditions(scene: MineDojoScene, first: GameState, now: GameState) -> tuple[int, int]:
    """The number of goal conditions that hold, and their total (>= 1).

    harvest: a number of each target gained since the start; combat: a number killed; techtree: the
    item was used; survival: a condition for each day of 24,000 ticks, which sleep doesn't shorten.
    Open-ended and creative tasks have a single condition that nothing here can judge.
    """
    wanted = scene.quantities
    if scene.task == "harvest":
        gained = {name: now.carried.get(name, 0) - first.carried.get(name, 0) for name in wanted}
        return _sum(gained, wanted), sum(wanted.values())
    if scene.task == "combat":
        return _sum(now.killed, wanted), sum(wanted.values())
    if scene.task == "techtree" and scene.tech_item:
        had = now.carried.get(scene.tech_item, 0) > 0 or bool(now.used.get(scene.tech_item))
        return int(had) + int(bool(now.used.get(scene.tech_item))), 2
    if scene.task == "survival" and scene.target_days:
        return min(now.ticks // _DAY, scene.target_days), scene.target_days
    return 0, 1


def reward(scene: MineDojoScene, before: GameState, now: GameState) -> float:
    """MineDojo's reward of a step: the weighted progress since `before`."""
    weights = scene.reward_weights
    names = scene.target_names

    def weight(name: str) -> float:
        return weights.get(name, 0.0) if isinstance(weights, Mapping) else weights

    if scene.task == "harvest":
        return sum(weight(n) * (now.carried.get(n, 0) - before.carried.get(n, 0)) for n in names)
    if scene.task == "combat":
        return sum(weight(n) * (now.killed.get(n, 0) - before.killed.get(n, 0)) for n in names)
    if scene.task == "techtree" and (item := scene.tech_item):
        gained = now.carried.get(item, 0) - before.carried.get(item, 0)
        return _OBTAIN * gained + _USE * (now.used.get(item, 0) - before.used.get(item, 0))
    if scene.task == "survival" and (target := scene.target_days):
        days, were = now.ticks // _DAY, before.ticks // _DAY
        return float(days - were + (target if were < target <= days else 0))
    return 0.0


def _sum(have: Mapping[str, int], wanted: Mapping[str, int]) -> int:
    return sum(max(0, min(have.get(name, 0), count)) for name, count in wanted.items())
