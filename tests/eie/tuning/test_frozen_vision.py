"""A frozen vision encoder reads each image once, whatever the number of epochs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from inhabit.eie.tuning import loop
from inhabit.eie.tuning.parts import vision_encoder
from tests.agents.models.local.tiny import save_idefics, save_llava, save_qwen
from tests.eie.tuning.made_set import write
from tests.eie.tuning.training import train, weights


def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of passes through the vision encoder of each training from now on."""
    counts: list[int] = []
    remember = loop.remember_images

    def counted(model: Any, gigabytes: float) -> bool:
        encoder = vision_encoder(model)
        assert encoder is not None
        forward, index = encoder.forward, len(counts)
        counts.append(0)

        def count(*given: Any, **named: Any) -> Any:
            counts[index] += 1
            return forward(*given, **named)

        encoder.forward = count
        return remember(model, gigabytes)

    monkeypatch.setattr(loop, "remember_images", counted)
    return counts


@pytest.mark.slow
@pytest.mark.parametrize("save", [save_llava, save_qwen, save_idefics])
def test_each_picture_is_read_once(
    save: Callable[[Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, base = write(tmp_path / "set", train=8, val=2), save(tmp_path / "base")
    counts = reads(monkeypatch)
    for name, epochs, cache in (("two", 2, 1.0), ("four", 4, 1.0), ("anew", 2, 0.0)):
        train(made, base, tmp_path / name, epochs=epochs, cache=cache)
    two, four, anew = counts
    assert two == four <= 8 + 2
    assert anew > 2 * two
    kept, read = weights(tmp_path / "two"), weights(tmp_path / "anew")
    for name, weight in read.items():
        torch.testing.assert_close(kept[name], weight, atol=1e-5, rtol=1e-4)


def test_a_trained_encoder_is_read_each_time(tmp_path: Path) -> None:
    made, base = write(tmp_path / "set", train=4, val=0), save_llava(tmp_path / "base")
    seen: list[bool] = []
    original = loop.remember_images
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "remember_images", lambda *a: seen.append(original(*a)))
        train(made, base, tmp_path / "out", epochs=2, targets="none", whole=("vision",))
    assert seen == [False]
