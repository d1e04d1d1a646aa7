"""`inhabit tune` on tiny models of three architectures that see, and on one that does not."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from in_process import inhabit
from sampling import every

from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.registry import load
from inhabit.agents.models.trie import Trie
from inhabit.eie.tuning import checkpoint
from inhabit.eie.tuning.log import LogLine, lines
from inhabit.eie.tuning.loop import Training
from inhabit.eie.tuning.passes import Way
from inhabit.eie.tuning.passes import read as logits_of
from inhabit.eie.tuning.questions import Question, Questions, score
from inhabit.eie.tuning.samples import Sample, Wording, read
from inhabit.eie.tuning.settings import Objective, TuneError, TuneSettings
from inhabit.eie.tuning.tune import tune
from inhabit.episodes.recording.folder import locked
from tests.agents.models.local.tiny import save_idefics, save_llama, save_llava, save_qwen
from tests.eie.tuning.made_set import write
from tests.eie.tuning.training import QUICK, train, weights

KINDS = {"llama": save_llama, "llava": save_llava, "qwen": save_qwen, "idefics": save_idefics}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("set") / "s", train=16, val=6)


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {kind: save(tmp_path_factory.mktemp(kind)) for kind, save in KINDS.items()}


@pytest.mark.parametrize("way", every(2, ["packed", "rows"]))
@pytest.mark.parametrize("kind", every(2, KINDS))
def test_scores_are_those_of_ranking(
    kind: str, way: Way, bases: dict[str, Path], made: Path
) -> None:
    """Three prompts of different lengths in one forward pass."""
    loaded = load(f"local:{bases[kind]}", LocalSettings(device="cpu", dtype="float32"))
    network, encoder = loaded.network, loaded.encoder  # type: ignore[attr-defined]
    wording, asked, expected = Wording(TuneSettings(), sees=kind != "llama"), [], []
    for n, sample in zip(range(3), read(made, "train"), strict=False):
        example = sample.example.model_copy(update={"goal": "Take it." + " Now!" * n})
        messages = wording.messages(Sample(sample.folder, example))
        texts = [*example.candidates, "take the red", "take the red thing_2"]
        trie = Trie.pack([encoder.candidate(text) for text in texts])
        asked.append(Question("", encoder.prompt(messages), trie, 0))
        scores = asyncio.run(loaded.rank(messages, texts)).scores
        expected.append(torch.tensor([one.logprob for one in scores]))
    found = logits_of(network, asked, way, pad=encoder.end)
    for one, question, want in zip(found, asked, expected, strict=True):
        sums = score(one, question.trie).sums
        assert sums.requires_grad
        torch.testing.assert_close(sums.detach().float(), want, atol=1e-3, rtol=0)


@pytest.mark.parametrize(
    ("kind", "objective"),
    [
        *(pytest.param(kind, Objective.RANKING, marks=pytest.mark.slow) for kind in KINDS),
        *(pytest.param("llava", o, marks=pytest.mark.slow) for o in Objective),
    ],
)
def test_every_architecture_learns(
    kind: str, objective: Objective, bases: dict[str, Path], made: Path, tmp_path: Path
) -> None:
    result, heard = train(made, bases[kind], tmp_path, objective=objective, epochs=2)
    steps = [line for line in heard if line.kind == "step"]
    assert len(steps) == result.steps == 8
    assert steps[-1].loss < steps[0].loss
    tuned = load(result.model, LocalSettings(device="cpu", dtype="float32"))
    assert tuned.name == result.model


def test_what_is_loaded_is_what_was_trained(
    bases: dict[str, Path], made: Path, tmp_path: Path
) -> None:
    result, heard = train(made, bases["llava"], tmp_path, epochs=1, targets="all")
    last = [line for line in heard if line.kind == "judge"][-1]
    tuned = load(result.model, LocalSettings(device="cpu", dtype="float32"))
    wording, right = Wording(TuneSettings(), sees=True), 0
    for sample in read(made, "val"):
        asked = tuned.rank(wording.messages(sample), sample.example.candidates)
        scores = [one.logprob for one in asyncio.run(asked).scores]
        right += scores.index(max(scores)) == sample.example.answer
    assert right / 6 == pytest.approx(last.accuracy)


def test_a_killed_training_ends_as_an_undisturbed_one(
    bases: dict[str, Path], made: Path, tmp_path: Path
) -> None:
    said = {"epochs": 2, "save_every": 3, "dropout": 0.1}
    train(made, bases["llama"], tmp_path / "whole", **said)

    class KilledError(Exception):
        pass

    def kill(line: LogLine, steps: int) -> None:
        if line.step == 5:
            raise KilledError

    settings = TuneSettings.model_validate(QUICK | said)
    with pytest.raises(KilledError):
        tune(
            read(made, "train"),
            read(made, "val"),
            base=f"local:{bases['llama']}",
            out=tmp_path / "cut",
            settings=settings,
            seed=0,
            tell=kill,
            warn=lambda sentence: None,
        )
    _, heard = train(made, bases["llama"], tmp_path / "cut", **said)
    assert next(line.step for line in heard if line.kind == "step") == 4
    undisturbed, resumed = weights(tmp_path / "whole"), weights(tmp_path / "cut")
    assert undisturbed.keys() == resumed.keys()
    assert all(torch.equal(undisturbed[name], resumed[name]) for name in undisturbed)
    counted = [line.step for line in lines(tmp_path / "cut" / "log.jsonl") if line.kind == "step"]
    assert counted == list(range(1, 9))


def test_what_was_killed_before_its_last_measurement_is_measured(
    bases: dict[str, Path], made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measure = Training._judge

    def killed(self: Training, step: int, *rest: Any) -> None:
        if step == 4:
            raise KeyboardInterrupt
        measure(self, step, *rest)

    monkeypatch.setattr(Training, "_judge", killed)
    with pytest.raises(KeyboardInterrupt):
        train(made, bases["llama"], tmp_path, epochs=1)
    monkeypatch.undo()
    train(made, bases["llama"], tmp_path, epochs=1)
    told = [line.step for line in lines(tmp_path / "log.jsonl") if line.kind == "judge"]
    assert told == [0, 4]


def test_the_newest_checkpoint_is_kept_after_a_million_steps(tmp_path: Path) -> None:
    for step in (999_950, 999_999, 1_000_000):
        state = checkpoint.CheckpointState(step=step, asked="")
        checkpoint.save(tmp_path, checkpoint.Checkpoint(state, {}, {}, {}))
    assert [place.name for place in checkpoint.whole(tmp_path)] == ["999999", "1000000"]


@pytest.mark.slow
def test_a_checkpoint_cut_short_is_passed_over(
    bases: dict[str, Path], made: Path, tmp_path: Path
) -> None:
    train(made, bases["llama"], tmp_path, epochs=1, save_every=2)
    newest = checkpoint.whole(tmp_path / "checkpoints")[-1]
    (newest / "first.safetensors").write_bytes(b"\x10\x00")
    found, remarks = checkpoint.newest(tmp_path / "checkpoints")
    assert found is not None and found.state.step == 2
    assert len(remarks) == 1 and str(newest) in remarks[0]


def test_numbers_that_are_none_stop_it(bases: dict[str, Path], made: Path, tmp_path: Path) -> None:
    with pytest.raises(
        TuneError, match=r"not a finite number\. The last good checkpoint is .*00000[1-9]"
    ):
        train(made, bases["llama"], tmp_path, epochs=40, rate=1e30, save_every=1, clip=1e30)


def test_a_set_smaller_than_a_step_is_read_in_each_epoch(
    bases: dict[str, Path], tmp_path: Path
) -> None:
    folder = write(tmp_path / "s", train=3, val=0)
    _, heard = train(folder, bases["llama"], tmp_path / "out", epochs=2, batch=20)
    assert [line.examples for line in heard] == [3, 3]


def nameless_image(folder: Path) -> None:
    lines = folder / "examples.jsonl"
    one = json.loads(lines.read_text())
    lines.write_text(json.dumps({**one, "image": "images/\0.png"}) + "\n")


def many_candidates(folder: Path) -> None:
    lines = folder / "examples.jsonl"
    one = json.loads(lines.read_text())
    lines.write_text(json.dumps({**one, "candidates": ["wait"] * 10_001}) + "\n")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / "examples.jsonl").write_text(""), "no training examples"),
        (lambda folder: (folder / "examples.jsonl").unlink(), "not a set of examples"),
        (
            lambda folder: (folder / "examples.jsonl").write_text("{}\n"),
            "Line 1 of .* is not an example",
        ),
        (nameless_image, r"The image 'images/\\x00.png' lies outside of the set"),
        (many_candidates, "Line 1 of .* has 10,001 candidates: at most 10,000 can be learned from"),
        (lambda folder: (folder / "images" / "0.png").write_bytes(b"no"), "can't be read"),
    ],
)
def test_bad_sets(spoil: object, said: str, bases: dict[str, Path], tmp_path: Path) -> None:
    folder = write(tmp_path / "s", train=1, val=0)
    spoil(folder)  # type: ignore[operator]
    with pytest.raises(TuneError, match=said):
        train(folder, bases["llava"], tmp_path / "out")


def test_a_base_that_was_never_spoken_to(made: Path, tmp_path: Path) -> None:
    with pytest.raises(TuneError, match="no chat template"):
        train(made, save_llama(tmp_path / "base", template=None), tmp_path / "out")


@pytest.mark.slow
def test_another_training_is_not_gone_on_from(
    bases: dict[str, Path], made: Path, tmp_path: Path
) -> None:
    train(made, bases["llama"], tmp_path, epochs=1)
    page = (tmp_path / "index.html").read_bytes()
    with pytest.raises(TuneError, match="another base, set, prompt, settings or seed"):
        train(made, bases["llama"], tmp_path, epochs=2)
    assert (tmp_path / "index.html").read_bytes() == page


@pytest.mark.slow
def test_a_training_is_not_gone_on_from_with_another_prompt(
    bases: dict[str, Path], made: Path, tmp_path: Path
) -> None:
    """In the same file."""
    prompt, out = tmp_path / "prompt.jinja", tmp_path / "out"
    prompt.write_text("{% block past %}So far: {{ goal | line }}{% endblock %}")
    train(made, bases["llama"], out, epochs=0.5, prompt=prompt)
    train(made, bases["llama"], out, epochs=0.5, prompt=prompt)
    prompt.write_text("{% block past %}Until now: {{ goal | line }}{% endblock %}")
    with pytest.raises(TuneError, match="another base, set, prompt, settings or seed"):
        train(made, bases["llama"], out, epochs=0.5, prompt=prompt)


def test_a_log_without_a_checkpoint_is_of_no_training(
    bases: dict[str, Path], made: Path, tmp_path: Path
) -> None:
    line = LogLine(kind="step", step=99, loss=7.0).model_dump_json()
    (tmp_path / "log.jsonl").write_text(f"{line}\n")
    result, heard = train(made, bases["llama"], tmp_path, epochs=0.5)
    assert result.loss == next(one.loss for one in reversed(heard) if one.kind == "step")
    assert (tmp_path / "log.jsonl").read_text().startswith(line), "What was logged is kept."


def test_a_folder_with_other_files_is_left_alone(made: Path, tmp_path: Path) -> None:
    """Its `model` would be replaced by the tuned one."""
    base = save_llama(tmp_path / "model")
    (tmp_path / "log.jsonl").touch()  # as of a training whose checkpoints were removed
    before = sorted(base.iterdir())
    with pytest.raises(TuneError, match="holds 'model' and no training: name another folder"):
        train(made, base, tmp_path)
    assert sorted(base.iterdir()) == before
    assert {file.name for file in tmp_path.iterdir()} == {"log.jsonl", "model"}


def test_the_command(bases: dict[str, Path], made: Path, tmp_path: Path) -> None:
    arguments = [
        *("tune", str(made), "--base", f"local:{bases['llava']}", "--out", str(tmp_path / "out")),
        *("--set", "epochs=1", "--set", "device=cpu", "--json"),
    ]
    done = inhabit(*arguments)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["examples"] == 16 and said["steps"] == 1
    assert said["chance"] == pytest.approx(0.25)
    assert (tmp_path / "out" / "index.html").is_file()
    wrong = inhabit("tune", str(made), "--base", "openai:x", "--out", str(tmp_path / "no"))
    assert wrong.returncode == 2 and "Only a local model" in wrong.stderr
    with locked(tmp_path / "out"):
        second = inhabit(*arguments)
    assert second.returncode == 2 and "is being written to by another run" in second.stderr
    wrong = inhabit(*arguments, "--seed", "-1")
    assert wrong.returncode == 2 and "--seed" in wrong.stderr


@pytest.mark.slow
def test_micro_batches_give_the_same_steps(
    bases: dict[str, Path], made: Path, tmp_path: Path
) -> None:
    said = {"epochs": 1, "negatives": 2, "other_answers": 3}
    _, alone = train(made, bases["qwen"], tmp_path / "alone", micro_batch=1, **said)
    warned: list[str] = []
    _, together = train(made, bases["qwen"], tmp_path / "four", warned, micro_batch=4, **said)
    assert not warned
    for one, other in zip(alone, together, strict=True):
        assert one.loss == pytest.approx(other.loss, abs=1e-3)
        assert (one.norm or 0) == pytest.approx(other.norm or 0, rel=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize(
    "said",
    [
        {"checkpointing": True},
        {"attention": "eager"},
        {"cache": 0},
    ],
)
def test_settings_of_speed_and_memory_change_no_loss(
    said: dict[str, object], bases: dict[str, Path], made: Path, tmp_path: Path
) -> None:
    _, plain = train(made, bases["llava"], tmp_path / "plain", epochs=1)
    _, other = train(made, bases["llava"], tmp_path / "other", epochs=1, **said)
    losses = [line.loss for line in plain]
    assert [line.loss for line in other] == pytest.approx(losses, abs=1e-3)


def test_wrong_candidates_are_picked_and_added(bases: dict[str, Path], made: Path) -> None:
    encoder = load(f"local:{bases['llama']}").encoder  # type: ignore[attr-defined]
    samples = list(read(made, "train"))
    for sample in samples[8:]:
        changed = {"candidates": ("wait", *sample.example.candidates[1:]), "answer": 0}
        samples.append(Sample(made, sample.example.model_copy(update=changed)))

    def counts(**said: object) -> set[int]:
        settings = TuneSettings.model_validate(said)
        questions = Questions(samples, encoder, settings, sees=False)
        rng = np.random.default_rng(0)
        return {len(questions.to_learn(0, rng).trie.paths) for _ in range(20)}

    assert counts() == {4}
    assert counts(negatives=2) == {3}
    assert counts(other_answers=50) == {5}  # those that are no candidate: "wait"
    assert counts(objective="contrast") == {2}
    assert counts(objective="sft") == {1}


@pytest.mark.slow
def test_a_set_without_validation_examples_of_the_kind(
    bases: dict[str, Path], tmp_path: Path
) -> None:
    folder = write(tmp_path / "s", train=4, val=2)
    file = folder / "examples.jsonl"
    *train_lines, one, other = file.read_text().splitlines()
    kinds = [line.replace('"decision"', '"recovery"') for line in (one, other)]
    file.write_text("\n".join([*train_lines, *kinds]) + "\n")
    arguments = ["tune", str(folder), "--base", f"local:{bases['llama']}"]
    arguments += ["--out", str(tmp_path / "out"), "--set", "kinds=decision", "--json"]
    done = inhabit(*arguments, "--set", "epochs=0.1", "--set", "objective=sft")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["steps"] == 1 and said["accuracy"] is None
    assert (tmp_path / "out" / "index.html").is_file()
