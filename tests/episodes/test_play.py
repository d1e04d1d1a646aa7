"""One episode: what is recorded, when it ends, what the agent is shown."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Picture
from pydantic import JsonValue
from toy_runs import Dying, Keeps, Says, Silent, play_toy, toy_tasks

from inhabit.agents.core import Agent, Decision, Grant, View
from inhabit.agents.models.core import Image
from inhabit.envs.core import Reason, SimulatorError, Task
from inhabit.envs.toy.env import Toy
from inhabit.envs.toy.house import ToySettings
from inhabit.episodes.playing.clock import Clock, TimeShare
from inhabit.episodes.recording.reader import Attempt, Run
from inhabit.episodes.recording.schema import Choice, Ending, Sight


def last(run: Run, number: int = 0) -> Attempt:
    attempt = run.episode(number).last()
    assert attempt is not None
    return attempt


def test_an_expert_solves_it_and_every_step_is_on_record(tmp_path: Path) -> None:
    run = play_toy(tmp_path, agent="expert")
    for episode in run.episodes():
        attempt = episode.last()
        assert attempt is not None
        assert attempt.end is not None
        assert attempt.end.ending is Ending.SUCCESS
        assert attempt.end.steps == len(attempt.steps) - 1 == len(attempt.end.overhead_ms)
        assert attempt.end.cost == episode.task.reference_cost
        assert [s.number for s in attempt.steps] == list(range(len(attempt.steps)))
        assert all(s.decide and s.act and s.act.reason is None for s in attempt.steps[:-1])
        assert attempt.steps[-1].decide is None, "After the last action one only looks."
        assert attempt.steps[-1].see.frame is not None


def test_the_record_tells_what_happened_in_the_house(tmp_path: Path) -> None:
    """Acting the recorded texts in a house of our own gives the recorded states and images."""
    run = play_toy(tmp_path, agent="expert", candidates=Choice.SEEN)
    episode = run.episode(1)
    with Toy() as house:
        house.reset(episode.task, seed=0)
        for step in last(run, 1).steps:
            pixels = house.observe().rgb
            assert pixels is not None
            assert step.see.digest == Image(pixels).digest
            assert step.see.state == house.digest()
            assert list(step.candidates) == [a.text for a in house.actions()]
            frame = episode.frame(step.see)
            assert frame is not None
            with Picture.open(frame) as picture:
                assert picture.format == "JPEG"
                assert np.abs(np.asarray(picture, int) - pixels).mean() < 8
            if step.decide is not None and step.decide.action is not None:
                action = house.parse(step.decide.action)
                assert action is not None
                house.act(action)


def test_ten_actions_that_fail_are_too_many_though_not_in_a_row(tmp_path: Path) -> None:
    run = play_toy(tmp_path, made=Says("drop the cup"), assignments=["max_invalid=4"])
    end = last(run).end
    assert end is not None
    assert (end.ending, end.steps, end.invalid) == (Ending.INVALID_LIMIT, 4, 4)


def test_words_without_meaning_are_steps_that_fail(tmp_path: Path) -> None:
    words = "{0.__class__} [bold]\ud800 flieg \n davon"
    run = play_toy(tmp_path, made=Says(None, raw=words))
    attempt = last(run)
    assert attempt.end is not None
    assert attempt.end.ending is Ending.FORMAT_ERROR
    step = attempt.steps[0]
    assert step.decide is not None
    assert step.act is not None
    assert step.act.reason is Reason.UNKNOWN_ACTION
    assert step.decide.raw == words.replace("\ud800", "?"), "Half a character can't be kept."


def test_the_only_step_spent_on_words_without_meaning(tmp_path: Path) -> None:
    run = play_toy(tmp_path, made=Says(None), max_steps=1)
    end = last(run).end
    assert end is not None
    assert (end.ending, end.steps) == (Ending.FORMAT_ERROR, 1)


def test_steps_are_limited_by_the_task_or_by_the_run(tmp_path: Path) -> None:
    there_and_back = Walks()
    task = toy_tasks(1)[0].model_copy(update={"max_steps": 6})
    end = last(play_toy(tmp_path / "task", tasks=[task], made=there_and_back)).end
    assert end is not None
    assert (end.ending, end.steps) == (Ending.STEP_LIMIT, 6)
    end = last(play_toy(tmp_path / "run", tasks=[task], made=there_and_back, max_steps=9)).end
    assert end is not None
    assert (end.ending, end.steps) == (Ending.STEP_LIMIT, 9)


class Walks(Agent):
    """To the hall and on, for ever."""

    async def decide(self, view: View) -> Decision:
        room = "kitchen" if view.history and "hall" in view.history[-1].action else "hall"
        return Decision(await view.parse(f"go to the {room}"))


def test_an_agent_that_stops_too_early_has_stopped(tmp_path: Path) -> None:
    attempt = last(play_toy(tmp_path, made=Says(None, stop=True)))
    assert attempt.end is not None
    assert (attempt.end.ending, attempt.end.steps) == (Ending.STOPPED, 0)
    assert [s.act for s in attempt.steps] == [None]


def test_a_fault_of_the_model_is_a_result(tmp_path: Path) -> None:
    run = play_toy(tmp_path, made=Silent(), assignments=["max_faults=0"])
    ends = [episode.end() for episode in run.episodes()]
    assert [end and end.ending for end in ends] == [Ending.MODEL_FAULT] * 3
    assert ends[0] is not None
    assert ends[0].error == "The model is away."


def test_a_fault_of_the_simulator_is_a_result_and_the_next_one_plays(tmp_path: Path) -> None:
    made: list[Toy] = []

    def make() -> Toy:
        made.append(Dying(2) if not made else Toy())
        return made[-1]

    run = play_toy(tmp_path, agent="expert", make=make)
    ends = [episode.end() for episode in run.episodes()]
    assert [end and end.ending for end in ends] == [
        Ending.SIMULATOR_FAULT,
        Ending.SUCCESS,
        Ending.SUCCESS,
    ]
    assert len(made) == 2, "One fresh environment after the fault, and no more."
    first = ends[0]
    assert first is not None
    assert not first.success
    assert first.steps == 2
    assert first.error is not None
    assert "{ouch} [red]" in first.error
    attempt = last(run)
    assert attempt.steps[-1].decide is not None, "The decision was written before it was acted on."
    assert attempt.steps[-1].act is None


def test_a_scene_that_can_not_be_built_is_a_result(tmp_path: Path) -> None:
    good = toy_tasks(1)[0]
    bad = Task(id="{bad}", env="toy", kind="put", goal="?", scene={"room": "cellar"})
    run = play_toy(tmp_path, tasks=[bad, good], agent="expert")
    attempt = last(run)
    assert attempt.end is not None
    assert attempt.end.ending is Ending.SCENE_REFUSED
    assert attempt.end.error is not None
    assert "{bad}" in attempt.end.error
    assert attempt.start.met is None
    end = last(run, 1).end
    assert end is not None
    assert end.success


@pytest.mark.parametrize("choice", list(Choice))
def test_candidates_are_what_the_run_says(tmp_path: Path, choice: Choice) -> None:
    agent = Keeps()
    run = play_toy(tmp_path, made=agent, candidates=choice, max_steps=3)
    attempt, task = last(run), run.tasks[0]
    with Toy() as house:
        house.reset(task, seed=0)
        expected = {
            Choice.VOCABULARY: house.vocabulary,
            Choice.SEEN: house.actions,
            Choice.ORACLE: house.admissible,
        }[choice]()
    assert list(agent.views[0].candidates) == list(expected)
    assert list(attempt.steps[0].candidates) == [a.text for a in expected]
    assert (attempt.start.vocabulary is not None) == (choice is Choice.VOCABULARY)
    if choice is Choice.VOCABULARY:
        assert [s.see.candidates for s in attempt.steps] == [None] * len(attempt.steps)


@pytest.mark.parametrize("sight", list(Sight))
def test_what_an_agent_may_see_changes_no_record(tmp_path: Path, sight: Sight) -> None:
    agent = Keeps()
    tasks = toy_tasks(4)
    run = play_toy(tmp_path, tasks=tasks, made=agent, sight=sight, max_steps=3)
    seen = [view.observation.rgb for view in agent.views[:3]]
    remembered = [step.rgb for step in agent.views[2].history]
    for rgb in (*seen, *remembered):
        if sight is Sight.NONE:
            assert rgb is None
        else:
            assert rgb is not None
            assert rgb.any() == (sight is not Sight.BLANK)
            assert rgb.shape == (96, 96, 3)
    shown = play_toy(tmp_path / "shown", tasks=tasks, made=Keeps(), max_steps=3)
    real = [s.see.digest for s in last(shown).steps]
    assert [s.see.digest for s in last(run).steps] == real
    if sight is Sight.OTHER:
        assert all(rgb is not None and Image(rgb).digest not in real for rgb in seen)


def test_an_agent_replans_when_it_changes_its_mind_after_a_failure(tmp_path: Path) -> None:
    script = "drop the cup; drop the cup; drop the book; flieg; drop the cup; go to the hall"
    task = toy_tasks(1)[0]
    run = play_toy(tmp_path, tasks=[task], agent="scripted", assignments=[f"actions={script}"])
    end = last(run).end
    assert end is not None
    assert end.replans == 2, "To the book, and to the hall: not from or to what means nothing."


def test_only_so_many_pictures_are_remembered(tmp_path: Path) -> None:
    agent = Keeps()
    play_toy(tmp_path, made=agent, assignments=["remember=2", "max_invalid=99"], max_steps=6)
    history = agent.views[5].history
    assert [step.rgb is not None for step in history] == [False, False, False, True, True]
    assert all(step.action for step in history)


class Thinks(Agent):
    """Takes its time, and has the environment do something meanwhile."""

    async def decide(self, view: View) -> Decision:
        await asyncio.sleep(0.02)
        for _ in range(20):
            await view.parse("nonsense")
        return Decision(await view.parse("drop the cup"))


def test_time_is_told_apart(tmp_path: Path) -> None:
    steps = 8
    run = play_toy(
        tmp_path,
        tasks=toy_tasks(1),
        made=Thinks(),
        make=lambda: Toy(ToySettings(delay=0.01)),
        max_steps=steps,
    )
    end = last(run).end
    assert end is not None
    assert end.seconds.model >= 0.02 * steps
    assert end.seconds.simulator >= 0.01 * steps
    assert len(end.overhead_ms) == steps
    told = end.seconds.model + end.seconds.simulator + sum(end.overhead_ms) / 1000
    whole = end.time - last(run).start.time
    assert told < whole + 0.05, "Neither thinking nor acting is overhead."
    for step in last(run).steps[:-1]:
        assert step.decide is not None
        assert step.act is not None
        assert step.decide.seconds >= 0.02
        assert step.act.seconds >= 0.01


def test_time_of_the_simulator_inside_the_model_is_the_simulators() -> None:
    clock = Clock()
    with clock.measure(TimeShare.MODEL):
        begun = time.perf_counter()
        time.sleep(0.02)
        clock.add(TimeShare.SIMULATOR, 0.015)
        spent = time.perf_counter() - begun
    clock.end_step()
    total = clock.total()
    assert total.simulator == 0.015
    assert total.model == pytest.approx(spent - 0.015, abs=2e-3)
    assert clock.overhead_ms[0] < 2


@pytest.mark.parametrize("sight", list(Sight))
def test_every_picture_that_a_model_was_sent_is_kept(tmp_path: Path, sight: Sight) -> None:
    run = play_toy(
        tmp_path,
        tasks=toy_tasks(4),
        agent="rank",
        model="scripted:noise",
        sight=sight,
        assignments=["max_invalid=3"],
    )
    for episode in run.episodes():
        attempt = episode.last()
        assert attempt is not None
        kept = {step.see.digest for step in attempt.steps}
        kept |= {file.stem for file in (episode.folder / "images").glob("*.jpg")}
        sent = {
            part["image"]
            for step in attempt.steps
            if step.decide is not None
            for call in step.decide.calls
            for message in call.messages
            for part in message["content"]  # type: ignore[union-attr]
            if "image" in part  # type: ignore[operator]
        }
        assert sent <= kept
        assert bool(sent) == (sight is not Sight.NONE)
        assert attempt.end is not None
        assert attempt.end.tokens.read > 0


class Dumb(Toy):
    """A simulator that dies when it is asked the second question, or is copied the second time."""

    def __init__(self) -> None:
        super().__init__()
        self._asked = 0

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
        self._die_later()
        return super().call(name, arguments)

    def fork(self) -> Toy:
        copy = Dumb()
        copy._house, copy._goal, copy._seen = self._house, self._goal, self._seen
        copy._asked = self._asked
        self._die_later()
        return copy

    def _die_later(self) -> None:
        self._asked += 1
        if self._asked > 1:
            raise SimulatorError("The toy has fallen silent.")


SCRIPT = {
    "abilities": ["rank"],
    "answers": [
        {"when": "object_detection", "say": "list_items_in_hands()"},
        {"when": "", "say": "object_detection()"},
    ],
}


@pytest.mark.parametrize(
    ("agent", "options"),
    [("holmes", {}), ("beam", {"grants": [Grant.LOOKAHEAD], "assignments": ["plan=true"]})],
    ids=str,
)
def test_what_was_paid_before_the_simulator_failed_is_on_record(
    tmp_path: Path, agent: str, options: dict[str, Any]
) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps(SCRIPT))
    run = play_toy(
        tmp_path / "run",
        agent=agent,
        tasks=toy_tasks(1),
        make=Dumb,
        model=f"scripted:{script}",
        **options,
    )
    attempt = last(run)
    assert attempt.end is not None
    assert attempt.end.ending is Ending.SIMULATOR_FAULT
    assert "silent" in str(attempt.end.error)
    decide = attempt.steps[0].decide
    assert decide is not None
    assert (decide.action, decide.stop) == (None, False)
    assert decide.calls
    assert attempt.end.tokens.read == sum(call.tokens_in for call in decide.calls) > 0
