"""Adapters go both ways: ours load in plain PEFT, and those of plain PEFT load here."""

from __future__ import annotations

import asyncio
from pathlib import Path

import peft
import pytest
import torch
import transformers
from safetensors.torch import load_file
from sampling import every

from inhabit.agents.core import ModelError
from inhabit.agents.models.core import Message
from inhabit.agents.models.local.registration import recommended
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.registry import load
from inhabit.eie.tuning.base import merge
from inhabit.eie.tuning.settings import TuneError
from tests.agents.models.local.tiny import save_llama
from tests.eie.tuning.made_set import write
from tests.eie.tuning.training import train

ASK = [Message("user", ("What now?",))]
TEXTS = ("open the fridge", "go to the sink", "open the drawer")


def scores(model: str) -> list[float]:
    found = load(model, LocalSettings(device="cpu", dtype="float32"))
    try:
        return [one.logprob for one in asyncio.run(found.rank(ASK, TEXTS)).scores]
    finally:
        asyncio.run(found.close())


def adapters(base: Path, folder: Path) -> Path:
    """LoRA with random weights, as PEFT saves it, of a model in `base`."""
    torch.manual_seed(1)
    plain = transformers.AutoModelForCausalLM.from_pretrained(base)
    config = peft.LoraConfig(target_modules=["q_proj", "down_proj"], init_lora_weights=False)
    peft.get_peft_model(plain, config).save_pretrained(folder)
    return folder


def test_adapters_of_plain_peft_load_here(tmp_path: Path) -> None:
    base = save_llama(tmp_path / "base")
    folder = adapters(base, tmp_path / "adapters")
    merged = peft.PeftModel.from_pretrained(
        transformers.AutoModelForCausalLM.from_pretrained(base), str(folder)
    ).merge_and_unload()
    merged.save_pretrained(tmp_path / "merged")
    for file in base.glob("*token*"):
        (tmp_path / "merged" / file.name).write_bytes(file.read_bytes())
    for file in base.glob("*.jinja"):
        (tmp_path / "merged" / file.name).write_bytes(file.read_bytes())
    told = scores(f"local:{folder}+{base}")
    assert told == pytest.approx(scores(f"local:{tmp_path / 'merged'}"), abs=1e-4)
    assert told != pytest.approx(scores(f"local:{base}"), abs=0.1)


@pytest.mark.slow
def test_adapters_of_plain_peft_are_tuned_further(tmp_path: Path) -> None:
    base = save_llama(tmp_path / "base")
    folder = adapters(base, tmp_path / "adapters")
    made = write(tmp_path / "set", train=8, val=0)
    result, heard = train(made, Path(f"{folder}+{base}"), tmp_path / "out", epochs=2)
    assert heard[-1].loss < heard[0].loss
    assert scores(result.model) != pytest.approx(scores(f"local:{folder}+{base}"), abs=0.01)
    merge(result.model, tmp_path / "merged")
    assert scores(f"local:{tmp_path / 'merged'}") == pytest.approx(scores(result.model), abs=1e-4)


def test_a_merged_model_recommends_what_its_base_does(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "merged").symlink_to("empty")
    base = save_llama(tmp_path / "base")
    (base / "inhabit.json").write_text('{"agent": {"prompt": "mine.jinja", "history": 3}}')
    (base / "mine.jinja").write_text("Mine.")
    folder = adapters(base, tmp_path / "adapters")
    merge(f"local:{folder}+{base}", tmp_path / "merged")
    found = recommended(str(tmp_path / "merged"))["agent"]
    assert found == {"prompt": tmp_path / "merged/mine.jinja", "history": 3}


@pytest.mark.parametrize("dtype", every(2, ["bfloat16", "float32"]))
def test_merged_weights_stay_in_the_dtype_of_the_checkpoint(tmp_path: Path, dtype: str) -> None:
    """Each is the sum of weight and adapter, rounded once."""
    base = save_llama(tmp_path / "base")
    kind = transformers.AutoModelForCausalLM
    kind.from_pretrained(base, dtype=getattr(torch, dtype)).save_pretrained(base)
    folder = adapters(base, tmp_path / "adapters")
    (tmp_path / "merged.half").mkdir()
    merge(f"local:{folder}+{base}", tmp_path / "merged")
    left = {file.name for file in tmp_path.iterdir()}
    assert left == {"base", "adapters", "merged", "merged.half"}

    got = load_file(tmp_path / "merged" / "model.safetensors")
    exact = peft.PeftModel.from_pretrained(kind.from_pretrained(base, dtype=torch.float32), folder)
    want = exact.merge_and_unload().state_dict()
    for name, weight in got.items():
        assert weight.dtype == getattr(torch, dtype)
        torch.testing.assert_close(weight, want[name].to(weight.dtype), rtol=0, atol=0)
    merged = scores(f"local:{tmp_path / 'merged'}")
    assert merged == pytest.approx(
        scores(f"local:{folder}+{base}"), abs=1e-4 if dtype == "float32" else 1
    )


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("openai:x", "Only a local model can be merged"),
        ("local:BASE", "no adapters: there is nothing to merge"),
    ],
)
def test_what_can_not_be_merged(tmp_path: Path, model: str, said: str) -> None:
    base = save_llama(tmp_path / "base")
    with pytest.raises(TuneError, match=said):
        merge(model.replace("BASE", str(base)), tmp_path / "merged")
    assert not (tmp_path / "merged").exists()
    with pytest.raises(TuneError, match="is not empty: name another folder"):
        merge(f"local:{base}", base)


def test_adapters_that_name_no_base_say_what_to_do(tmp_path: Path) -> None:
    folder = adapters(save_llama(tmp_path / "base"), tmp_path / "adapters")
    config = folder / "adapter_config.json"
    config.write_text(config.read_text().replace(f'"{tmp_path / "base"}"', "null"))
    with pytest.raises(ModelError, match=r"name no base model\. .*--model 'local:.*\+BASE'"):
        load(f"local:{folder}")
