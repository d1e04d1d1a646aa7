"""MineDojo as a template for EIE, and what is known of shortest plans."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from luanti_for_tests import needs_luanti

from inhabit.eie.examples.draft import Draft
from inhabit.eie.examples.example import Example, Rejection
from inhabit.eie.examples.settings import SynthSettings
from inhabit.eie.making.author import AuthorRequest, Procedural
from inhabit.eie.making.pipeline import Pipeline
from inhabit.envs.core import Task
from inhabit.envs.minedojo.env import MineDojo
from inhabit.envs.minedojo.evolution.template import MineDojoTemplate
from inhabit.envs.minedojo.expert.shortest import shortest
from inhabit.envs.minedojo.tasks.language import plausible, understand, vocabulary
from inhabit.envs.minedojo.tasks.scene import MineDojoScene, read_scene
from inhabit.envs.minedojo.world.game_state import GameState, Stack
from inhabit.envs.minedojo.world.settings import MineDojoSettings
from inhabit.envs.template import ActionKind


def account(held: Mapping[str, int], near: Mapping[str, int], far: Mapping[str, int]) -> GameState:
    """A moment at noon: so many of these blocks within reach, and so many twenty blocks away."""
    stacks = [Stack(name, 0, count, -1, -1) for name, count in held.items()]
    raw = {"table_near": False, "furnace_near": False, "heat": 0, "food": 20, "life": 20}
    blocks = {**dict.fromkeys(near, 2.0), **dict.fromkeys(far, 20.0)}
    nothing = [Stack("air", 0, 0, -1, -1)] * 6
    return GameState(
        raw, stacks, nothing, {}, {}, blocks, {**near, **far}, {**dict.fromkeys(far, 0), **near}, []
    )


def test_a_mob_is_offered_that_is_seen_or_heard() -> None:
    """Whom the expert hunts is around, and perhaps behind the agent's back."""
    mobs = [
        {"name": "husk", "seen": False, "far": 9.0},
        {"name": "zombie", "seen": False, "far": 30.0},
        {"name": "cow", "seen": True, "far": 30.0},
    ]
    offered = {action.text for action in plausible(replace(account({}, {}, {}), mobs=mobs))}
    assert offered >= {"hunt husk", "find husk", "hunt cow"} and "hunt zombie" not in offered


def best(item: str, now: GameState) -> tuple[int, set[str]] | None:
    scene = MineDojoScene(task="harvest", target_names=(item,))
    known = shortest(scene, now, now, frozenset(("log", "stone", "iron_ore", "coal_ore")))
    return known and (len(known.plan), {action.text for action in known.best})


@pytest.mark.parametrize(
    ("item", "held", "near", "far", "known"),
    [
        ("planks", {}, {}, {"log": 3}, (2, {"mine log"})),
        ("planks", {"log": 1}, {}, {"log": 3}, (1, {"craft planks"})),
        ("stick", {"planks": 1}, {"log": 1}, {}, (3, {"mine log"})),
        ("chest", {"planks": 8, "crafting_table": 1}, {}, {}, (2, {"place crafting_table"})),
        # Whoever mines what is near may set up first; whoever walks far may not.
        ("furnace", {"cobblestone": 7, "crafting_table": 1, "wooden_pickaxe": 1}, {"stone": 4}, {},
         (3, {"mine stone", "place crafting_table"})),
        ("furnace", {"cobblestone": 7, "crafting_table": 1, "wooden_pickaxe": 1}, {}, {"stone": 4},
         (3, {"mine stone"})),
        # Only what is in sight is sure, and only drops that are certain.
        ("iron_ore", {"stone_pickaxe": 1}, {}, {}, None),
        ("wheat_seeds", {}, {"tallgrass": 9}, {}, None),
        # No pickaxe, no ore.
        ("iron_ore", {}, {"iron_ore": 2}, {}, None),
    ],
)  # fmt: skip
def test_shortest_plans(
    item: str,
    held: dict[str, int],
    near: dict[str, int],
    far: dict[str, int],
    known: tuple[int, set[str]] | None,
) -> None:
    assert best(item, account(held, near, far)) == known


