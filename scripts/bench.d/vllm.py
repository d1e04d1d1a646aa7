"""What a decision costs on a server of vLLM, by the server's own counts, and how exact it is.

A LLaVA and a Qwen2-VL of random weights, with SmolLM2's tokenizer, in float32 on vLLM's build for
CPUs. The decisions are those of episodes that act by lot, with all images shown at 112x112, which
neither image processor resizes. Nothing is timed. Here the same models are read in float32. The
server runs in an interpreter of its own:

    BENCH_VLLM=VENV/bin/python scripts/bench vllm

BENCH_VLLM_MODELS and BENCH_VLLM_ENVS choose among its rows (`smollm2` is shown no images),
BENCH_VLLM_EPISODES plays as many of each, BENCH_VLLM_BLOCK is the size of the cache's blocks,
BENCH_VLLM_DTYPE the server's numbers, and BENCH_VLLM_LOG keeps what it says.

    computed    prompt tokens that the server computed: its counter of prompt tokens less those that
                its prefix cache held
    new         tokens behind what a prompt has in common with the one before
    nodes       of the candidates' trie; each is asked about behind the prompt
    rest        tokens of unfinished blocks, which each node reads again: whole ones are kept
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import runpy
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
import torch
from PIL import Image as Picture
from safetensors.torch import load_file, save_file
from transformers import (
    AutoTokenizer,
    CLIPImageProcessor,
    CLIPVisionConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    Qwen2VLConfig,
    Qwen2VLForConditionalGeneration,
    Qwen2VLImageProcessor,
)

import inhabit
from inhabit.agents.core import View
from inhabit.agents.dialogue.prompt import Prompt, PromptSettings
from inhabit.agents.models.core import Ability, Image, Message, Model
from inhabit.agents.models.endpoints.settings import OpenAISettings
from inhabit.agents.models.endpoints.transport import BoundedClient
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.local.smollm2 import prepare
from inhabit.agents.models.local.transformer import Transformer
from inhabit.agents.models.registry import load
from inhabit.agents.models.trie import Trie
from inhabit.envs.core import Action

SIDE, BLOCK = 112, int(os.environ.get("BENCH_VLLM_BLOCK", "32"))
DTYPE = os.environ.get("BENCH_VLLM_DTYPE", "float32")
STEPS = {"toy": 20, "alfred": 20, "virtualhome": 5, "minedojo": 5}
EPISODES = {"toy": 3, "alfred": 2, "virtualhome": 1, "minedojo": 1}
MOST = {"toy": 1, "alfred": 1, "virtualhome": 2, "minedojo": 8}
"""Requests a decision, at most."""
PADS = runpy.run_path(str(Path(__file__).with_name("rank_pictures.py")))["PADS"]
CHAT = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% if m['content'] is string %}"
    "{{ m['content'] }}{% else %}{% for p in m['content'] %}{% if p['type'] == 'image' %}IMAGE"
    "{% else %}{{ p['text'] }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TEXT = {
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 16384,
    "initializer_range": 0.1,
}


def main() -> None:
    """Print the figures."""
    python = os.environ.get("BENCH_VLLM")
    if not python:
        sys.stderr.write("  left out: BENCH_VLLM names no interpreter that has vLLM\n")
        sys.stdout.write("{}\n")
        return
    torch.set_num_threads(1)
    chosen = os.environ.get("BENCH_VLLM_MODELS", "llava,qwen2_vl").split(",")
    figures: dict[str, dict[str, object]] = {}
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            saved = SAVED[name](Path(folder))
            with served(Path(python), saved) as address:
                figures |= measure(name, saved, address)
    sys.stdout.write(json.dumps(figures) + "\n")


def measure(name: str, folder: Path, address: str) -> dict[str, dict[str, object]]:
    """The figures of one model."""
    asked = {"base_url": f"{address}/v1", "prompt_logprobs": True, "timeout": 600}
    here = load(f"local:{folder}", LocalSettings(device="cpu", dtype="float32", threads=1))
    there = load("openai:m", OpenAISettings.model_validate(asked))
    assert isinstance(here, Transformer)
    found: list[Decision] = []
    # One loop: connections belong to it.
    with asyncio.Runner() as loop:
        for env in os.environ.get("BENCH_VLLM_ENVS", "toy,alfred,virtualhome,minedojo").split(","):
            for seed in range(int(os.environ.get("BENCH_VLLM_EPISODES", EPISODES[env]))):
                views = list(episode(env, seed))
                found += loop.run(decisions(env, views, address, here, there))
        loop.run(there.close())
    sys.stderr.write(f"  {name} in {DTYPE}: {there.checked}\n")
    figures = {}
    for env in dict.fromkeys(one.env for one in found):
        some = [one for one in found if one.env == env]
        sys.stderr.write(f"  {name}, {env}: {report(some)}\n")
        figures[f"{name}_{env}_requests"] = figure(
            max(one.requests for one in some), f"<= {MOST[env]}", "requests of one decision"
        )
        figures[f"{name}_{env}_computed"] = figure(
            total(some, "computed") / (total(some, "new") + total(some, "nodes")),
            "<= 1.25",
            "tokens computed: new ones and nodes",
        )
        figures[f"{name}_{env}_computed_rest"] = figure(
            total(some, "computed") / total(some, "bound"),
            "<= 1.0",
            "tokens computed: new ones, nodes and the blocks that they begin",
        )
    figures[f"{name}_error"] = figure(
        max(max(one.error, one.plain) for one in found),
        "<= 0.0003",
        f"nat, {len(found)} decisions",
    )
    figures[f"{name}_orders"] = figure(
        sum(one.ordered for one in found) / len(found), ">= 1", "decisions ranked the same"
    )
    if images := total(found, "images"):
        figures[f"{name}_sent"] = figure(
            total(found, "sent") / images, "<= 1", "times that an image was sent"
        )
    return figures


def figure(value: float, bound: str, what: str) -> dict[str, object]:
    """One figure."""
    return {"value": round(value, 6), "unit": "", "bound": bound, "what": what}


@dataclass(frozen=True)
class Decision:
    """What one decision took."""

    env: str
    candidates: int
    prompt: int
    new: int
    nodes: int
    bound: int
    """New tokens, and for each node its own and those of the unfinished block before it."""
    computed: int
    whole: int
    """Tokens of all prompts: what is computed where nothing is kept."""
    requests: int
    posts: int
    """Requests with those for the tokens of texts, which are no work for the model."""
    bytes: int
    sent: int
    """Images that went with their pixels."""
    images: int
    """Images that had not been seen."""
    error: float
    plain: float
    """The largest difference to plain forward passes."""
    ordered: bool


def total(some: Sequence[Decision], name: str) -> int:
    """The sum of a field."""
    return sum(getattr(one, name) for one in some)


def report(some: Sequence[Decision]) -> str:
    """A line about the decisions of one environment."""
    names = ("prompt", "new", "nodes", "bound", "computed", "whole", "posts", "bytes", "sent")
    sums = ", ".join(f"{name} {total(some, name):,}" for name in names)
    likely = max(one.error for one in some), max(one.plain for one in some)
    return (
        f"{len(some)} decisions, {some[0].candidates} candidates; {sums}, images "
        f"{total(some, 'images')}; from local {likely[0]:.1e}, from plain {likely[1]:.1e} nat; "
        f"ranked the same {sum(one.ordered for one in some)}"
    )


async def decisions(
    env: str, views: Sequence[View], address: str, here: Transformer, there: Model
) -> list[Decision]:
    """The decisions of one episode."""
    prompt = Prompt("rank", PromptSettings(pictures=STEPS[env]))
    found: list[Decision] = []
    before: Sequence[int] = ()
    seen: set[str] = set()
    for view in views:
        texts = list(dict.fromkeys(action.text for action in view.candidates))
        seeing = Ability.IMAGES in here.abilities
        messages = [small(one) for one in prompt.messages(view, images=seeing)]
        shown = {p.sha256 for m in messages for p in m.parts if isinstance(p, Image)}
        ids = here.encoder.prompt(messages).ids
        pairs = zip(before, ids, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        trie = Trie.pack([here.encoder.candidate(text) for text in texts])
        with counting(address) as count:
            ranked = await there.rank(messages, texts)
        want = await here.rank(messages, texts)
        got, exact = ([one.logprob for one in ranking.scores] for ranking in (ranked, want))
        plainly = plain(here, messages, texts)
        depths = [int(depth) for depth in trie.depths]
        found.append(
            Decision(
                env=env,
                candidates=len(texts),
                prompt=len(ids),
                new=len(ids) - same,
                nodes=len(trie),
                bound=len(ids)
                - same // BLOCK * BLOCK
                + sum((len(ids) % BLOCK or BLOCK) + depth for depth in depths),
                computed=count.computed,
                whole=sum(len(ids) + depth for depth in depths),
                requests=ranked.call.requests,
                posts=count.posts,
                bytes=count.bytes,
                sent=count.images,
                images=len(shown - seen),
                error=float(np.abs(np.subtract(got, exact)).max()),
                plain=float(np.abs(np.subtract(got, plainly)).max()),
                ordered=alike(got, exact) and alike(got, plainly),
            )
        )
        before = ids
        seen |= shown
        sys.stderr.write(f"    {found[-1]}\n")
    return found


def alike(some: Sequence[float], others: Sequence[float]) -> bool:
    """Whether two rankings are the same; scores within 1e-5 nat may change places."""
    order = np.argsort(np.negative(some), kind="stable")
    return bool((np.diff(np.asarray(others)[order]) <= 1e-5).all())


@torch.inference_mode()
def plain(here: Transformer, messages: Sequence[Message], texts: Sequence[str]) -> list[float]:
    """The scores by one plain forward pass for each candidate."""
    prompt = here.encoder.prompt(messages)
    paths = [here.encoder.candidate(text) for text in texts]
    found: list[float] = []
    for path in paths:
        answer = here.network(
            input_ids=torch.tensor([[*prompt.ids, *path]]),
            logits_to_keep=len(path) + 1,
            **prompt.extended(here.network, len(path)),
        )
        likely = answer.logits[0].double().log_softmax(-1)
        exact = sum(float(likely[i, token]) for i, token in enumerate(path))
        longer = {p[len(path)] for p in paths if p[: len(path)] == path and p != path}
        taken = sum(float(likely[-1, token].exp()) for token in longer)
        found.append(exact + float(np.log1p(-taken)))
    return found


def small(message: Message) -> Message:
    """The message with its images at the size at which they are read."""
    parts = [
        Image(np.asarray(Picture.fromarray(part.rgb).resize((SIDE, SIDE))))
        if isinstance(part, Image)
        else part
        for part in message.parts
    ]
    return replace(message, parts=tuple(parts))


def episode(env: str, seed: int) -> Iterator[View]:
    """What is seen at each step of an episode that acts by lot."""
    rng = random.Random(seed)
    settings = {"wire": "none"} if env == "alfred" else {}
    with inhabit.open(env, seed, seed=seed, settings=settings) as session:
        words = tuple(Action(text, verb="") for text in session.candidates("vocabulary"))
        for _ in range(STEPS[env]):
            yield View(session.goal, session.last, words, session.history)
            session.act(rng.choice(session.candidates()))


class Count:
    """What one block of code asked of a server."""

    computed = posts = bytes = images = 0


@contextmanager
def counting(address: str) -> Iterator[Count]:
    """Count what is sent, and what the server computes, within a block."""
    count, before, send = Count(), metrics(address), BoundedClient.send

    async def noted(self: BoundedClient, request: Any, **options: Any) -> Any:
        count.posts += 1
        count.bytes += len(request.content)
        count.images += request.content.count(b"data:image/")
        return await send(self, request, **options)

    BoundedClient.send = noted  # type: ignore[method-assign]
    try:
        yield count
    finally:
        BoundedClient.send = send  # type: ignore[method-assign]
        count.computed = metrics(address) - before


def metrics(address: str) -> int:
    """Prompt tokens that the server has computed."""
    with urlopen(f"{address}/metrics", timeout=60) as answer:
        said = answer.read().decode()

    def of(name: str) -> float:
        return sum(map(float, re.findall(rf"^vllm:{name}(?:{{.*}})? (\S+)$", said, re.M)))

    return round(of("prompt_tokens_total") - of("prompt_tokens_cached_total"))


@contextmanager
def served(python: Path, model: Path) -> Iterator[str]:
    """The address of a server of `model`, which ends with the block."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [python, "-m", "vllm.entrypoints.openai.api_server", "--model", model]
    command += ["--served-model-name", "m", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--max-model-len", "8192", "--enforce-eager", "--dtype", DTYPE]
    command += ["--block-size", str(BLOCK), "--limit-mm-per-prompt", json.dumps({"image": 30})]
    command += ["--enable-prompt-tokens-details"]
    more = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}
    address = f"http://127.0.0.1:{port}"
    log = Path(os.environ.get("BENCH_VLLM_LOG", os.devnull))
    with log.open("wb") as said:
        server = subprocess.Popen(
            list(map(str, command)),
            env={k: v for k, v in {**os.environ, **more}.items() if k != "PYTHONPATH"},
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        while True:
            if server.poll() is not None:
                raise RuntimeError(
                    f"vLLM ended with {server.returncode}; BENCH_VLLM_LOG=FILE keeps why."
                )
            try:
                with urlopen(f"{address}/health", timeout=5):
                    break
            except (URLError, OSError):
                time.sleep(0.5)
        yield address
    finally:
        if server.poll() is None:
            os.killpg(server.pid, 15)
        server.wait()


def words(image: str, *more: str) -> Any:
    """SmolLM2's tokenizer, with `image` where an image stands."""
    found = AutoTokenizer.from_pretrained(prepare())
    found.add_special_tokens({"additional_special_tokens": list(more)})
    found.chat_template = CHAT.replace("IMAGE", image)
    return found


def save_llava(folder: Path) -> Path:
    """A LLaVA that sees an image as sixteen patches."""
    torch.manual_seed(0)
    tokens = words("<image>", "<image>")
    vision = CLIPVisionConfig(
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=SIDE,
        patch_size=28,
        initializer_range=0.1,
    )
    image = tokens.convert_tokens_to_ids("<image>")
    config = LlavaConfig(
        vision_config=vision,
        text_config=LlamaConfig(vocab_size=len(tokens), **TEXT),
        image_token_id=image,
        image_token_index=image,
        vision_feature_layer=-1,
        vision_feature_select_strategy="default",
        image_seq_length=16,
    )
    LlavaForConditionalGeneration(config).save_pretrained(folder)
    weights = load_file(folder / "model.safetensors")
    # As on hubs: vLLM does not know the names that transformers 5.24 writes.
    named = {
        k.replace("vision_tower.", "vision_tower.vision_model."): v for k, v in weights.items()
    }
    save_file(named, folder / "model.safetensors", metadata={"format": "pt"})
    size = {"height": SIDE, "width": SIDE}
    LlavaProcessor(
        image_processor=CLIPImageProcessor(size={"shortest_edge": SIDE}, crop_size=size),
        tokenizer=tokens,
        patch_size=28,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=tokens.chat_template,
    ).save_pretrained(folder)
    return folder


def save_qwen2_vl(folder: Path) -> Path:
    """A Qwen2-VL that sees an image as sixteen patches of four each."""
    torch.manual_seed(0)
    tokens = words("<|vision_start|><|image_pad|><|vision_end|>", *PADS)
    begin, end, image, video = tokens.convert_tokens_to_ids(list(PADS))
    rope = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [4, 6, 6]}
    config = Qwen2VLConfig(
        text_config={
            "vocab_size": len(tokens),
            "rope_parameters": rope,
            "bos_token_id": tokens.bos_token_id,
            "eos_token_id": tokens.eos_token_id,
            **TEXT,
        },
        vision_config={
            "depth": 2,
            "embed_dim": 64,
            "num_heads": 2,
            "hidden_size": TEXT["hidden_size"],
            "mlp_ratio": 2,
            "initializer_range": 0.1,
        },
        vision_start_token_id=begin,
        vision_end_token_id=end,
        image_token_id=image,
        video_token_id=video,
    )
    Qwen2VLForConditionalGeneration(config).save_pretrained(folder)
    Qwen2VLImageProcessor(min_pixels=56 * 56, max_pixels=448 * 448).save_pretrained(folder)
    tokens.save_pretrained(folder)
    return folder


SAVED: dict[str, Callable[[Path], Path]] = {
    "llava": save_llava,
    "qwen2_vl": save_qwen2_vl,
    "smollm2": lambda _: prepare(),
}


if __name__ == "__main__":
    main()
