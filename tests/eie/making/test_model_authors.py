"""A model as the author of a set: what it may answer, and what it is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from in_process import inhabit

from inhabit.eie.examples.example import Rejection
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


def read_by(out: Path, goal: str, reading: str) -> tuple[AttemptLine, str]:
    """The attempt with a goal that a second model says again, and what that one was asked."""
    asked: list[str] = []

    def read(request: dict[str, Any], number: int) -> Answer:
        asked.append(request["messages"][-1]["content"])
        return good(reading)

    with (
        endpoint(lambda request, number: good(json.dumps(RIGHT | {"goal": goal}))) as author,
        endpoint(read) as reader,
    ):
        models = ("--author", "openai:m", "--reader", "openai:r", "--base-url", author.base_url)
        more = (f"reader.base_url={reader.base_url}", "attempts=1", "in_process=true")
        sets = (word for one in (*more, "candidates=2") for word in ("--set", one))
        done = inhabit("synth", "toy", *models, "--n", "99", "--out", str(out), *sets)
        assert done.returncode == 0, done.stderr
    (attempt,) = SetFolder.open(out).attempts()
    return attempt, asked[0]


def test_a_second_model_reads_the_goal_and_knows_nothing_of_the_scene(tmp_path: Path) -> None:
    odd = "My novel deserves a home in the chest, wouldn't you say?"
    read = "<think>A book.</think>Put the book in\nthe chest"
    attempt, asked = read_by(tmp_path / "odd", odd, read)
    assert attempt.kept and attempt.reading == "Put the book in the chest"
    assert odd in asked and "put the" in asked and "kitchen" not in asked
    attempt, _ = read_by(tmp_path / "other", str(RIGHT["goal"]), "Put the book on the shelf")
    assert not attempt.kept
    assert "It was read as 'Put the book on the shelf'." in attempt.rejected[0].sentence


def test_a_reader_needs_an_author_whose_goals_it_reads(tmp_path: Path) -> None:
    done = inhabit("synth", "toy", "--n", "1", "--reader", "openai:r", "--out", str(tmp_path / "a"))
    assert done.returncode == 2 and "name one by --author KIND:NAME" in done.stderr
