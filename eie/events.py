"""The events that a task falls into: the environment's own, or those that its author proposed."""

from __future__ import annotations

from collections.abc import Sequence

from eie.author import ProposedEvent
from eie.checks import check_wish
from eie.draft import Origin, RejectedError
from eie.example import Rejection
from eie.topology import Topology, TopologyError
from envs.core import Action, Thing
from envs.evolving import Event, Template


def events_of(origin: Origin, template: Template) -> Sequence[Event]:
    """Those that the author proposed, unchecked, if it did; else the template's.

    What is told of an event that has come about is always the template's.

    Raises:
        TopologyError: the template makes none of such a task.
    """
    proposed = () if origin.proposal is None else origin.proposal.events
    own = template.events(origin.task)
    told = {(event.deed, event.thing): event.done for event in own}
    return [_event(one, told.get((one.deed, one.thing), "")) for one in proposed] or own


def check_events(
    origin: Origin, template: Template, plan: Sequence[Action], things: Sequence[Thing]
) -> None:
    """See that a task's events make a graph, and that the expert brings about all of an author's.

    Args:
        origin: of the task.
        template: of its environment.
        plan: the expert's, from the start.
        things: what there is at the start.

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
    for event in events:
        check_wish(event.wish, things, template.lexicon)
    done = topology.done(plan, template)
    missing = [event.name for event in events if event.name not in done]
    if missing:
        raise RejectedError(
            Rejection.CONTRADICTION,
            f"On the expert's way to the goal {missing[0]!r} does not come about after what it "
            "needs.",
        )


def _event(proposed: ProposedEvent, done: str) -> Event:
    return Event(**proposed.model_dump(), done=done)
