"""The optional capabilities of environments: one table for worker, checks and proxies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from inhabit.envs.core import Env, Expert, Factual, Forkable, Privileged, Redirectable, Tools

E = TypeVar("E", bound=Env)


@dataclass(frozen=True, slots=True)
class Capability:
    """One of them."""

    protocol: type
    methods: tuple[str, ...]
    """Those that it needs, all of them."""
    signs: tuple[str, ...]
    """The methods that announce it: with one of them, the others must not be missing."""


CAPABILITIES: Mapping[str, Capability] = {
    one.protocol.__name__: one
    for one in (
        Capability(Expert, ("plan", "best_actions"), ("plan", "best_actions")),
        Capability(Forkable, ("fork",), ()),
        Capability(Redirectable, ("pursue",), ()),
        Capability(Tools, ("tools", "call"), ("tools",)),
        Capability(Privileged, ("state", "digest", "admissible"), ("digest", "admissible")),
        Capability(Factual, ("things",), ()),
    )
}


def of(env: Env) -> tuple[str, ...]:
    """The names of an environment's capabilities."""
    return tuple(name for name, one in CAPABILITIES.items() if isinstance(env, one.protocol))


def with_these(
    base: type[E], parts: Mapping[str, type[E]], capabilities: Iterable[str], **own: Any
) -> type[E]:
    """The subclass of a proxy that has these capabilities and no others.

    Args:
        base: the proxy.
        parts: capability -> the proxy with it.
        capabilities: which of them.
        own: attributes of the class.
    """
    bases = tuple(parts[name] for name in capabilities) or (base,)
    made: type[E] = type(base.__name__, bases, {"__module__": base.__module__, **own})
    return made
