"""What exact ranking of forty actions costs with two images in the prompt, and its fall-backs.

A Qwen2.5-VL with random weights (12 layers of 384, 6 of 256 for images) and SmolLM2's tokenizer:
no vision model comes with a package. The prompt is that of `rank.py`, with two images of
224x224. All ways take their turn in every round, and a figure is the median over the rounds of the
ratio within a round. Times are CPU times of the process on one thread, which other programs on the
machine change little.

    read        the prompt and its images, by the model's own forward, with its cache kept
    rank        the prompt and all actions, nothing kept
    kept        the same, what stays having been read at an earlier step
    batch       the fall-back for models without tree masks: actions as rows over the prompt's cache
    single      the last fall-back: a forward for each action, the images encoded once; timed with
                four of the actions
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as local models have it

import numpy as np
import torch
from transformers import (
    AutoTokenizer,
    Qwen2_5_VLConfig,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2VLImageProcessor,
)

from inhabit.agents.dialogue.prompt import Prompt
from inhabit.agents.models.core import Image, Message
from inhabit.agents.models.local.picture_features import PictureFeatures
from inhabit.agents.models.local.reader import locate
from inhabit.agents.models.local.scoring import Scorer, Way
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.local.smollm2 import prepare
from inhabit.agents.models.local.transformer import Transformer
from inhabit.agents.models.registry import load
from inhabit.agents.models.trie import Trie

ROUNDS, FEW = 7, 4
HERE = runpy.run_path(str(Path(__file__).with_name("rank.py")))
ACTIONS, snapshot, processor = HERE["ACTIONS"], HERE["snapshot"], HERE["processor"]
PADS = "<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>"
CHAT = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% for p in m['content'] %}"
    "{% if p['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% else %}{{ p['text'] }}{% endif %}{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def main() -> None:
    """Print the figures."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        made = save(Path(folder))
        figures = {**measure(made, "float32", 1.35), **measure(made, "bfloat16", 1.2)}
    sys.stdout.write(json.dumps(figures) + "\n")


def measure(folder: Path, dtype: str, bound: float) -> dict[str, dict[str, object]]:
    """The figures with numbers of one kind."""
    settings = {"device": "cpu", "dtype": dtype, "threads": 1}
    model = load(f"local:{folder}", LocalSettings.model_validate(settings))
    assert isinstance(model, Transformer)
    ways = Ways(model)
    names = ("read", "rank", "kept", "batch")
    seconds: dict[str, list[float]] = {name: [] for name in names}
    ways.rank(), ways.kept()
    for turn in range(ROUNDS):
        for name in names[:: 1 if turn % 2 else -1]:
            seconds[name].append(timed(getattr(ways, name)))
    single = timed(ways.single) * len(ACTIONS) / FEW
    where = f"{dtype}, {processor()}, 1 thread"
    what = f"{len(ways.prompt.ids)} prompt tokens, {len(ways.trie)} nodes"
    took = {name: median(times) for name, times in seconds.items()} | {"single": single}
    sys.stderr.write(f"  {where}: {what}, scored by {model.details['scoring']}\n")
    sys.stderr.write("".join(f"  {k:9} {1e3 * v:8.0f} ms\n" for k, v in took.items()))

    def figure(one: str, other: str, bound: str, what: str) -> dict[str, object]:
        each = zip(seconds[one], seconds[other], strict=True)
        value = median(a / b for a, b in each)
        return {"value": round(value, 3), "unit": "x", "bound": bound, "what": f"{what} ({where})"}

    found = {
        "over_read": figure("rank", "read", f"<= {bound}", f"rank, two pictures, {what}: read"),
        "kept_over_read": figure("kept", "read", "", "what stays kept: read"),
        "batch_over_read": figure("batch", "read", "", "fall-back batch: read"),
        "single_over_read": {
            "value": round(single / took["read"], 3),
            "unit": "x",
            "bound": "",
            "what": f"fall-back single: read ({where})",
        },
    }
    return {f"{dtype}_{name}": one for name, one in found.items()}


class Ways:
    """The same scores by different ways."""

    def __init__(self, model: Transformer) -> None:
        """Ask `model` about one moment in a kitchen, with two images."""
        self._model = model.network
        rng = np.random.default_rng(0)
        shown = rng.integers(0, 256, (2, 224, 224, 3), dtype=np.uint8)
        self._whole = model.encoder.prompt(_with_pictures(*map(Image, shown)))
        self.prompt = replace(self._whole, cuts=())
        self.trie = Trie.pack([model.encoder.candidate(text) for text in ACTIONS])
        self._few = Trie.pack([model.encoder.candidate(text) for text in ACTIONS[:FEW]])
        self._kept = self._scorer("tree", 1 << 30)

    def _scorer(self, way: Way, limit: int = 0) -> Scorer:
        features = PictureFeatures(self._model, limit)
        return Scorer(self._model, way, features, cuts_images=limit > 0, limit=limit)

    def rank(self) -> object:
        """With nothing kept."""
        return self._scorer("tree").rank([(self.prompt, self.trie)])

    def kept(self) -> object:
        """As a planner does it where the images are known."""
        return self._kept.rank([(self._whole, self.trie)])

    def batch(self) -> object:
        """Without tree masks."""
        return self._scorer("batch").rank([(self.prompt, self.trie)])

    def single(self) -> object:
        """With neither tree masks nor a cache."""
        return self._scorer("single").rank([(self.prompt, self._few)])

    @torch.inference_mode()
    def read(self) -> object:
        """The prompt alone."""
        extra = self.prompt.extra(self._model)
        _, places = locate(self._model, self.prompt)
        ids = torch.tensor([self.prompt.ids])
        options = {"use_cache": True, "logits_to_keep": 1, "position_ids": places}
        return self._model(input_ids=ids, **options, **extra)


def _with_pictures(*pictures: Image) -> list[Message]:
    system, *rest, last = Prompt("rank").messages(snapshot(), images=False)
    return [system, *rest, replace(last, parts=(*pictures, *last.parts))]


def save(folder: Path) -> Path:
    """A Qwen2.5-VL with random weights in `folder`."""
    torch.manual_seed(0)
    words = AutoTokenizer.from_pretrained(prepare())
    words.add_special_tokens({"additional_special_tokens": list(PADS)})
    words.chat_template = CHAT
    begin, end, image, video = words.convert_tokens_to_ids(list(PADS))
    config = Qwen2_5_VLConfig(
        text_config={
            "vocab_size": len(words),
            "hidden_size": 384,
            "intermediate_size": 1536,
            "num_hidden_layers": 12,
            "num_attention_heads": 6,
            "num_key_value_heads": 2,
            "max_position_embeddings": 8192,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 10000.0,
                "mrope_section": [8, 12, 12],
            },
        },
        vision_config={
            "depth": 6,
            "hidden_size": 256,
            "intermediate_size": 1024,
            "num_heads": 4,
            "out_hidden_size": 384,
            "fullatt_block_indexes": [2, 5],
        },
        vision_start_token_id=begin,
        vision_end_token_id=end,
        image_token_id=image,
        video_token_id=video,
    )
    Qwen2_5_VLForConditionalGeneration(config).save_pretrained(folder)
    Qwen2VLImageProcessor(min_pixels=56 * 56, max_pixels=448 * 448).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def timed(work: Callable[[], object]) -> float:
    """Seconds of CPU that `work` takes."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


if __name__ == "__main__":
    main()