@pytest.mark.slow
def test_tasks_follow_from_the_seed_and_validate() -> None:
    template = MineDojoTemplate()
    changes = dict.fromkeys(template.changes, 0)
    for number in range(8):
        task = template.seed(random.Random(number), f"t{number}")
        assert task == template.seed(random.Random(number), f"t{number}")
        read_scene(task)
        assert template.kind(task.scene) == task.kind
        names = [event.name for event in template.events(task)]
        assert names and all(
            set(event.needs) <= set(names[:place])
            for place, event in enumerate(template.events(task))
        )
        for change in template.changes:
            evolved = template.evolve(task, change, random.Random(-number - 1), "e")
            if evolved is not None:
                read_scene(evolved)
                changes[change] += evolved.scene != task.scene
    assert min(changes.values()) > 1
    json.dumps(template.schema())


def test_names_in_words_are_parsed() -> None:
    template = MineDojoTemplate()
    for action in vocabulary():
        assert understand(template.in_words(action.text)) == action
    assert template.in_words("place crafting_table") == "place crafting table"


def _group(
    template: MineDojoTemplate, env: MineDojo, number: int, settings: SynthSettings
) -> Sequence[Example]:
    """The examples of one attempt of `inhabit synth`."""
    reply = Procedural("minedojo", template).reply(AuthorRequest(number, 4))
    pieces = Pipeline("minedojo", template, settings, 4).pieces(env, reply, "procedural", number)
    return [piece.example for piece in pieces if isinstance(piece, Draft)]


def test_two_goals_have_different_answers_in_each_of_four_scenes() -> None:
    template, rng = MineDojoTemplate(), random.Random(5)
    rows = template.squares(template.seed(rng, "minedojo-5-0"), rng)
    assert len(rows) == 2 and {len(row) for row in rows} == {4}
    assert len({row[0].goal for row in rows}) == 2
    for scenes in zip(*(map(read_scene, row) for row in rows), strict=True):
        goals = {"task", "target_names", "target_quantities", "tech_item"}
        assert len({scene.model_dump_json(exclude=goals) for scene in scenes}) == 1
    assert len({scene.model_dump_json() for scene in map(read_scene, rows[0])}) == 4


@pytest.mark.parametrize("count", [8, pytest.param(40, marks=pytest.mark.slow)])
def test_no_goal_of_a_square_is_carried_already_and_no_station_is_behind_a_heap(
    count: int,
) -> None:
    template, squares = MineDojoTemplate(), 0
    for number in range(count):
        rng = random.Random(number)
        task = template.seed(rng, f"minedojo-{number}-0")
        fuel = {"slot": 9, "name": "coal_block", "quantity": 1}
        inventory = [*read_scene(task).model_dump()["initial_inventory"], fuel]
        scene = {**task.scene, "initial_inventory": inventory, "start_yaw": 0.0}
        rows = template.squares(task.model_copy(update={"scene": scene}), rng)
        squares += bool(rows)
        for one in (read_scene(cell) for row in rows for cell in row):
            assert not {*one.target_names} & {item.name for item in one.initial_inventory}
            columns = {(b.offset[0], b.offset[2]): b.name for b in one.blocks}
            for (x, z), name in columns.items():
                if name in ("crafting_table", "furnace") and abs(z) > 5:
                    before = [
                        (other, far)
                        for other, far in columns
                        if 5 < abs(far) < abs(z) and abs(other / far - x / z) < 0.5 / abs(far)
                    ]
                    assert not before, (columns, before)
    assert squares > count // 4


@pytest.mark.slow
@needs_luanti
def test_goal_and_image_together_tell_the_answers_of_a_square() -> None:
    template = MineDojoTemplate()
    with MineDojo(MineDojoSettings()) as env:
        cells = next(
            group for n in range(9) if (group := _group(template, env, n, SynthSettings()))
        )
        assert len(cells) == 8 and len({(one.text, one.candidates) for one in cells}) == 1
        for row in (0, 1):
            line = [one for one in cells if one.row == row]
            assert len({one.goal for one in line}) == 1 and len({one.answer for one in line}) == 4
        for one in cells:
            assert one.lineage is not None
            env.reset(Task.model_validate(one.lineage.task), seed=one.lineage.seed)
            assert env.best_actions() == {env.parse(one.candidates[one.answer])}


