"""A model as the author of a set: what it may answer, and what it is told."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from in_process import inhabit

from inhabit.agents.models.registry import load
from inhabit.eie.examples.example import Rejection
from inhabit.eie.making.llm_author import Chooser
from inhabit.eie.sets.folder import AttemptLine, SetFolder
from tests.agents.models.endpoints.endpoint import Answer, endpoint, good

SCENE = {
    "room": "kitchen",
    "items": {"apple": "kitchen", "ball": "kitchen", "book": "hall", "cup": "hall"},
    "inside": {"book": "chest"},
}
RIGHT = {"goal": "Put the book in the chest.", "scene": SCENE}


def ask(out: Path, answers: list[str]) -> tuple[list[AttemptLine], list[dict[str, Any]]]:
    """The attempts with these answers, each said twice if it fails, and the requests."""
    said: list[str] = []
    ahead = iter(answers)

    def brain(request: dict[str, Any], number: int) -> Answer:
        if len(request["messages"]) == 2:  # It is not asked to write the last one again.
            said.append(next(ahead))
        return good(said[-1])

    with endpoint(brain) as server:
        words = (
            "--author",
            "openai:m",
            "--base-url",
            server.base_url,
            "--n",
            "99",
            "--out",
            str(out),
        )
        more = (f"attempts={len(answers)}", "in_process=true", "candidates=2")
        sets = (word for one in more for word in ("--set", one))
        done = inhabit("synth", "toy", *words, *sets)
        assert done.returncode == 0, done.stderr
        return list(SetFolder.open(out).attempts()), list(server.requests)


def test_an_answer_without_end_is_rejected_and_the_set_goes_on(tmp_path: Path) -> None:
    endless = ['{"goal": "Put it away", "scene": ' + '{"a": [' * 500, '{"a":' * 3000 + "}" * 3000]
    attempts, _ = ask(tmp_path / "set", [*endless, json.dumps(RIGHT)])
    assert [[r.rejection for r in a.rejected] for a in attempts[:2]] == [[Rejection.SCHEMA] * 2] * 2
    assert attempts[2].kept
    assert "object with named fields" in attempts[0].rejected[0].sentence


def test_json_among_words_and_braces_is_read(tmp_path: Path) -> None:
    said = f"Here it is:\n```json\n{json.dumps(RIGHT, indent=1)}\n```\nA nice task {{I hope}}!"
    (attempt,), _ = ask(tmp_path / "set", [said])
    assert attempt.kept


def test_markup_and_control_characters_are_no_words(tmp_path: Path) -> None:
    goals = [
        "Put the book in the chest <script>alert(1)</script>.",
        "**Put the book in the chest.**",
        "\u202ePut the book in the chest.\x1b[31m",
        "Put the book\nin the chest.",
    ]
    attempts, _ = ask(tmp_path / "set", [json.dumps(RIGHT | {"goal": goal}) for goal in goals])
    assert {r.rejection for a in attempts for r in a.rejected} == {Rejection.MEANING}
    assert "'<' is no part of plain words" in attempts[0].rejected[0].sentence


def test_a_rejected_answer_is_shown_to_its_author_as_json(tmp_path: Path) -> None:
    wrong = RIGHT | {"scene": SCENE | {"room": None}}
    _, requests = ask(tmp_path / "set", [json.dumps(wrong)])
    assert json.loads(requests[1]["messages"][2]["content"]) == wrong


def read_by(
    out: Path, goals: Sequence[str], *said: Answer | str
) -> tuple[AttemptLine, Sequence[str]]:
    """The attempt with goals that a second model reads, and what that one was asked.

    Of each list the last one is repeated.
    """
    asked: list[str] = []

    def write(request: dict[str, Any], number: int) -> Answer:
        return good(json.dumps(RIGHT | {"goal": goals[min(number, len(goals) - 1)]}))

    def read(request: dict[str, Any], number: int) -> Answer:
        asked.append(request["messages"][-1]["content"])
        answer = said[min(number, len(said) - 1)]
        return good(answer) if isinstance(answer, str) else answer

    with endpoint(write) as author, endpoint(read) as reader:
        models = ("--author", "openai:m", "--reader", "openai:r", "--base-url", author.base_url)
        more = (f"reader.base_url={reader.base_url}", "attempts=1", "in_process=true")
        sets = (word for one in (*more, "candidates=2") for word in ("--set", one))
        done = inhabit("synth", "toy", *models, "--n", "99", "--json", "--out", str(out), *sets)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["reader"] == "openai:r"
    (attempt,) = SetFolder.open(out).attempts()
    return attempt, asked


ODD = "My novel deserves a home in the chest, wouldn't you say?"
READ = "Put the book in the chest"


def test_a_second_model_reads_the_goal_and_knows_nothing_of_the_scene(tmp_path: Path) -> None:
    attempt, asked = read_by(tmp_path / "odd", [ODD], f"<think>A book.</think>{READ}", "No.")
    assert attempt.kept and attempt.reading == READ
    assert ODD in asked[0] and "put the" in asked[0] and "kitchen" not in asked[0]
    goal = str(RIGHT["goal"])
    attempt, asked = read_by(tmp_path / "other", [goal], "Put the book on the shelf")
    assert not attempt.kept and len(asked) == 2
    why = f"The goal {goal!r} was read as 'Put the book on the shelf'."
    assert why in attempt.rejected[0].sentence


def test_a_reader_is_asked_what_became_of_a_not(tmp_path: Path) -> None:
    goal = "Never put the book in the chest."
    attempt, asked = read_by(tmp_path / "never", [goal], READ, "Yes, it is forbidden.", READ, "Yes")
    assert not attempt.kept and attempt.reading == READ
    why = "Its reader says that 'Put the book in the chest' leaves something of the goal out."
    assert attempt.rejected[0].rejection is Rejection.MEANING
    assert attempt.rejected[0].sentence == why
    assert goal in asked[1] and READ in asked[1]


def test_a_reader_is_asked_to_do_without_words_that_no_scene_explains(tmp_path: Path) -> None:
    attempt, asked = read_by(tmp_path / "well", [ODD], f"{READ} as heirloom", READ, "No.")
    assert attempt.kept and attempt.reading == READ
    assert '"as", "heirloom"' in asked[1] and READ in asked[2] and ODD in asked[2]
    attempt, _ = read_by(tmp_path / "lost", [ODD], f"{READ} backwards", READ, "Yes.")
    assert not attempt.kept and "leaves something of the goal out" in attempt.rejected[0].sentence


def test_what_was_answered_stays_on_record_when_the_reader_falls_silent(tmp_path: Path) -> None:
    attempt, _ = read_by(tmp_path / "silent", [str(RIGHT["goal"])], "Put the book on the shelf", "")
    assert attempt.task == "toy-0-0" and not attempt.reading
    assert [r.rejection for r in attempt.rejected] == [Rejection.MEANING, Rejection.NO_ANSWER]
    assert "was read as 'Put the book on the shelf'" in attempt.rejected[0].sentence
    assert attempt.tokens["in"] > 0


@pytest.mark.parametrize("word", ["beat", "issue", "5", "backflip"])
def test_plain_steps_have_no_word_that_the_scene_does_not_explain(
    tmp_path: Path, word: str
) -> None:
    odd = f"{READ} and {word}"
    attempt, _ = read_by(tmp_path / "odd", [str(RIGHT["goal"])], odd, odd, "No.", odd)
    assert not attempt.kept and f"The goal says '{word}'" in attempt.rejected[0].sentence


def test_a_reader_needs_an_author_whose_goals_it_reads(tmp_path: Path) -> None:
    done = inhabit("synth", "toy", "--n", "1", "--reader", "openai:r", "--out", str(tmp_path / "a"))
    assert done.returncode == 2 and "name one by --author KIND:NAME" in done.stderr


def test_a_model_that_ranks_fills_arrays_of_a_given_length() -> None:
    corner = {"prefixItems": [{"enum": [name]} for name in "xyz"], "minItems": 3, "maxItems": 3}
    arrays = {"corner": corner, "one": {"items": {"enum": ["a"]}, "minItems": 1, "maxItems": 1}}
    schema = {
        "type": "object",
        "properties": {name: {"type": "array", **one} for name, one in arrays.items()},
        "required": [*arrays],
    }
    for seed in range(5):
        chooser = Chooser(load("scripted:first"), [], random.Random(seed))
        assert asyncio.run(chooser.fill(schema)) == {"corner": ["x", "y", "z"], "one": ["a"]}
