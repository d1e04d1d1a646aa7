"""Squares: no goal and no picture of a square tells its answers alone."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from sampling import every

from inhabit.eie.examples.example import Example, Rejection
from inhabit.eie.examples.states import States
from inhabit.eie.sets.folder import SetFolder
from inhabit.envs.core import Expert, Factual, Forkable, Task
from inhabit.envs.registry import find
from inhabit.envs.template import ActionKind, CrossesGoals, Template
from inhabit.episodes.episode import Episode
from tests.eie.making.test_synth import inhabit

CHECK = Path(__file__).parents[3] / "scripts" / "check_set"
SET = ("--seed", "5", "--set", "in_process=true", "--set", "recognition=false")
COUNTS = {"alfred": "24", "virtualhome": "8"}


@pytest.fixture(scope="module", params=COUNTS)
def made(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    out = tmp_path_factory.mktemp("squares") / "set"
    done = inhabit("synth", request.param, "--n", COUNTS[request.param], *SET, "--out", str(out))
    assert done.returncode == 0, done.stderr
    return out


def squares(folder: Path) -> list[list[Example]]:
    found: dict[str, list[Example]] = defaultdict(list)
    for example in SetFolder.open(folder).examples():
        found[example.square].append(example)
    assert "" not in found
    return [*found.values()]


@pytest.mark.slow
def test_neither_a_goal_nor_a_picture_alone_tells_the_answer(made: Path) -> None:
    for cells in squares(made):
        assert len({cell.candidates for cell in cells}) == 1
        shape = (1 + max(cell.row for cell in cells), 1 + max(cell.column for cell in cells))
        assert shape in ((2, 4), (3, 3)) and len(cells) == shape[0] * shape[1]
        for row in range(shape[0]):
            line = [cell for cell in cells if cell.row == row]
            assert len({cell.goal for cell in line}) == 1
            assert {cell.answer for cell in line} == set(range(shape[1]))
        for column in range(shape[1]):
            line = [cell for cell in cells if cell.column == column]
            assert len({cell.image for cell in line}) == 1
            assert len({cell.answer for cell in line}) == shape[0]


@pytest.mark.slow
def test_no_reason_of_ours_is_refused_by_our_own_checks(made: Path) -> None:
    attempts = list(SetFolder.open(made).attempts())
    assert any(attempt.kept for attempt in attempts)
    refused = [one for attempt in attempts for one in attempt.rejected]
    assert not [one for one in refused if one.rejection is Rejection.CONTRADICTION]


@pytest.mark.slow
def test_each_answer_leaves_less_to_do_than_any_other_option(made: Path) -> None:
    cells = squares(made)[0]
    registration = find(cells[0].env)
    with registration.make("embedded", registration.settings()) as env:
        assert isinstance(env, Expert) and isinstance(env, Forkable)
        for example in cells:
            assert example.lineage is not None
            env.reset(Task.model_validate(dict(example.lineage.task)), seed=example.lineage.seed)
            for text in example.lineage.actions:
                action = env.parse(text)
                assert action is not None
                env.act(action)
            left = []
            for text in example.candidates:
                action = env.parse(text)
                assert action is not None
                with env.fork() as copy:
                    outcome = copy.act(action)
                    assert isinstance(copy, Expert)
                    failed = outcome.reason is not None
                    left.append(1000 if failed else 1 + len(copy.plan()))
            assert left.index(min(left)) == example.answer
            assert left.count(min(left)) == 1


@pytest.mark.slow
def test_what_is_said_to_come_later_does_and_what_is_not_wanted_never_does(made: Path) -> None:
    later = re.compile(
        r"(?:You can(?: still)?|There is time to) (.+) after that\."
        r"|.*(?:you|You|One) would (.+) now(?:\.| if).*"
    )
    unwanted = re.compile(
        r"(?:.*, you|You) would (.+?)(?: if | instead).*"
        r"|There is no need to (.+): .* is already .*"
    )
    told = 0
    for example in (cell for cells in squares(made) for cell in cells):
        plan = [re.sub(r"_\d+", "", text) for text in example.lineage.plan]
        said = [text.replace("walk to", "go to").replace("grab", "pick up") for text in plan]
        last = re.split(r"(?<=\.) ", example.reason)[-1]
        if (found := later.fullmatch(last)) is not None:
            assert (found[1] or found[2]) in said[1:], (last, plan)
            told += 1
        elif (found := unwanted.fullmatch(last)) is not None:
            what = found[1] or found[2]
            assert what.startswith("put") or what not in said, (last, plan)
            told += 1
    assert told


@pytest.mark.slow
@pytest.mark.parametrize("env", COUNTS)
def test_what_was_tried_in_vain_is_still_to_be_done_for_every_goal(
    env: str, tmp_path: Path
) -> None:
    words = ("--n", "24", "--seed", "3", "--set", "in_process=true", "--set", "recoveries=1")
    words += ("--set", "trajectories=0", "--set", "recognition=false")
    done = inhabit("synth", env, *words, "--out", str(tmp_path / "set"))
    assert done.returncode == 0, done.stderr
    examples = list(SetFolder.open(tmp_path / "set").examples())
    told = [example for example in examples if example.kind == "recovery"]
    # Not every scene has a picture for it: others give a square of decisions.
    assert 3 * len(told) >= len(examples)
    for example in told:
        assert example.lineage is not None
        tried = example.lineage.actions[-1]
        assert tried in example.lineage.plan
        assert tried.replace("grab", "pick up").split()[0] in ("pick", "open"), tried


@pytest.mark.slow
def test_a_set_that_asks_for_twins_has_one_goal_in_each_group(tmp_path: Path) -> None:
    twins = ("--n", "24", *SET, "--set", "groups=twins")
    done = inhabit("synth", "alfred", *twins, "--out", str(tmp_path / "set"))
    assert done.returncode == 0, done.stderr
    groups: dict[str, set[str]] = defaultdict(set)
    for example in SetFolder.open(tmp_path / "set").examples():
        assert not example.square
        groups[example.twins].add(example.goal)
    assert "" not in groups and all(len(goals) == 1 for goals in groups.values())


@pytest.mark.slow
def test_the_check_finds_what_is_damaged_in_a_square(made: Path) -> None:
    file = made / "examples.jsonl"
    original = file.read_text()
    rows = [json.loads(line) for line in original.splitlines()]
    cells = [row for row in rows if row["square"] == rows[0]["square"]]
    assert checked(made) == {}
    other = next(c for c in cells if c.get("row", 0) == 1 and c.get("column", 0) == 0)
    damages = {
        "reason": {"reason": other["reason"], "seen": other["seen"]},
        "goal": {"goal": other["goal"]},
        "place": {"column": 3},
    }
    for name, damage in damages.items():
        lines = [json.dumps({**rows[0], **damage}), *original.splitlines()[1:]]
        file.write_text("\n".join(lines) + "\n")
        assert set(checked(made)) & {"square", "wish", "seen", "claim"}, name
    file.write_text(original)


def checked(folder: Path) -> dict[str, int]:
    done = subprocess.run(
        [sys.executable, str(CHECK), str(folder), "--json"], capture_output=True, text=True
    )
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])["by_cause"]
    return found


def test_nothing_happens_by_itself_in_the_states_of_a_square() -> None:
    registration = find("alfred")
    settings = registration.settings(wire="none")
    assert registration.template is not None
    template = registration.template(settings)
    task = next(iter(registration.sample(1, 3, settings)))
    move = {"object": "mug_1", "receptacle": "countertop_2"}
    scene = {"disturbances": [{"after": 1, "placements": [move]}]}
    with registration.make("embedded", settings) as env:
        starts = []
        for one in (task, task.model_copy(update={"scene": {**task.scene, **scene}})):
            episode = Episode(env, one)
            episode.reset()
            states = States(episode, template)
            starts.append({thing.name: thing.support for thing in states.start.things})
            states.close()
    assert starts[0] == starts[1]


@pytest.mark.parametrize("name", every(2, COUNTS))
def test_a_common_part_is_in_every_goal_and_in_no_picture(name: str) -> None:
    registration = find(name)
    settings = registration.settings.model_validate({"wire": "none"} if name == "alfred" else {})
    assert registration.template is not None
    template = registration.template(settings)
    assert isinstance(template, CrossesGoals)
    task = next(iter(registration.sample(1, 3, settings)))
    with registration.make("embedded", settings) as env:
        assert isinstance(env, Factual)
        env.reset(task, seed=0)
        things = env.things()
    for common in (False, True):
        shared = []
        for crossing in template.crossings(task, 2, things, random.Random(0), common):
            one, other = (puts(template, row) for row in crossing.rows)
            shared.append(len(one & other))
            assert all((one & other).isdisjoint(puts(template, part)) for part in crossing.parts)
        assert set(shared) <= {0, int(common)} and int(common) in shared


def puts(template: Template, task: Task) -> set[str]:
    return {e.wish for e in template.events(task) if e.action_kind is ActionKind.PUT}
