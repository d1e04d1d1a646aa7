"""What is asked of transformers beyond its documentation is there in the installed release."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText, LlamaConfig, LlavaConfig

from inhabit.agents.models import transformers_names as names
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.registry import load
from tests.agents.models.local.test_images import prompt, rank
from tests.agents.models.local.tiny import save_llava, save_qwen

KINDS = {"llava": save_llava, "qwen": save_qwen}


@pytest.mark.parametrize("kind", KINDS)
def test_ranking_uses_no_deprecated_name(kind: str, tmp_path: Path) -> None:
    folder = KINDS[kind](tmp_path / "model")
    settings = LocalSettings.model_validate({"device": "cpu", "dtype": "float32"})
    with warnings.catch_warnings():
        warnings.simplefilter("error", FutureWarning)
        model = load(f"local:{folder}", settings)
        rank(model, [prompt(0)])
    assert names.image_encoder(model.network) is not None
    assert model.features is not None, "Encoded images are kept."
    assert (names.position_index(model.network) is not None) == (kind == "qwen")


def test_auto_classes_tell_which_models_see() -> None:
    assert names.knows(AutoModelForImageTextToText, LlavaConfig())
    assert not names.knows(AutoModelForImageTextToText, LlamaConfig())
    assert names.knows(AutoModelForCausalLM, LlamaConfig())
