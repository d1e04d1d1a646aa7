"""Authors that break a task into parts: what they propose is checked before it is believed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from inhabit.eie.examples.draft import Draft, Piece
from inhabit.eie.examples.example import Refused, Rejection
from inhabit.eie.examples.settings import SynthSettings
from inhabit.eie.making.author import AuthorReply, AuthorRequest, Procedural
from inhabit.eie.making.pipeline import Pipeline
from inhabit.envs.core import Task
from inhabit.envs.registry import find
from inhabit.envs.template import Template
from inhabit.envs.toy.env import Toy
from inhabit.envs.toy.house import ToySettings

Events = list[dict[str, Any]]


@pytest.fixture(scope="module")
def template() -> Template:
    made = find("toy").template
    assert made is not None
    return made(ToySettings())


@pytest.fixture
def env() -> Iterator[Toy]:
    with Toy() as made:
        yield made


def answered(template: Template, change: Callable[[Events], Events]) -> AuthorReply:
    """A task of the built-in author, and its events as that author could have said them."""
    author = Procedural("toy", template)
    for number in range(50):
        answer = asyncio.run(author.propose(AuthorRequest(number, 3)))
        raw: Any = answer.raw
        task = Task(
            id=answer.name, env="toy", kind="", goal=raw["goal"], scene=raw["scene"], max_steps=50
        )
        events = [
            {
                "name": f"my {event.name}",
                "wish": event.wish,
                "deed": event.action_kind.value,
                "thing": event.thing,
                "needs": [f"my {need}" for need in event.needs],
            }
            for event in template.events(task)
        ]
        if len(events) > 1 and any(event["needs"] for event in events):
            return AuthorReply({**raw, "events": change(events)}, answer.name)
    raise AssertionError("No task falls into parts.")


def pieces(
    env: Toy, template: Template, change: Callable[[Events], Events], seed: int = 3
) -> list[Piece]:
    answer = answered(template, change)
    made = Pipeline("toy", template, SynthSettings(), seed)
    return list(made.pieces(env, answer, "written", 0))


def test_an_authors_parts_are_what_examples_belong_to(env: Toy, template: Template) -> None:
    every = [p for seed in range(6) for p in pieces(env, template, lambda events: events, seed)]
    made = [piece for piece in every if isinstance(piece, Draft)]
    named = {draft.example.lineage.event for draft in made if draft.example.lineage is not None}
    assert named - {""}
    assert all(name.startswith("my ") for name in named - {""})


def in_a_circle(events: Events) -> Events:
    return [{**e, "needs": [other["name"] for other in events if other is not e]} for e in events]


def backwards(events: Events) -> Events:
    copy, put, *others = events
    return [{**copy, "needs": [put["name"]]}, {**put, "needs": []}, *others]


def of_nothing(events: Events) -> Events:
    return [{**events[0], "wish": "take the unicorn"}, *events[1:]]


def too_many(events: Events) -> Events:
    place = events[1]["thing"]
    more = {**events[0], "name": "one more", "wish": f"take the {place}", "thing": place}
    return [*events, more]


def of_something_else(events: Events) -> Events:
    place = events[1]["thing"]
    return [{**events[0], "thing": place}, *events[1:]]


def of_no_action_kind(events: Events) -> Events:
    return [{**events[0], "deed": "teleport"}, *events[1:]]


def telling_more(events: Events) -> Events:
    return [{**events[0], "done": "The unicorn has been fed."}, *events[1:]]


def needing_what_is_not(events: Events) -> Events:
    return [{**events[0], "needs": ["luck"]}, *events[1:]]


@pytest.mark.parametrize(
    ("change", "reason", "said"),
    [
        (in_a_circle, Rejection.SCHEMA, "wait for one another"),
        (backwards, Rejection.CONTRADICTION, "does not come about"),
        (of_nothing, Rejection.CONTRADICTION, "unicorn"),
        (too_many, Rejection.CONTRADICTION, "'one more'"),
        (of_something_else, Rejection.CONTRADICTION, "does not speak of"),
        (of_no_action_kind, Rejection.SCHEMA, "deed"),
        (telling_more, Rejection.SCHEMA, "done"),
        (needing_what_is_not, Rejection.SCHEMA, "'luck'"),
    ],
)
def test_wrong_parts_are_rejected(
    env: Toy,
    template: Template,
    change: Callable[[Events], Events],
    reason: Rejection,
    said: str,
) -> None:
    (only,) = pieces(env, template, change)
    assert isinstance(only, Refused)
    assert only.rejection is reason
    assert said in only.sentence
