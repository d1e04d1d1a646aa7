"""What an export teaches is, byte for byte, what the agent is asked in a run."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import inhabit
from inhabit.agents.models.scripted import Script, ScriptedModel
from inhabit.agents.planners.chat import Chat, ChatSettings
from inhabit.cli import main
from inhabit.eie.examples.example import Example
from inhabit.eie.examples.view import facts_of
from inhabit.eie.tuning.samples import Sample, Wording
from inhabit.eie.tuning.settings import TuneSettings
from inhabit.envs.core import Task
from inhabit.episodes.recording.reader import Run
from tests.agents.models.endpoints.endpoint import Answer, endpoint, good

FASTEST = {"toy": (), "alfred": ("--set", "wire=none")}
PICTURE = "(picture)"


def call(*words: object) -> None:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    assert left.value.code == 0


def sent(messages: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    """Role and parts of each message of a request, with a word for each image."""
    return [
        (one["role"], [one["content"]] if isinstance(one["content"], str) else [
            part["text"] if part["type"] == "text" else PICTURE for part in one["content"]
        ])
        for one in messages
    ]  # fmt: skip


def taught(row: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """The same of a row; the last message is the answer."""
    messages = [
        (one["role"], [p["text"] if p["type"] == "text" else PICTURE for p in one["content"]])
        for one in row["messages"]
    ]
    shown = sum(part == PICTURE for _, parts in messages for part in parts)
    assert shown == len(row["images"])
    return messages


def rows(source: Path, form: str, *more: str) -> list[dict[str, Any]]:
    out = source.parent / f"{source.name} {form} {' '.join(more)}"
    call("export", source, "--format", form, "--out", out, *more)
    return [
        row
        for file in sorted(out.glob("data/*.parquet"))
        for row in pq.read_table(file).to_pylist()
    ]


@pytest.mark.parametrize("reason", [True, False])
@pytest.mark.parametrize("env", ["toy", pytest.param("alfred", marks=pytest.mark.slow)])
def test_a_row_of_a_run_is_what_chat_was_asked(env: str, reason: bool, tmp_path: Path) -> None:
    with inhabit.open(env) as session:
        plan = session.plan()
        wrong = [text for text in session.candidates() if _fails(session, text)][:1]
    said = [plan[0], *wrong, *plan[1:]]

    def brain(request: dict[str, Any], number: int) -> Answer:
        parts = {"description": "It is {here}.", "reasoning": 'So "that".', "action": said[number]}
        return good(json.dumps(parts) if reason else said[number])

    with endpoint(brain) as serving:
        call(
            *("run", env, "--agent", "chat", "--n", 1, "--out", tmp_path / "run"),
            *("--model", "openai:test", "--base-url", serving.base_url),
            *("--set", "in_process=true", "--set", f"reason={str(reason).lower()}"),
            *FASTEST[env],
        )
        asked = [sent(request["messages"]) for request in serving.requests]
    found = [taught(row) for row in rows(tmp_path / "run", "messages")]
    assert [one[:-1] for one in found] == [asked[0], *asked[1 + len(wrong) :]], (
        "All but one that failed."
    )
    action = [answer for *_, (_, (answer,)) in found]
    if reason:
        action = [json.loads(answer)["action"] for answer in action]
    assert action == plan


def _fails(session: inhabit.Session, text: str) -> bool:
    with session.fork() as copy:
        copy.act(session.plan()[0])
        return copy.act(text).reason is not None


def test_a_row_of_a_set_is_what_chat_is_asked_at_that_moment(tmp_path: Path) -> None:
    call("synth", "toy", "--n", 8, "--seed", 3, "--out", tmp_path / "set",
         "--set", "in_process=true", "--set", "trajectories=0.5")  # fmt: skip
    lines = (tmp_path / "set" / "examples.jsonl").read_text().splitlines()
    examples = {one.id: one for one in map(Example.model_validate_json, lines)}
    found = rows(tmp_path / "set", "messages", "--pictures", "4")
    compared = 0
    for row in found:
        example = examples[row["id"]]
        made = example.lineage
        told = [past.action for past in example.history]
        since = list(made.actions[len(made.actions) - len(told) :])
        # A film has a question of its own, and twins tell less of what was done.
        if example.kind == "recognition" or since != told:
            continue
        with inhabit.open("toy", Task.model_validate(made.task), seed=made.seed) as session:
            for action in made.actions:
                session.act(action)
            view = session.view("vocabulary")
        own = [a for text in example.candidates for a in view.candidates if a.text == text]
        settings = ChatSettings(pictures=4)
        agent = Chat(ScriptedModel(Script(replies=("stop",))), settings, sees=True)
        history = view.history[len(view.history) - len(told) :]
        # A set leaves out of the text what the image shows.
        seen = replace(view.observation, text=example.text)
        shown = replace(
            view, goal=example.goal, observation=seen, candidates=tuple(own), history=history
        )
        decision = asyncio.run(agent.decide_with_facts(shown, facts_of(example)))
        asked = [
            (m["role"], [part.get("text", PICTURE) for part in m["content"]])
            for m in decision.calls[0].messages
        ]
        assert taught(row)[:-1] == asked
        compared += 1
    assert compared > 5


def test_a_trajectory_is_what_rank_was_asked(tmp_path: Path) -> None:
    whole = ("--set", "history=whole", "--set", "pictures=99", "--max-steps", 5)
    words = ("--model", "scripted:noise", "--set", "in_process=true", "--n", 2)
    call("run", "toy", "--agent", "rank", *words, *whole, "--out", tmp_path / "run")
    found = rows(tmp_path / "run", "trajectories")
    for row, episode in zip(found, Run.open(tmp_path / "run").episodes(), strict=True):
        messages = taught(row)
        steps = [step for step in episode.last().steps if step.decide]
        assert len(messages) == 1 + 2 * len(steps) > 4
        for number, step in enumerate(steps):
            asked = [
                (m["role"], [part.get("text", PICTURE) for part in m["content"]])
                for m in step.decide.calls[0].messages
            ]
            assert messages[: 2 + 2 * number] == asked
            assert messages[2 + 2 * number] == ("assistant", [step.decide.action])


def test_what_only_the_question_tells_is_told() -> None:
    example = Example(
        id="a", env="toy", split="train", image="images/a.png", image_digest="a", reason="So.",
        goal="Heat the cup.", text="You hold a cup.", candidates=("a", "b"), answer=0,
        key_concepts=("cup",), question="Heat the cup. You hold a cup. It was washed. What now?",
    )  # fmt: skip
    assert facts_of(example) == ("It was washed.",)
    failed = {"kind": "recovery", "question": "Heat the cup. You hold a cup. You tried. What now?"}
    assert facts_of(example.model_copy(update=failed)) == ("You tried.",)


def test_what_was_tried_in_vain_is_tuned_on(tmp_path: Path) -> None:
    example = Example(
        id="a", env="toy", split="train", image="images/a.png", image_digest="a", reason="So.",
        goal="Heat the cup.", text="You hold a cup.", candidates=("a", "b"), answer=0,
        kind="recovery", key_concepts=("cup",),
        question="Heat the cup. You hold a cup. You tried it. What now?",
    )  # fmt: skip
    *_, user = Wording(TuneSettings(), sees=False).messages(Sample(tmp_path, example))
    assert "Now: You hold a cup. You tried it." in "".join(map(str, user.parts))
