"""Moments to decide on, with or without an environment behind them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inhabit.agents.core import Grants, Step, View
from inhabit.envs.core import Action, Observation


def act(text: str) -> Action:
    return Action(text, text.split()[0])


def view(
    *texts: str,
    goal: str = "Put the {mug} in the sink.",
    text: str = "You have nothing in your hands.",
    history: Sequence[Step] = (),
    seed: int = 0,
    rgb: np.ndarray | None = None,
    grants: Grants | None = None,
) -> View:
    """A moment whose environment understands exactly what it offers."""
    candidates = tuple(map(act, texts))

    async def parse(said: str) -> Action | None:
        return next((a for a in candidates if a.text == said), None)

    return View(
        goal=goal,
        observation=Observation(text, rgb),
        candidates=candidates,
        history=tuple(history),
        seed=seed,
        parse=parse,
        grants=grants or Grants(),
    )
