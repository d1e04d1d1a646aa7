"""How many built dead ends a beam over plans gets past, looking one action ahead and three.

The tasks and the scorer are those of `tests/agents/planners/dead_ends.py`:
24 in the toy house, 24 in VirtualHome's flats, and 12 in ALFRED's rooms. Both
depths play the same tasks and may try actions in copies of the moment. Where that is quick, a third
figure is depth 3 without copies.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

from inhabit.envs.core import Env
from inhabit.envs.registry import find
from tests.agents.planners.dead_ends import DeadEnd, household, solved, toy, virtualhome

DRAWN, KEPT = 105, 12
"""Tasks of ALFRED that are drawn, and how many with a dead end are kept."""
TYPES = ("pick_and_place_simple", "look_at_obj_in_light")
"""Task types that take up one thing."""
QUICK = {"width": 64, "height": 64, "navigation": "teleport"}
"""A scorer by rules looks at no image, and how it walks is all one to it."""


def main() -> None:
    """Print the figures."""
    figures = {
        **measure("toy", make("toy"), list(toy())),
        **measure("virtualhome", make("virtualhome", view="none"), list(virtualhome())),
        **measure("alfred", make("alfred", **QUICK), rooms(), alone=False),
    }
    sys.stdout.write(json.dumps(figures) + "\n")


def make(name: str, **settings: object) -> Callable[[], Env]:
    """Environments of one name."""
    registration = find(name)
    chosen = registration.settings(**settings)
    return lambda: registration.make(registration.backends[0], chosen)


def rooms() -> Sequence[DeadEnd]:
    """What there is in ALFRED's rooms."""
    registration = find("alfred")
    drawn = registration.sample(DRAWN, 0, registration.settings())
    tasks = [task for task in drawn if task.kind in TYPES]
    with make("alfred", **QUICK)() as env:
        return list(islice(household(env, tasks), KEPT))


def measure(
    name: str, make_env: Callable[[], Env], ends: Sequence[DeadEnd], *, alone: bool = True
) -> dict[str, dict[str, object]]:
    """Shares of `ends` that are solved; `alone`: without copies, too."""

    def share(depth: int, *, lookahead: bool) -> float:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run"
            return 100 * solved(path, make_env, ends, depth=depth, lookahead=lookahead) / len(ends)

    def figure(value: float, bound: str, what: str) -> dict[str, object]:
        sys.stderr.write(f"  {name}: {value:.0f} {what}\n")
        what = f"{what} ({len(ends)} tasks)"
        return {"value": round(value, 1), "unit": "points", "bound": bound, "what": what}

    one, three = share(1, lookahead=True), share(3, lookahead=True)
    figures = {
        f"{name}_gain": figure(three - one, ">= 30", "depth 3 over depth 1, with lookahead"),
        f"{name}_three": figure(three, "", "solved at depth 3, with lookahead"),
    }
    if alone:
        share_alone = share(3, lookahead=False)
        figures[f"{name}_alone"] = figure(share_alone, "", "solved at depth 3, by the scorer alone")
    return figures


if __name__ == "__main__":
    main()
