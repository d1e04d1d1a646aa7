"""The events of a task: those of the environment's template, or of its author."""

from __future__ import annotations

from collections.abc import Sequence

from inhabit.eie.examples.checks import check_goal
from inhabit.eie.examples.draft import Origin, ProposedEvent, RejectedError
from inhabit.eie.examples.example import Rejection
from inhabit.eie.examples.topology import Topology, TopologyError
from inhabit.envs.core import Action, SceneObject
from inhabit.envs.template import Event, Template


def events_of(origin: Origin, template: Template) -> Sequence[Event]:
    """The author's events, unchecked, if it proposed some; else the template's.

    What is wished of an event and told of it are the template's where it knows such an event.

    Raises:
        TopologyError: the template makes none of such a task.
    """
    proposed = () if origin.proposal is None else origin.proposal.events
    own = template.events(origin.task)
    known = {(event.action_kind, event.thing): event for event in own}
    return [_event(one, known.get((one.deed, one.thing))) for one in proposed] or own


def check_events(
    origin: Origin, template: Template, plan: Sequence[Action], things: Sequence[SceneObject]
) -> None:
    """See that a task's events make a graph, and that the expert brings about all of an author's.

    Raises:
        RejectedError: they make no graph, speak of what there is not, or don't come about in an
            order in which each has what it needs.
    """
    try:
        events = events_of(origin, template)
        topology = Topology(events)
    except TopologyError as error:
        raise RejectedError(Rejection.SCHEMA, str(error)) from error
    if origin.proposal is None or not origin.proposal.events:
        return
    for proposed, event in zip(origin.proposal.events, events, strict=True):
        check_goal(proposed.wish, events, things, template.lexicon)
        if event.thing not in event.wish and event.wish == proposed.wish:
            raise RejectedError(
                Rejection.CONTRADICTION,
                f"{event.wish!r} does not speak of the {event.thing} that it is done to.",
            )
    done = topology.done(plan, template)
    missing = [event.name for event in events if event.name not in done]
    if missing:
        raise RejectedError(
            Rejection.CONTRADICTION,
            f"On the expert's way to the goal {missing[0]!r} does not come about after what it "
            "needs.",
        )


def _event(proposed: ProposedEvent, known: Event | None) -> Event:
    """An author's event; `known` is the template's with the same kind of action and thing."""
    wish, done = (proposed.wish, "") if known is None else (known.wish, known.done)
    return Event(proposed.name, wish, done, proposed.deed, proposed.thing, proposed.needs)
