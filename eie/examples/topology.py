"""The topology of a task: its events as a graph, leaves first (task topology graph, PCA-Bench)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal

import networkx as nx

from inhabit.eie.examples.example import Subtask
from inhabit.envs.core import Action
from inhabit.envs.template import ActionKind, Event, Template
from inhabit.envs.world.words import without_number


class TopologyError(ValueError):
    """Events that make no graph: says which, and why."""


class Topology:
    """The graph of one task's events."""

    def __init__(self, events: Sequence[Event]) -> None:
        """Build the graph.

        Raises:
            TopologyError: a name comes twice or is unknown, or events wait for one another.
        """
        self._events = {event.name: event for event in events}
        if len(self._events) < len(events):
            raise TopologyError("Two events have the same name.")
        self._graph: nx.DiGraph[str] = nx.DiGraph()
        self._graph.add_nodes_from(self._events)
        for event in events:
            for need in event.needs:
                if need not in self._events:
                    raise TopologyError(f"{event.name!r} needs {need!r}, and there is none.")
                self._graph.add_edge(need, event.name)
        if not nx.is_directed_acyclic_graph(self._graph):
            circle = " -> ".join(edge[0] for edge in nx.find_cycle(self._graph))
            raise TopologyError(f"These events wait for one another: {circle}.")

    def order(self) -> Sequence[Event]:
        """All events, each after those that it needs; otherwise as they were given."""
        place = {name: i for i, name in enumerate(self._events)}
        names = nx.lexicographical_topological_sort(self._graph, key=place.__getitem__)
        return [self._events[name] for name in names]

    def end(self, event: Event) -> Event:
        """The last event that needs this one, or itself."""
        later = nx.descendants(self._graph, event.name)
        return [one for one in self.order() if one is event or one.name in later][-1]

    def done(self, actions: Iterable[Action], template: Template) -> frozenset[str]:
        """Names of what has come about by these actions, all of which succeeded, in order."""
        found: set[str] = set()
        for action in actions:
            for event in self.order():
                open_ = event.name not in found and found.issuperset(event.needs)
                if open_ and _brings_about(action, event, template):
                    found.add(event.name)
                    break
        return frozenset(found)

    def moment(
        self, plan: Sequence[Action], template: Template, held: str = ""
    ) -> Sequence[Subtask]:
        """Where a plan finds the graph: what it has to bring about, and what comes next.

        An action brings about an event after which all others that need it are brought about too.
        So picking up again what was put aside is none.

        `held` is the kind of thing in the hand, or empty.
        """
        left: dict[str, int] = {}
        for step in reversed(range(len(plan))):
            fit = [
                event
                for event in self.order()
                if event.name not in left
                and _brings_about(plan[step], event, template)
                and all(name in left for name in self._graph.successors(event.name))
            ]
            taken = (a for a in plan[step::-1] if template.action_kind(a) is ActionKind.TAKE)
            moved = next((kind_of(action.arguments[-1]) for action in taken), held)
            if fit:
                about = (event for event in fit if self._is_about(event, moved))
                left[next(about, fit[0]).name] = step
        following = min(left, key=left.__getitem__, default="")

        def state(event: Event) -> Literal["done", "next", "open", "blocked"]:
            if event.name not in left:
                return "done"
            if event.name == following:
                return "next"
            return "blocked" if left.keys() & {*event.needs} else "open"

        return [
            Subtask(name=event.name, wish=event.wish, needs=event.needs, state=state(event))
            for event in self.order()
        ]

    def _is_about(self, event: Event, kind: str) -> bool:
        """Whether an event is about things of a kind: it says so, or needs that one is taken."""
        needs = (self._events[name] for name in event.needs)
        taken = (one.thing for one in needs if one.action_kind is ActionKind.TAKE)
        return speaks_of(event.wish, kind) or kind in taken


def _brings_about(action: Action, event: Event, template: Template) -> bool:
    kind = template.action_kind(action)
    return kind is event.action_kind and changed(action, kind) == event.thing


def changed(action: Action, kind: ActionKind) -> str:
    """The kind of thing that an action of this kind is about: what it makes, whose station comes
    last, or else its last argument. Empty where it has none.
    """
    place = 0 if kind is ActionKind.MAKE else -1
    return kind_of(action.arguments[place]) if action.arguments else ""


def speaks_of(wish: str, kind: str) -> bool:
    """Whether a wish names a kind of thing."""
    return bool(kind) and re.search(rf"\b{re.escape(kind)}\b", wish) is not None


kind_of = lru_cache(maxsize=4096)(without_number)
"""The kind that a name stands for: "mug" for "mug_2"."""