@pytest.mark.slow
@needs_luanti
def test_no_reason_of_ours_is_refused_by_our_own_checks() -> None:
    template, kept = MineDojoTemplate(), 0
    procedural = Procedural("minedojo", template)
    pipeline = Pipeline("minedojo", template, SynthSettings(), 6)
    with MineDojo(MineDojoSettings()) as env:
        for number in range(8):
            reply = procedural.reply(AuthorRequest(number, 6))
            for piece in pipeline.pieces(env, reply, "procedural", number):
                if isinstance(piece, Draft):
                    kept += 1
                else:
                    assert piece.rejection is not Rejection.CONTRADICTION, piece
    assert kept >= 16


@pytest.mark.slow
@needs_luanti
def test_only_images_tell_twins_apart() -> None:
    template, twins = MineDojoTemplate(), SynthSettings(groups="twins")
    with MineDojo(MineDojoSettings()) as env:
        groups = (_group(template, env, number, twins) for number in range(9))
        group = next(group for group in groups if group)
        assert len(group) >= 3
        assert len({(one.question, one.text, one.candidates, one.goal) for one in group}) == 1
        assert len({one.answer for one in group}) == len(group)
        assert len({one.image_digest for one in group}) == len(group)
        for one in group:
            assert one.lineage is not None
            env.reset(Task.model_validate(one.lineage.task), seed=one.lineage.seed)
            assert env.best_actions() == {env.parse(one.candidates[one.answer])}
        # The last scene, on land that was there before, is that of a world started for it.
        again = env.observe(), env.things(), env.digest()
        env.close()
        env.reset(Task.model_validate(one.lineage.task), seed=one.lineage.seed)
        fresh = env.observe(), env.things(), env.digest()
        assert fresh[0].text == again[0].text and fresh[1:] == again[1:]
        assert np.array_equal(fresh[0].rgb, again[0].rgb)


@pytest.mark.slow
@needs_luanti
def test_what_is_told_of_a_scene() -> None:
    scene = {
        "task": "harvest", "target_names": ["furnace"], "generate_world_type": "flat",
        "allow_mob_spawn": False, "initial_mobs": ["sheep"],
        "initial_mob_spawn_range_low": [-5, 1, -5], "initial_mob_spawn_range_high": [5, 1, 5],
        "blocks": [{"name": "stone", "offset": [x, 0, z]}
                   for x, z in ((0, 2), (2, 0), (0, -2), (-2, 0))],
        "initial_inventory": [{"slot": 0, "name": "crafting_table"},
                              {"slot": 1, "name": "cobblestone", "quantity": 7},
                              {"slot": 2, "name": "wooden_pickaxe"}],
    }  # fmt: skip
    template = MineDojoTemplate()
    with MineDojo(MineDojoSettings()) as env:
        env.reset(Task(id="t", env="minedojo", kind="harvest", goal="g", scene=scene), seed=0)
        things = {thing.name: thing for thing in env.things()}
        assert things["stone"].pixels > 2000 and not things["stone"].held
        assert things["crafting_table_0"].held and things["cobblestone_0"].kind == "cobblestone"
        assert [t.states for t in things.values() if t.kind == "sheep"] == [{"shorn": False}]
        assert {t.kind for t in things.values()} <= template.lexicon.kinds
        assert env.best_actions() == set(env.plan()[:2]) == {
            env.parse("mine stone"), env.parse("place crafting_table"),
        }  # fmt: skip
        kinds = []
        while plan := env.plan():
            known = env.best_actions()
            assert known is not None and plan[0] in known
            kinds.append(template.action_kind(plan[0]))
            assert env.act(plan[0]).reason is None
        assert kinds == [ActionKind.GATHER, ActionKind.DROP, ActionKind.MAKE]
        assert env.best_actions() == frozenset()
