"""How many tokens an episode makes a local model read, by the shapes of its forward passes.

An episode of ALFRED of twenty steps, with the task's vocabulary as candidates: with SmolLM2 and
text alone, and with the Qwen2.5-VL of random weights of `rank_pictures.py` and all images shown.
Nothing is timed.

    whole       every prompt read whole, with the nodes of its candidates: with nothing kept
    read        what was read
    needed      tokens behind what a prompt has in common with the one before, and the nodes
"""

from __future__ import annotations

import asyncio
import json
import random
import runpy
import sys
import tempfile
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import inhabit
from inhabit.agents.core import View
from inhabit.agents.dialogue.prompt import Prompt, PromptSettings
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.local.transformer import Transformer
from inhabit.agents.models.registry import load
from inhabit.envs.core import Action

STEPS = 20
HERE = runpy.run_path(str(Path(__file__).with_name("rank_pictures.py")))


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        seeing = HERE["save"](Path(folder))
        figures = {
            **measure("text", "local:smollm2", images=False),
            **measure("images", f"local:{seeing}", images=True),
        }
    sys.stdout.write(json.dumps(figures) + "\n")


def measure(name: str, model: str, *, images: bool) -> dict[str, dict[str, object]]:
    """The figures of one episode."""
    chosen = load(model, LocalSettings(device="cpu", dtype="float32", threads=1))
    assert isinstance(chosen, Transformer)
    shapes = counted(chosen)
    prompt = Prompt("rank", PromptSettings(pictures=STEPS if images else 0))
    whole = needed = prompts = new = 0
    before: Sequence[int] = ()
    for view in episode():
        texts = [action.text for action in view.candidates]
        messages = prompt.messages(view, images=images)
        call = asyncio.run(chosen.rank(messages, texts)).call
        ids = chosen.encoder.prompt(messages).ids
        pairs = zip(before, ids, strict=False)
        unlike = len(ids) - sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        before = ids
        whole += call.tokens_in
        needed += call.tokens_in - len(ids) + unlike
        prompts += len(ids)
        new += unlike
    read = sum(shapes)
    asyncio.run(chosen.close())
    of_prompts = read - (whole - prompts)
    sys.stderr.write(
        f"  {name}: prompts {prompts:,} tokens, new {new:,}, read {of_prompts:,}; "
        f"with nodes {whole:,}, needed {needed:,}, read {read:,}\n"
    )

    def figure(value: float, bound: str, what: str) -> dict[str, object]:
        return {"value": round(value, 3), "unit": "x", "bound": bound, "what": f"{what}, {name}"}

    return {
        f"{name}_over_needed": figure(read / needed, "<= 1.25", "tokens read: new ones and nodes"),
        f"{name}_over_whole": figure(
            of_prompts / prompts, "<= 0.35", "prompt tokens read: those of all prompts"
        ),
    }


def counted(model: Transformer) -> list[int]:
    """The tokens of each forward pass of `model` from now on."""
    shapes: list[int] = []

    def note(_: object, args: Sequence[Any], given: Mapping[str, Any]) -> None:
        ids = given.get("input_ids")
        read = given["inputs_embeds"] if ids is None else ids
        shapes.append(read.shape[0] * read.shape[1])

    model.network.get_decoder().register_forward_pre_hook(note, with_kwargs=True)
    return shapes


def episode() -> list[View]:
    """What is seen at each step of an episode that acts by lot."""
    rng, views = random.Random(0), list[View]()
    with inhabit.open("alfred", 0, seed=0, settings={"wire": "none"}) as session:
        vocabulary = session.candidates("vocabulary")
        words = tuple(Action(text, verb="") for text in vocabulary)
        for _ in range(STEPS):
            views.append(View(session.goal, session.last, words, session.history))
            session.act(rng.choice(session.candidates()))
    return views


if __name__ == "__main__":
    main()
