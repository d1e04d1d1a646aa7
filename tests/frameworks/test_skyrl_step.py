"""A step of GRPO by SkyRL's own generator, advantages and loss, on a tiny model that sees."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pixels import of_parts

from inhabit.frameworks.factory import rollouts

pytest.importorskip("skyrl", reason="needs the package skyrl")
GROUP, TURNS, LETTERS = 4, 2, 6


class Engine:
    """What SkyRL asks of an inference engine, by a model in this process in place of vLLM."""

    model_name = "tiny"

    def __init__(self, folder: Path) -> None:
        import torch
        from transformers import (
            AutoTokenizer,
            Qwen2_5_VLForConditionalGeneration,
            Qwen2VLImageProcessor,
        )

        self.words = AutoTokenizer.from_pretrained(folder)
        self.eyes = Qwen2VLImageProcessor.from_pretrained(folder)
        self.model = Qwen2_5_VLForConditionalGeneration.from_pretrained(folder).eval()
        self.random = torch.Generator().manual_seed(0)
        self.seen: list[list[str]] = []
        self.finished = 0

    async def render_chat_completion(self, request: Any) -> Any:
        messages = request["json"]["messages"]
        plain, pictures = [], []
        for message in messages:
            content = message["content"]
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            pictures += [part for part in parts if part["type"] == "image_url"]
            plain.append({**message, "content": [_renamed(part) for part in parts]})
        self.seen.append([of_parts([part]) for part in pictures])
        text = self.words.apply_chat_template(plain, tokenize=False, add_generation_prompt=True)
        images = [_opened(part["image_url"]["url"]) for part in pictures]
        data = self.eyes(images=images, return_tensors="pt")
        for rows in (int(grid.prod()) // self.eyes.merge_size**2 for grid in data.image_grid_thw):
            text = text.replace("<|image_pad|>", "<pad>" * rows, 1)
        text = text.replace("<pad>", "<|image_pad|>")
        ids = self.words(text, add_special_tokens=False).input_ids
        return {"token_ids": ids, "features": {"kwargs_data": data}}

    async def generate(self, request: Any, model: str | None = None) -> Any:
        import torch

        data = request["mm_features"][0]["kwargs_data"]
        ids, start = list(request["prompt_token_ids"][0]), len(request["prompt_token_ids"][0])
        for _ in range(LETTERS):
            with torch.no_grad():
                scores = logits(self.model, torch.tensor([ids]), data)[0, -1]
            scores[:8] = -torch.inf  # Letters alone: no marks.
            ids.append(int(torch.multinomial(scores.softmax(-1), 1, generator=self.random)))
        said = ids[start:]
        return {
            "responses": [self.words.decode(said)],
            "response_ids": [said],
            "stop_reasons": ["stop"],
        }

    async def finish_session(self, _: Any) -> None:
        self.finished += 1


def logits(model: Any, ids: Any, data: Any) -> Any:
    kinds = (ids == model.config.image_token_id).long()
    return model(
        ids,
        pixel_values=data["pixel_values"],
        image_grid_thw=data["image_grid_thw"],
        mm_token_type_ids=kinds,
    ).logits


def test_the_loss_of_a_step_depends_on_the_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch
    import typing_extensions

    from tests.agents.models.local.tiny import save_qwen

    if sys.version_info < (3, 12):  # SkyRL is for 3.12, where pydantic takes these.
        monkeypatch.setattr("typing.TypedDict", typing_extensions.TypedDict)
    from skyrl.backends.skyrl_train.utils import ppo_utils
    from skyrl.train.config import AlgorithmConfig, GeneratorConfig, SkyRLGymConfig
    from skyrl.train.generators import skyrl_vlm_generator
    from skyrl_gym.envs.registration import deregister, register

    from inhabit.frameworks.skyrl import dataset_rows, environment_class

    factory = rollouts("toy", 1, list_candidates=False)
    register("inhabit", entry_point=environment_class(factory))
    engine = Engine(save_qwen(tmp_path))
    # vLLM's serialization of images is not there: the engine hands over the tensors themselves.
    monkeypatch.setattr(skyrl_vlm_generator, "decode_mm_kwargs", lambda data: data)
    told = GeneratorConfig(batched=False, max_turns=TURNS, use_conversation_multi_turn=True)
    told.max_input_length = 10_000
    generator = skyrl_vlm_generator.SkyRLVLMGymGenerator(
        told, SkyRLGymConfig(max_env_workers=0), engine, engine.words
    )
    row = dataset_rows(factory, "inhabit")[0]
    asked = {
        "prompts": [row["prompt"]] * GROUP,
        "env_classes": ["inhabit"] * GROUP,
        "env_extras": [{"task": 0} for _ in range(GROUP)],
    }
    try:
        done = asyncio.run(generator.generate(asked, disable_tqdm=True))
    finally:
        deregister("inhabit")
    assert engine.finished == GROUP and len(done["pixel_values"]) == GROUP
    with factory.open() as here:
        first = here.reset(0)
    assert all(seen[0] == of_parts(first.chat_parts) for seen in engine.seen)

    # Rewards that differ within the group, whatever a random model says.
    rewards = torch.zeros(GROUP, max(map(len, done["response_ids"])))
    rewards[:, 0] = torch.arange(GROUP)
    masks = torch.zeros_like(rewards)
    for number, mask in enumerate(done["loss_masks"]):
        masks[number, : len(mask)] = torch.tensor(mask)
    config = AlgorithmConfig()
    advantages, _ = ppo_utils.compute_advantages_and_returns(
        rewards, masks, np.array(["one"] * GROUP), config.advantage_estimator, config
    )

    def chances(blank: bool) -> Any:
        found = torch.zeros_like(rewards)
        for i in range(GROUP):
            before, said = done["prompt_token_ids"][i], done["response_ids"][i]
            pixels = done["pixel_values"][i]
            data = SimpleNamespace(
                pixel_values=torch.zeros_like(pixels) if blank else pixels,
                image_grid_thw=done["image_grid_thw"][i],
            ).__dict__
            ids = torch.tensor([[*before, *said]])
            every = logits(engine.model, ids, data)[0, len(before) - 1 : -1].log_softmax(-1)
            found[i, : len(said)] = every.gather(1, torch.tensor(said)[:, None])[:, 0]
        return found

    def loss(now: Any) -> Any:
        policy = ppo_utils.PolicyLossRegistry.get(config.policy_loss_type)
        return policy(now, old, advantages / masks.sum(), config, masks)[0]

    old = chances(blank=False).detach()
    shown, again = chances(blank=False), loss(chances(blank=False)).item()
    assert loss(shown).item() == again
    assert abs(loss(chances(blank=True)).item() - again) > 1e-4
    optimizer = torch.optim.AdamW(engine.model.parameters(), lr=1e-3)
    loss(shown).backward()
    optimizer.step()
    assert loss(chances(blank=False)).item() < again


def _renamed(part: Any) -> Any:
    return part if part["type"] == "text" else {"type": "image"}


def _opened(url: str) -> Any:
    import base64
    import io

    from PIL import Image

    return Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))
