"""Examples from recorded episodes: which are taken, and how they are told."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from inhabit.agents.dialogue.few_shot import Examples, FewShotExample
from inhabit.agents.models.scripted import Script, ScriptedModel
from inhabit.agents.registry import find
from inhabit.cli import main
from inhabit.envs.core import TaskError
from tests.agents.views import view


def goals(*texts: str) -> Examples:
    return Examples([FewShotExample(text, ("go",)) for text in texts])


def test_goals_that_share_rare_words_are_the_nearest() -> None:
    examples = goals(
        "Put the cup in the fridge.",
        "Put the ball in the chest.",
        "Put the book in the fridge.",
        "Examine the book by the light of the lamp.",
    )

    def nearest(goal: str, count: int = 1) -> list[str]:
        return [e.goal for e in examples.nearest(goal, count)]

    assert nearest("I want the BALL in the fridge.") == ["Put the ball in the chest."]
    assert nearest("Look at the lamp") == ["Examine the book by the light of the lamp."]
    assert nearest("Put the book in the fridge.", 2)[0] == "Put the book in the fridge."
    assert nearest("", 2) == ["Put the cup in the fridge.", "Put the ball in the chest."]
    assert nearest("Brew tea.", 9) == nearest("", 9)
    assert Examples(()).nearest("Put the cup away.", 3) == ()


@pytest.fixture(scope="module")
def expert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("expert") / "run"
    words = ["run", "toy", "--agent", "expert", "--n", "6", "--seed", "4", "--out", str(folder)]
    with pytest.raises(SystemExit):
        main([*words, "--set", "in_process=true"])
    return folder


def test_a_run_that_went_well_is_told_as_examples(expert: Path) -> None:
    said = Script(abilities=frozenset(), replies=['{"action": "stop"}'])
    planner = find("chat")
    settings = planner.settings(image=False, examples=expert, shots=1)
    agent = planner.make(settings, ScriptedModel(said))
    goal = "Please put the apple in the chest."
    decision = asyncio.run(agent.decide(view("go to the hall", goal=goal)))
    told = decision.calls[0].messages[-1]["content"][0]["text"]
    (example,) = Examples.read(expert).nearest(goal, 1)
    assert example.actions
    listed = "".join(f"{i}. {action}\n" for i, action in enumerate(example.actions, start=1))
    assert told.startswith(
        f"Another goal, and how it was reached: {example.goal}\n{listed}\nGoal: {goal}\n"
    )


def test_what_had_no_effect_and_who_had_no_success_are_no_example(tmp_path: Path) -> None:
    start = '{"kind": "start", "task": {"goal": "G"}}\n'
    steps = '{"kind": "decide", "action": "a"}\n{"kind": "act", "reason": "closed"}\n'
    steps += '{"kind": "decide", "action": "b"}\n{"kind": "act", "reason": null}\n'
    won, lost = '{"kind": "end", "success": true}\n', '{"kind": "end", "success": false}\n'
    written = {
        "0": start + steps + won,
        "1": start + steps + lost,
        "2": start + steps,
        "3": start + steps + start + steps + won,
        "4": start + steps + won + '{"kind": "sta',
    }
    for name, text in written.items():
        (tmp_path / "episodes" / name).mkdir(parents=True)
        (tmp_path / "episodes" / name / "episode.jsonl").write_text(text)
    assert Examples.read(tmp_path).nearest("G", 9) == (FewShotExample("G", ("b",)),) * 3


def test_a_folder_without_examples(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="has no episode that succeeded"):
        Examples.read(tmp_path / "{nowhere}")
    (tmp_path / "episodes" / "0").mkdir(parents=True)
    (tmp_path / "episodes" / "0" / "episode.jsonl").write_text("{no json}\n")
    with pytest.raises(TaskError, match="can't be read for examples"):
        Examples.read(tmp_path)


def test_examples_may_be_written_by_hand(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"goal": "Cool a {cup}.", "actions": ["open the fridge", "wait"]}\n\n')
    assert Examples.read(file).nearest("Cool it.", 1) == (
        FewShotExample("Cool a {cup}.", ("open the fridge", "wait")),
    )
    file.write_text('\ufeff{"goal": "Look\u2028here.", "actions": ["wait"]}\n', encoding="utf-8")
    assert Examples.read(file).nearest("", 1)[0].goal == "Look\u2028here."
    file.write_text('{"goal": "a", "actions": ["b"]}\n{"goal": "c"}\n')
    with pytest.raises(TaskError, match=r"line 2, is no example: .*actions"):
        Examples.read(file)
    file.write_text("\n")
    with pytest.raises(TaskError, match="holds no example"):
        Examples.read(file)
