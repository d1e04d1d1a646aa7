"""What is known at one step of an episode: objects, plan, and the object that the answer means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from inhabit.agents.core import Decision
from inhabit.eie.examples.context import StepContext, SynthesisEnv, TakenStep
from inhabit.eie.examples.topology import kind_of
from inhabit.envs.core import (
    Action,
    Env,
    Expert,
    Factual,
    Forkable,
    Observation,
    Privileged,
    SceneObject,
    UnavailableError,
)
from inhabit.envs.template import ActionKind, Template
from inhabit.episodes.episode import Episode

_TURNS = 3
"""Quarter turns, after which one has looked all around."""


def turns_to_target(
    episode: Episode, context: StepContext, template: Template, vocabulary: Sequence[Action]
) -> Sequence[Action]:
    """The turns after which the answer's object is in view; empty if none are needed or help."""
    looks = [
        a for a in vocabulary if template.action_kind(a) is ActionKind.LOOK and not a.arguments
    ]
    target = context.target(context.answer)
    going = template.action_kind(context.answer) is ActionKind.GO
    if not looks or not going or target is None or target.pixels:
        return ()
    if not isinstance(episode.env, Forkable):
        return ()
    with episode.fork() as copy:
        assert isinstance(copy.env, SynthesisEnv)
        for count in range(1, _TURNS + 1):
            if copy.act(Decision(looks[0])).reason is not None:
                return ()
            seen = replace(context, things=tuple(copy.env.things()))
            target = seen.target(context.answer)
            if target is not None and target.pixels:
                return looks[:1] * count
    return ()


def with_target(
    context: StepContext, action_kind: ActionKind, after: Sequence[SceneObject]
) -> StepContext:
    """The context, with the object that its answer turned out to mean.

    Args:
        context: before the action.
        action_kind: what the action comes to.
        after: every thing once it has succeeded.
    """
    name = context.about(context.answer)
    if any(thing.name == name for thing in context.things):
        return replace(context, target_name=name)
    earlier = {thing.name: thing for thing in context.alike(name)}
    alike = [thing for thing in after if thing.name in earlier]
    if action_kind is ActionKind.GO:
        nearest = max(alike, key=lambda t: t.pixels - earlier[t.name].pixels, default=None)
        return replace(context, target_name=nearest.name if nearest is not None else None)
    if action_kind is ActionKind.PUT:
        held = {thing.name for thing in context.held}
        places = [t.support for t in after if t.name in held and t.support in earlier]
        return replace(context, target_name=places[0] if places else None)
    changed = [
        now
        for now in alike
        if now.states != (was := earlier[now.name]).states or now.held != was.held
    ]
    gone = [t for n, t in earlier.items() if all(n != other.name for other in after)]
    found = changed or gone  # What was cut up is no more.
    return replace(context, target_name=found[0].name if found else None)


def context_of(
    env: Env, done: Sequence[TakenStep], plan: Sequence[Action] | None = None
) -> StepContext | None:
    """The present one; None if there is nothing left to do, or no way to do it.

    Its observation is empty where the environment can be copied: drawing an image is slow, and a
    copy can be observed later.

    Raises:
        UnavailableError: the environment lacks a capability that EIE needs.
    """
    if not isinstance(env, SynthesisEnv):
        needed = (Expert, Factual, Privileged)
        lacking = [one.__name__ for one in needed if not isinstance(env, one)]
        raise UnavailableError(
            f"No examples can be made with {type(env).__name__}: it is not {' or '.join(lacking)}. "
            "inhabit.envs.core says which methods these are."
        )
    plan = env.plan() if plan is None else plan
    if not plan:
        return None
    things = tuple(env.things())
    said = tuple(plainly(action, things, env) for action in plan)
    observation = Observation("") if isinstance(env, Forkable) else env.observe()
    return StepContext(observation, things, tuple(done), said)


def plainly(action: Action, things: Sequence[SceneObject], env: Env) -> Action:
    """`action` without numbers where there is one of a kind: "open the fridge"."""
    text = action.text
    for name in action.arguments:
        alike = [t for t in things if kind_of(t.name) == kind_of(name)]
        if len(alike) == 1:
            text = text.replace(name, kind_of(name))
    if text == action.text:
        return action
    said = env.parse(text)
    return said if said is not None and said.verb == action.verb else action
