"""What bfloat16 changes in scores after long prompts, with and without rounded rotary frequencies.

SmolLM2-135M; prompts of exactly 1,000 and 2,500 tokens, cut from the ends of three long kitchen
histories; ten actions. The reference is float32. `before` rounds the frequencies of the rotary
embeddings to bfloat16, as a cast of the whole model does; `after` is how models are loaded now.
Errors are absolute differences of scores in nats.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as local models have it

import numpy as np
from numpy.typing import NDArray

from inhabit.agents.models.local.encoder import EncodedPrompt
from inhabit.agents.models.local.node_logits import Likelihood
from inhabit.agents.models.local.reader import PromptReader
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.local.transformer import Transformer
from inhabit.agents.models.registry import load
from inhabit.agents.models.trie import Trie

LENGTHS, PROMPTS, ACTIONS = (1000, 2500), 3, 10
HERE = runpy.run_path(str(Path(__file__).with_name("rank.py")))


def main() -> None:
    """Print the figures."""
    exact, rounded = loaded("float32"), loaded("bfloat16")
    frequencies = rounded.network.get_decoder().rotary_emb
    kept = frequencies.inv_freq.clone()
    assert str(kept.dtype) == "torch.float32"
    found = {}
    for length in LENGTHS:
        want = scores(exact, length)
        after = np.abs(scores(rounded, length) - want)
        frequencies.inv_freq = kept.bfloat16()
        before = np.abs(scores(rounded, length) - want)
        frequencies.inv_freq = kept
        for name, errors in (("before", before), ("after", after)):
            found[f"{length}_{name}_largest"] = figure(errors.max(), length, "largest error")
            found[f"{length}_{name}_mean"] = figure(errors.mean(), length, "mean error")
    sys.stdout.write(json.dumps(found) + "\n")


def loaded(dtype: str) -> Transformer:
    """SmolLM2 in a dtype."""
    model = load("local:smollm2", LocalSettings.model_validate({"device": "cpu", "dtype": dtype}))
    assert isinstance(model, Transformer)
    return model


def scores(model: Transformer, length: int) -> NDArray[np.float64]:
    """The scores of the actions after each prompt, (prompts, actions)."""
    likelihood = Likelihood(PromptReader(model.network))
    trie = Trie.pack([model.encoder.candidate(text) for text in HERE["ACTIONS"][4 : 4 + ACTIONS]])
    asked = [(prompt(model, length, seed), trie) for seed in range(PROMPTS)]
    return np.stack([likelihood.scores_of_many([one])[0][0] for one in asked])


def prompt(model: Transformer, length: int, seed: int) -> EncodedPrompt:
    """The last `length` tokens of a long history in an order given by `seed`."""
    rng = np.random.default_rng(seed)
    steps = [HERE["STEPS"][i] for i in rng.integers(len(HERE["STEPS"]), size=length // 8)]
    told = "\n".join(f"> {action}\n{feedback}" for action, feedback in steps)
    words = model.encoder.tokenizer(f"{told}\n{HERE['SEEN']}\nNext action:")["input_ids"]
    assert len(words) >= length
    return EncodedPrompt(tuple(words[-length:]))


def figure(value: float, length: int, what: str) -> dict[str, object]:
    """One line of the result."""
    told = f"{what} of {PROMPTS * ACTIONS} scores after {length} tokens"
    return {"value": round(float(value), 4), "unit": "nat", "bound": "", "what": told}


if __name__ == "__main__":
    main()
