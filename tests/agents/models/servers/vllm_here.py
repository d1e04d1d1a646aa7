"""A program for an interpreter that has vLLM: asks `vllm:FOLDER`, and prints what it says as JSON.

Arguments: the folder, and folders of packages that the interpreter lacks.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

sys.path += [str(Path(__file__).resolve().parents[4]), *sys.argv[2:]]

import numpy as np

from inhabit.agents.models.core import Image, Message

TEXTS = [f"{verb} the {name}" for verb in ("open", "go to") for name in ("box", "box_2", "bag")]
IMAGES = [
    Image(np.random.default_rng(i).integers(0, 256, (16, 16, 3), dtype=np.uint8)) for i in range(2)
]
SCHEMA = {
    "type": "object",
    "properties": {"action": {"type": "string", "enum": ["wait", "go on"]}},
    "required": ["action"],
    "additionalProperties": False,
}


def prompt(images: int) -> list[Message]:
    """A prompt of which each is the beginning of the next."""
    shown = [part for i in range(images) for part in ("You see", IMAGES[i])]
    return [Message("user", ("Goal: open all that is closed in this room.", *shown))]


async def answers(name: str) -> dict[str, object]:
    from inhabit.agents.models.registry import load
    from inhabit.agents.models.vllm.settings import VLLMSettings

    settings = {"dtype": "float32", "max_length": 2048, "block": 32, "eager": True, "images": 4}
    model = load(name, VLLMSettings.model_validate(settings))
    ranked = [await model.rank(prompt(i), TEXTS) for i in range(3)]
    together = await asyncio.gather(*(model.rank(prompt(i), TEXTS) for i in range(3)))
    beam = await model.beam(prompt(1), TEXTS, width=3, end=True)
    reply = await model.generate(prompt(1), max_tokens=4, n=2)
    held = await model.generate(prompt(1), max_tokens=64, schema=SCHEMA)
    await model.close()
    return {
        "ranked": [[one.logprob for one in ranking.scores] for ranking in ranked],
        "together": [[one.logprob for one in ranking.scores] for ranking in together],
        "read": [(one.call.tokens_in, one.call.tokens_kept) for one in ranked],
        "beam": [(one.text, one.logprob) for one in beam.scores],
        "replies": [(one.text, one.logprob) for one in reply.scores],
        "held": held.texts[0],
        "checked": model.checked,
        "details": dict(model.details),
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(answers(f"vllm:{sys.argv[1]}"))) + "\n")
