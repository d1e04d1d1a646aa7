"""What it saves to keep what stays of a prompt, and to read what eight episodes ask together.

SmolLM2-135M, prompts as the planner `rank` writes them at an early step of eight episodes, and
forty actions as a household offers them. All ways take their turn in every round, and a figure is
the median over the rounds of the ratio within a round.

    fresh       one episode's question, with nothing kept: its first step
    kept        the same, what stays having been read at an earlier step: every later one
    apart       eight episodes' questions, one after the other, what stays kept
    together    the same in one forward
    beams       beams of five over the same actions, one after the other; and side by side
    words       free beams of five, eight tokens long, one after the other; and side by side
"""

from __future__ import annotations

import asyncio
import json
import os
import runpy
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as local models have it

import numpy as np
import torch
from numpy.typing import NDArray

from inhabit.agents.core import Step, View
from inhabit.agents.dialogue.prompt import Prompt
from inhabit.agents.models.local.encoder import EncodedPrompt
from inhabit.agents.models.local.node_logits import Likelihood
from inhabit.agents.models.local.reader import PromptReader
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.local.transformer import Transformer
from inhabit.agents.models.registry import load
from inhabit.agents.models.trie import Trie

ROUNDS, EPISODES, NEW = 7, 8, 64
"""NEW: tokens that a prompt may have beyond what stays."""
HERE = runpy.run_path(str(Path(__file__).with_name("rank.py")))
ACTIONS, snapshot, processor = HERE["ACTIONS"], HERE["snapshot"], HERE["processor"]
THINGS = ("apple", "bread", "mug", "pan", "plate", "spoon", "tomato", "egg")


def main() -> None:
    """Print the figures."""
    figures = {**measure("float32"), **measure("bfloat16")}
    sys.stdout.write(json.dumps(figures) + "\n")


def measure(dtype: str) -> dict[str, dict[str, object]]:
    """The figures with numbers of one kind."""
    model = load("local:smollm2", LocalSettings(device="cpu", dtype=dtype))
    assert isinstance(model, Transformer)
    ways = ShortestPaths(model)
    seconds: dict[str, list[float]] = {name: [] for name in ("fresh", "kept", "apart", "together")}
    ways.kept()
    for turn in range(ROUNDS):
        for name in list(seconds)[:: 1 if turn % 2 else -1]:
            seconds[name].append(timed(getattr(ways, name)))
    new = max(len(p.ids) - p.cuts[-1] for p in ways.prompts)
    what = (
        f"{ways.prompts[0].cuts[-1]} kept and up to {new} new prompt tokens, "
        f"{len(ACTIONS)} actions ({len(ways.trie)} nodes)"
    )
    where = f"{dtype}, {processor()}, {torch.get_num_threads()} threads"
    sys.stderr.write(f"  {where}: {what}\n")
    for name, times in seconds.items():
        sys.stderr.write(f"  {name:9} {1e3 * median(times):8.0f} ms\n")
    asked = {"beams": ShortestPaths.beams, "words": ShortestPaths.words}
    gains = {name: ways.side_by_side(way) for name, way in asked.items()}
    error = float(np.abs(np.subtract(ways.apart(), ways.together())).max())

    def gain(one: str, other: str) -> float:
        return median(a / b for a, b in zip(seconds[one], seconds[other], strict=True))

    def figure(value: float, unit: str, bound: str, what: str) -> dict[str, object]:
        return {"value": round(value, 6), "unit": unit, "bound": bound, "what": f"{what} ({where})"}

    exact = "<= 0.001" if dtype == "float32" else ""
    found = {
        "kept": figure(gain("fresh", "kept"), "x", ">= 1.5", f"first step: later ones, {what}"),
        "together": figure(gain("apart", "together"), "x", ">= 1.3", f"{EPISODES} apart: together"),
        "error": figure(error, "nat", exact, "largest difference of a score read together"),
    }
    for name, value in gains.items():
        found[name] = figure(value, "x", "", f"{EPISODES} {name} one after the other: side by side")
    return {f"{dtype}_{name}": one for name, one in found.items()}


class ShortestPaths:
    """The same scores by different ways."""

    def __init__(self, model: Transformer) -> None:
        """Ask `model` about eight moments."""
        prompt = Prompt("rank")
        self.prompts = [
            model.encoder.prompt(prompt.messages(early(n), images=False)) for n in range(EPISODES)
        ]
        assert all(len(p.ids) - p.cuts[-1] <= NEW for p in self.prompts)
        self.trie = Trie.pack([model.encoder.candidate(text) for text in ACTIONS])
        self._likelihood = Likelihood(PromptReader(model.network, limit=1 << 30))
        self._model = model
        self._asked = [prompt.messages(early(n), images=False) for n in range(EPISODES)]

    def fresh(self) -> NDArray[np.float64]:
        """With nothing kept."""
        return self._scores(replace(self.prompts[0], cuts=()))

    def kept(self) -> NDArray[np.float64]:
        """With what stays kept."""
        return self._scores(self.prompts[0])

    def apart(self) -> list[NDArray[np.float64]]:
        """All, one by one."""
        return [self._scores(prompt) for prompt in self.prompts]

    def together(self) -> list[NDArray[np.float64]]:
        """All, at one go."""
        asked = [(prompt, self.trie) for prompt in self.prompts]
        return [scores for scores, _ in self._likelihood.scores_of_many(asked)]

    def _scores(self, prompt: EncodedPrompt) -> NDArray[np.float64]:
        return self._likelihood.scores_of_many([(prompt, self.trie)])[0][0]

    def beams(self, some: Sequence[int]) -> None:
        """Beams for some of the episodes, as they wait at the same time."""
        asked = [(self._asked[n], ACTIONS) for n in some]
        self._together(lambda: [self._model.beam(*one, width=5) for one in asked])

    def words(self, some: Sequence[int]) -> None:
        """The same for free beams."""
        asked = [self._asked[n] for n in some]
        self._together(lambda: [self._model.generate(one, n=5, max_tokens=8) for one in asked])

    def side_by_side(self, way: Callable[[ShortestPaths, Sequence[int]], None]) -> float:
        """How many times faster `way` is for all episodes at once than for one after the other."""
        ratios = []
        for _ in range(3):
            apart = sum(timed(partial(way, self, [n])) for n in range(EPISODES))
            ratios.append(apart / timed(partial(way, self, range(EPISODES))))
        return median(ratios)

    def _together(self, ask: Callable[[], list[Awaitable[object]]]) -> None:
        async def wait() -> None:
            await asyncio.gather(*ask())

        asyncio.run(wait())


def early(n: int) -> View:
    """The moment after the first step of the n-th episode."""
    later: View = snapshot()
    return replace(
        later,
        goal=f"Put the {THINGS[n]} in the fridge.",
        history=(Step("look around", None, f"You see a fridge and a {THINGS[n]}."),),
        observation=replace(later.observation, text="You have nothing in your hands."),
    )


def timed(work: Callable[[], object]) -> float:
    """Seconds that `work` takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
