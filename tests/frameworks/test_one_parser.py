"""A reply means the same to a trainer as to the agent `chat` in a run."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import inhabit
from inhabit.agents.models.core import Ability
from inhabit.agents.models.scripted import Script, ScriptedModel
from inhabit.agents.planners.chat import Chat, ChatSettings
from inhabit.api.session import Session
from inhabit.frameworks.factory import rollouts
from inhabit.frameworks.trl import environment_class
from inhabit.frameworks.vagen import VagenEnv
from inhabit.frameworks.verl_agent import EnvironmentManager

SOLVES = "go to the kitchen"
REPLIES = (
    SOLVES,
    "Go to the kitchen.",
    "GO TO THE KITCHEN",
    "  go   to the   kitchen \n",
    "walk to the kitchen",
    "head into the kitchen now",
    "I will go to the kitchen.",
    "1. go to the kitchen",
    "- go to the kitchen",
    "**go to the kitchen**",
    "`go to the kitchen`",
    "```\ngo to the kitchen\n```",
    "Action: go to the kitchen",
    "action: Go to the kitchen!",
    "### Action:\ngo to the kitchen",
    "Reasoning: The book is there.\nAction: go to the kitchen",
    "<think>The hall? No.</think>go to the kitchen",
    "<think>look around</think>\n<answer>go to the kitchen</answer>",
    "no start of a thought</think><action>go to the kitchen</action>",
    "<answer>look around</answer> No: <answer>go to the kitchen",
    "<Answer>go to the kitchen</Answer>",
    "<action>go to the kitchen|look around</action>",
    '{"description": "A hall.", "reasoning": "It is there.", "action": "go to the kitchen"}',
    'Well. ```json\n{"action": "go to the kitchen",}\n``` That is all.',
    '{"actions": ["go to the kitchen", "look around"]}',
    '{"action": ["go to the kitchen"], "action": "go to the kitchen"',
    "stop",
    "STOP",
    '{"action": "Stop."}',
    "<answer>done</answer>",
    "",
    "   ",
    "???",
    "<answer></answer>",
    "I could look around.\nOr I could go to the kitchen.",
    "fly to the moon",
    "<think>go to the kitchen",
    '{"action": null}',
    '{"thought": "go to the kitchen"}',
    "open everything",
)


@functools.cache
def _said_by_chat(reply: str) -> tuple[str | None, bool]:
    """The action of the agent `chat`, and whether it stops."""
    script = Script(abilities={Ability.WORDS}, replies=(reply,))
    agent = Chat(ScriptedModel(script), ChatSettings(repairs=0, image=False), sees=False)
    with inhabit.open("toy") as session:
        decision = asyncio.run(agent.decide(session.view()))
    return (decision.action.text if decision.action else None), decision.stop


Door = Callable[[str], None]


@contextmanager
def _rollout() -> Iterator[tuple[Session, Door]]:
    with rollouts("toy", 1).open() as rollout:
        rollout.reset(0)
        yield rollout.session, rollout.act


@contextmanager
def _vagen() -> Iterator[tuple[Session, Door]]:
    env = VagenEnv({"env": "toy", "n": 1})
    asyncio.run(env.reset(0))
    yield env._rollout.session, lambda reply: asyncio.run(env.step(reply))
    asyncio.run(env.close())


@contextmanager
def _verl_agent() -> Iterator[tuple[Session, Door]]:
    manager = EnvironmentManager(rollouts("toy", 1), groups=1)
    manager.reset()
    yield manager._rollouts[0].session, lambda reply: manager.step([reply])
    manager.close()


@contextmanager
def _trl() -> Iterator[tuple[Session, Door]]:
    env = environment_class(rollouts("toy", 1))()
    env.reset(task=0)
    yield env._rollout.session, env.act
    env._rollout.close()


@pytest.mark.parametrize("door", [_rollout, _vagen, _verl_agent, _trl])
def test_the_same_reply_is_the_same_action_in_training_and_in_a_run(door: Any) -> None:
    found, expected = {}, {}
    for reply in REPLIES:
        with door() as (session, act):
            vocabulary = {action.text for action in session.env.vocabulary()}
            act(reply)
            done = [step.action for step in session.history if step.action in vocabulary]
            stopped = not session.history
        found[reply] = (done[0] if done else None), stopped
        expected[reply] = _said_by_chat(reply)
    assert found == expected
    assert sum(action == SOLVES for action, _ in found.values()) >= 24
    assert sum(stopped for _, stopped in found.values()) == 4


def test_several_actions_are_carried_out_until_one_has_no_effect() -> None:
    with rollouts("toy", 1, penalty=0.5).open() as rollout:
        rollout.reset(0)
        turn = rollout.act(f"<answer>{SOLVES}|dance|look around</answer>", most=3)
        assert [step.action for step in rollout.session.history] == [SOLVES, "dance"]
        assert (turn.steps, turn.reason, turn.reward) == (2, "unknown_action", -0.5)
