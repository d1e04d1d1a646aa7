"""What exact ranking of forty actions costs, beside reading the prompt and beside alternatives.

SmolLM2-135M, a prompt as the planner `rank` writes it, forty actions as a household offers them.
Nothing of the prompt is kept from one time to the next, but by the way that says so. All ways take
their turn in every round, and a figure is the median over the rounds of the ratio within a round.

    read        the prompt alone, by the model's own forward, with its cache kept
    rank        the prompt and all actions in one forward, from words to scores
    kept        the same, what stays of the prompt having been read at an earlier step
    repeated    the prompt, then all actions as one batch over forty copies of its cache
    forwards    one forward for each action, the prompt included
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Callable
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
from inhabit.agents.models.local.node_logits import Likelihood
from inhabit.agents.models.local.reader import PromptReader
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.local.transformer import Transformer
from inhabit.agents.models.registry import load
from inhabit.agents.models.transformers_names import cache_input, cache_of
from inhabit.agents.models.trie import Trie
from inhabit.envs.core import Action, Observation

ROUNDS = 9

GO_TO = "apple bread cabinet cabinet_2 cabinet_3 countertop countertop_2 fridge microwave sink"
ACTIONS = (
    *("look around", "explore", "turn left", "turn right"),
    *(f"go to the {name}" for name in (*GO_TO.split(), "dining table", "garbage can")),
    *(f"pick up the {name}" for name in ("apple", "bread", "butter knife", "mug", "pan", "plate")),
    *(f"open the {name}" for name in ("cabinet", "drawer", "fridge", "microwave")),
    *(f"close the {name}" for name in ("cabinet", "drawer", "fridge", "microwave")),
    *(f"put it in the {name}" for name in ("cabinet", "fridge", "microwave", "sink")),
    *(f"turn on the {name}" for name in ("faucet", "microwave", "stove burner")),
    *(f"slice the {name}" for name in ("apple", "bread", "potato")),
)
STEPS = (
    ("look around", "You look around. You see a cabinet, a countertop, a fridge and a mug."),
    ("go to the countertop", "You walk to the countertop. You see an apple, bread and a plate."),
    ("pick up the apple", "You pick up the apple."),
    ("go to the fridge", "You walk to the fridge. You see a cabinet, a fridge and a garbage can."),
    ("put it in the fridge", "You can't put the apple in the fridge: the fridge is closed."),
    ("open the fridge", "You open the fridge. You see an egg, a lettuce, a potato and a tomato."),
    ("put it in the fridge", "You put the apple in the fridge."),
    ("close the fridge", "You close the fridge."),
)
SEEN = "You see a cabinet, a cabinet_2, a fridge, a garbage can, a microwave and a stove burner."


def main() -> None:
    """Print the figures, float32 first: only there are scores equal to the digit."""
    figures = {**measure("float32", bound=1.35), **measure("bfloat16", bound=1.2)}
    sys.stdout.write(json.dumps(figures) + "\n")


def measure(dtype: str, *, bound: float) -> dict[str, dict[str, object]]:
    """The figures with numbers of one kind."""
    model = load("local:smollm2", LocalSettings(device="cpu", dtype=dtype))
    assert isinstance(model, Transformer)
    ways = ShortestPaths(model)
    seconds: dict[str, list[float]] = {name: [] for name in ("read", "rank", "kept", "repeated")}
    forwards = 0.0
    ways.rank(), ways.kept()
    for turn in range(ROUNDS):
        for name in list(seconds)[:: 1 if turn % 2 else -1]:
            seconds[name].append(timed(getattr(ways, name)))
        for index in range(turn, len(ACTIONS), ROUNDS):
            forwards += timed(partial(ways.forward, index))
    where = f"{dtype}, {processor()}, {torch.get_num_threads()} threads"
    what = f"{len(ACTIONS)} actions ({len(ways.trie)} nodes), {len(ways.prompt.ids)} prompt tokens"
    took = {name: median(times) for name, times in seconds.items()} | {"forwards": forwards}
    sys.stderr.write(f"  {where}: {what}\n")
    sys.stderr.write("".join(f"  {k:9} {1e3 * v:8.0f} ms\n" for k, v in took.items()))

    def ratio(one: str, other: str) -> float:
        return median(a / b for a, b in zip(seconds[one], seconds[other], strict=True))

    def figure(value: float, unit: str, bound: str, what: str) -> dict[str, object]:
        return {"value": round(value, 6), "unit": unit, "bound": bound, "what": f"{what} ({where})"}

    error = float(np.abs(ways.rank() - ways.each()).max())
    exact = "<= 0.001" if dtype == "float32" else ""
    found = {
        "over_read": figure(ratio("rank", "read"), "x", f"<= {bound}", f"rank {what}: read"),
        "forwards_over": figure(forwards / took["rank"], "x", ">= 20", "a forward each: rank"),
        "repeated_over": figure(ratio("repeated", "rank"), "x", ">= 1.3", "repeated cache: rank"),
        "kept_over_read": figure(ratio("kept", "read"), "x", "", "what stays kept: read"),
        "read_ms": figure(1e3 * took["read"], "ms", "", "reading the prompt"),
        "error": figure(error, "nat", exact, "largest error of a score, by a forward of its own"),
    }
    return {f"{dtype}_{name}": one for name, one in found.items()}


class ShortestPaths:
    """The same scores by different ways."""

    def __init__(self, model: Transformer) -> None:
        """Ask `model` about one moment in a kitchen."""
        self._encoder, self._model = model.encoder, model.network
        self._messages = Prompt("rank").messages(snapshot(), images=False)
        self._likelihood = Likelihood(PromptReader(self._model, limit=1 << 30))
        self.prompt = self._encoder.prompt(self._messages)
        self._answers = [self._encoder.candidate(text) for text in ACTIONS]
        self.trie = Trie.pack(self._answers)
        self._tables: dict[int, NDArray[np.float64]] = {}

    def rank(self) -> NDArray[np.float64]:
        """With nothing kept."""
        return self._rank(cuts=())

    def kept(self) -> NDArray[np.float64]:
        """As a planner does it from its second step on."""
        return self._rank(cuts=self.prompt.cuts)

    def _rank(self, *, cuts: tuple[int, ...]) -> NDArray[np.float64]:
        prompt = replace(self._encoder.prompt(self._messages), cuts=cuts)
        answers = [self._encoder.candidate(text) for text in ACTIONS]
        return self._likelihood.scores_of_many([(prompt, Trie.pack(answers))])[0][0]

    @torch.inference_mode()
    def read(self) -> object:
        """The prompt alone."""
        ids = torch.tensor([self.prompt.ids])
        return self._model(input_ids=ids, use_cache=True, logits_to_keep=1)

    @torch.inference_mode()
    def repeated(self) -> NDArray[np.float64]:
        """Answers side by side, each with the prompt's cache to itself. Plain sums."""
        ids = torch.tensor([self.prompt.ids])
        begun = self._model(input_ids=ids, use_cache=True, logits_to_keep=1)
        cache, many = cache_of(begun), len(self._answers)
        cache.batch_repeat_interleave(many)
        longest = max(map(len, self._answers))
        rows = torch.tensor([[*a, *[0] * (longest - len(a))] for a in self._answers])
        after = self._model(
            input_ids=rows, use_cache=True, **cache_input(self._model, cache)
        ).logits
        tables = torch.cat([begun.logits.expand(many, -1, -1), after[:, :-1]], 1)
        tables = tables.float().log_softmax(-1).gather(-1, rows[..., None])[..., 0]
        return np.array(
            [float(t[: len(a)].sum()) for t, a in zip(tables, self._answers, strict=True)]
        )

    @torch.inference_mode()
    def forward(self, index: int) -> None:
        """One answer after the prompt."""
        answer = self._answers[index]
        ids = torch.tensor([(*self.prompt.ids, *answer)])
        logits = self._model(input_ids=ids, logits_to_keep=len(answer) + 1).logits[0]
        self._tables[index] = logits.double().log_softmax(-1).numpy()

    def each(self) -> NDArray[np.float64]:
        """Scores from all that `forward` has found, by the definition in `node_logits.py`."""
        return np.array([self._score(index) for index in range(len(self._answers))])

    def _score(self, index: int) -> float:
        answer, table = self._answers[index], self._tables[index]
        n = len(answer)
        longer = {other[n] for other in self._answers if other[:n] == answer and other != answer}
        stays = np.log1p(-sum(np.exp(table[-1, token]) for token in longer))
        return float(sum(table[i, token] for i, token in enumerate(answer)) + stays)


def snapshot() -> View:
    """After eight steps in a kitchen."""

    async def parse(text: str) -> Action | None:
        return None

    return View(
        goal="Put a clean mug and a slice of chilled apple on the dining table.",
        observation=Observation(f"You have nothing in your hands. {SEEN}"),
        candidates=(),
        history=tuple(Step(action, None, feedback) for action, feedback in STEPS),
        seed=0,
        parse=parse,
    )


def timed(work: Callable[[], object]) -> float:
    """Seconds that `work` takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def processor() -> str:
    """The name of this machine's processor."""
    cpus = Path("/proc/cpuinfo")
    lines = cpus.read_text().splitlines() if cpus.exists() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.processor() or platform.machine())


if __name__ == "__main__":
    main()
