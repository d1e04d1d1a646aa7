"""Training on whole episodes: their prompts are read once (`inhabit tune --set episodes=true`)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from PIL import Image as Picture

import inhabit
from inhabit.agents.models.core import Image
from inhabit.agents.models.local.recommended import FILE
from inhabit.eie.examples.example import Example, Lineage, Past
from inhabit.eie.tuning.base import merge
from inhabit.eie.tuning.batches import episode_steps
from inhabit.eie.tuning.samples import Wording, read
from inhabit.eie.tuning.settings import TuneError, TuneSettings
from inhabit.envs.toy.env import Toy
from inhabit.envs.toy.tasks import sample
from tests.agents.models.local.tiny import save_llava, save_qwen
from tests.agents.models.local.tiny_vlm import save_decoder, save_vlm
from tests.eie.tuning.training import train, weights

PROMPT = """{% block system %}Act.{% endblock %}
{% block past %}{{ goal | line }}{% endblock %}
{% block step %}; {{ step.action | line }}{% endblock %}
{% block now %}{% endblock %}"""
TRAINED = {
    "objective": "sft",
    "end": True,
    "targets": "none",
    "whole": "language,projector",
    "episodes": True,
    "epochs": 1,
    "batch": 6,
    "rate": 5e-3,
    "judge": 0,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The expert's steps in four tasks, told twice."""
    folder = tmp_path_factory.mktemp("made")
    with Toy() as env, (folder / "examples.jsonl").open("w") as file:
        for copy in range(2):
            for seed, task in enumerate(sample(4, 0)):
                env.reset(task, seed=seed)
                for example in steps(env, task, copy, folder):
                    file.write(example.model_dump_json() + "\n")
    return folder


def steps(env: Toy, task, copy: int, folder: Path):
    past: list[Past] = []
    while plan := env.plan():
        seen, action = env.observe(), plan[0]
        name = f"{Image(seen.rgb).digest}.png"
        Picture.fromarray(seen.rgb).save(folder / name)
        yield Example(
            id=f"{task.id}-{copy}-{len(past)}",
            env="toy",
            kind="trajectory",
            split="train",
            image=name,
            image_digest=Path(name).stem,
            text=seen.text,
            question=task.goal,
            candidates=(action.text, "wait"),
            answer=0,
            reason="",
            key_concepts=(action.text,),
            goal=task.goal,
            history=tuple(past),
            lineage=Lineage(author="expert", seed_task=task.id, task={"id": task.id}, seed=copy),
        )
        outcome = env.act(action)
        past.append(Past(action=action.text, feedback=outcome.feedback, image=name))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = save_llava(tmp_path_factory.mktemp("base"))
    (folder / "prompt.jinja").write_text(PROMPT)
    advice = {"prompt": "prompt.jinja", "history": 60, "pictures": 2, "end": True}
    (folder / FILE).write_text(json.dumps({"agent": advice}))
    return folder


@pytest.mark.slow
def test_a_model_from_nothing_learns_from_episodes_and_acts(
    made: Path, base: Path, tmp_path: Path
) -> None:
    result, heard = train(made, base, tmp_path / "tuned", **TRAINED | {"epochs": 6})
    losses = [line.loss for line in heard if line.kind == "step"]
    assert losses[-1] < 0.7 * losses[0]
    tuned = Path(result.model.removeprefix("local:"))
    assert (tuned / FILE).read_bytes() == (base / FILE).read_bytes()
    run = inhabit.run("toy", "rank", tmp_path / "run", model=result.model, n=1, max_steps=2)
    line = run.episodes()[0]
    assert line["ending"] in ("success", "step_limit")
    told = json.loads((tmp_path / "run" / "run.json").read_text())["settings"]["agent"]
    assert told["history"] == 60
    assert told["prompt"] == str(tuned / "prompt.jinja")


def test_a_model_is_tuned_with_the_prompt_that_it_recommends_to_agents(
    made: Path, base: Path, tmp_path: Path
) -> None:
    settings = TRAINED | {"objective": "ranking", "end": False, "episodes": False, "limit": 6}
    train(made, base, tmp_path / "tuned", **settings)
    told = json.loads((tmp_path / "tuned" / "tune.json").read_text())["settings"]
    assert (told["prompt"], told["history"]) == (str(base / "prompt.jinja"), 60)
    assert (told["pictures"], told["end"]) == (True, False)


def test_a_whole_history_is_tuned_on_with_its_images(
    made: Path, base: Path, tmp_path: Path
) -> None:
    told = Wording(TuneSettings(history="whole"), sees=True)
    samples = list(read(made, "train"))
    for sample_ in samples:
        shown = [part for message in told.messages(sample_) for part in message.parts]
        images = sum(isinstance(part, Image) for part in shown)
        assert images == 1 + len(sample_.example.history)
    settings = TRAINED | {"history": "whole", "episodes": False, "limit": 12}
    _, heard = train(made, base, tmp_path / "tuned", **settings)
    assert [line.loss for line in heard if line.kind == "step"]


@pytest.mark.slow
def test_the_packages_multimodal_model_is_tuned_merged_and_acts(made: Path, tmp_path: Path) -> None:
    for name in ("decoder", "base", "merged"):
        (tmp_path / name).mkdir()
    base = save_vlm(save_decoder(tmp_path / "decoder"), tmp_path / "base", {})
    settings = {"objective": "sft", "end": True, "epochs": 2, "batch": 4, "rate": 5e-3, "judge": 0}
    result, heard = train(made, base, tmp_path / "tuned", **settings)
    losses = [line.loss for line in heard if line.kind == "step"]
    assert losses[-1] < 0.8 * losses[0]
    merge(result.model, tmp_path / "merged")
    for number, name in enumerate((result.model, f"local:{tmp_path / 'merged'}")):
        out = tmp_path / f"run-{number}"
        run = inhabit.run("toy", "rank", out, model=name, n=1, max_steps=2)
        assert run.episodes()[0]["ending"] in ("success", "step_limit")


@pytest.mark.slow
def test_an_interrupted_training_gives_the_same_weights(
    made: Path, base: Path, tmp_path: Path
) -> None:
    settings = TRAINED | {"save_every": 2}
    train(made, base, tmp_path / "whole", **settings)
    train(made, base, tmp_path / "cut", **settings)
    newest = sorted((tmp_path / "cut" / "checkpoints").iterdir())[-1]
    shutil.rmtree(newest)
    train(made, base, tmp_path / "cut", **settings)
    whole, resumed = weights(tmp_path / "whole"), weights(tmp_path / "cut")
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


def test_a_model_with_other_positions_is_refused(made: Path, tmp_path: Path) -> None:
    qwen = tmp_path / "qwen"
    qwen.mkdir()
    save_qwen(qwen)
    with pytest.raises(TuneError, match="episodes=true"):
        train(made, qwen, tmp_path / "tuned", **TRAINED)


def test_steps_take_whole_episodes() -> None:
    names = tuple("aaabbbbcc" * 3)
    names = tuple(f"{name}{i // 9}" for i, name in enumerate(names))
    steps = episode_steps(names, 5, 2.0, 0)
    assert all(len(step) >= 5 for step in steps[:-1])
    for step in steps:
        for name in {names[i] for i in step}:
            assert sum(names[i] == name for i in step) % names.count(name) == 0
    assert sum(map(len, steps)) == 2 * len(names)
    assert steps != episode_steps(names, 5, 2.0, 1)
