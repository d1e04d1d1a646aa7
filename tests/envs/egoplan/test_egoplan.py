from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
import torch
from PIL import Image
from transformers import AutoModelForCausalLM, AutoTokenizer

from inhabit.agents.core import Agent, View
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.registry import load
from inhabit.agents.planners.rank import Rank, RankSettings
from inhabit.envs.contract import EnvContract
from inhabit.envs.core import Env, SceneError, Task, TaskError
from inhabit.envs.egoplan import REGISTRATION, EgoPlanSettings
from inhabit.envs.egoplan.env import EgoPlan
from inhabit.envs.egoplan.tasks import asked, frames, keyframes
from tests.agents.models.local.tiny import save_llama

FRAMES = 100


def record(sample: int = 0, **changes: Any) -> dict[str, Any]:
    return {
        "sample_id": sample,
        "video_source": "Ego4D",
        "video_id": "kitchen",
        "task_goal": "making tea",
        "question": "What should I do next to make tea?",
        "choice_a": "fill kettle",
        "choice_b": "open cupboard",
        "choice_c": "switch on kettle",
        "choice_d": "wash the red cup",
        "golden_choice_idx": "C",
        "answer": "switch on kettle",
        "current_observation_frame": 90,
        "task_progress_metadata": [
            {"narration_text": f"step {i}", "start_frame": 10 * i, "stop_frame": 10 * i + 9}
            for i in range(6)
        ],
        **changes,
    }


def video(path: Path) -> Path:
    """A video in which frame n is as bright as 2 n."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=30)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv444p"
        stream.options = {"crf": "0", "g": "24"}
        for n in range(FRAMES):
            pixels = np.full((48, 64, 3), 2 * n, np.uint8)
            for packet in stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    return path


def stills(folder: Path) -> Path:
    """The same as numbered images."""
    folder.mkdir(parents=True)
    for n in range(FRAMES):
        Image.fromarray(np.full((48, 64, 3), 2 * n, np.uint8)).save(folder / f"frame_{n:06}.png")
    return folder


def write(folder: Path, records: list[Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "EgoPlan_validation.json"
    file.write_text(json.dumps(records))
    return file


def read(source: Path, **settings: object) -> list[Task]:
    return list(REGISTRATION.read(str(source), EgoPlanSettings.model_validate(settings)))


class TestEgoPlan(EnvContract):
    @pytest.fixture(autouse=True)
    def _file(self, tmp_path: Path) -> None:
        video(tmp_path / "kitchen.mp4")
        self._source = write(tmp_path, [record(i) for i in range(3)])

    def make(self) -> Env:
        return EgoPlan()

    def tasks(self) -> Sequence[Task]:
        return read(self._source)


@pytest.mark.parametrize("make", [lambda to: video(to / "ego" / "kitchen.mp4"), None])
def test_shows_the_last_four_actions_and_the_moment(tmp_path: Path, make: Any) -> None:
    if make is None:
        stills(tmp_path / "frames" / "kitchen")
    else:
        make(tmp_path)
    (task,) = read(write(tmp_path, [record()]))
    with EgoPlan() as env:
        env.reset(task, seed=0)
        seen = env.observe()
    assert [len(clip.frames) for clip in seen.clips] == [8] * 4
    assert seen.rgb is not None
    exact = 0 if make is None else 3  # a video's colours are rounded
    assert abs(int(seen.rgb[0, 0, 0]) - 2 * 90) <= exact
    for clip, i in zip(seen.clips, (2, 3, 4, 5), strict=True):
        shown = [int(frame[0, 0, 0]) for frame in clip.frames]
        wanted = [2 * n for n in keyframes(10 * i, 10 * i + 9, 8)]
        assert np.abs(np.subtract(shown, wanted)).max() <= exact < 2 * 2
        assert clip.text == ""


def film(file: Path, times: Mapping[int, int], base: int) -> None:
    """Frames as grey as their numbers, at these multiples of 1/base s, of 30 in a second."""
    with av.open(str(file), "w") as container:
        stream = container.add_stream("libx264", rate=30)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv444p"
        stream.options = {"crf": "0", "bf": "0"}
        stream.codec_context.time_base = Fraction(1, base)
        for number, time in times.items():
            pixels = np.full((48, 64, 3), 4 * number, np.uint8)
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            frame.pts, frame.time_base = time, Fraction(1, base)
            for packet in stream.encode(frame):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)


@pytest.mark.parametrize("name", ["gaps.mkv", "gaps.mp4"])
def test_of_a_frame_that_is_left_out_the_one_before_it_is_shown(tmp_path: Path, name: str) -> None:
    """And none that comes later: it would show what is done next."""
    kept = [n for n in range(60) if not 20 <= n < 30]
    film(tmp_path / name, {n: n for n in kept}, 30)
    for numbers in ([10, 25, 50], [0, 25, 50]):
        for number, shown in zip(numbers, frames(tmp_path / name, numbers, pixels=64), strict=True):
            latest = max(n for n in kept if n <= number)
            assert abs(int(shown[0, 0, 0]) - 4 * latest) <= 3


def test_a_frame_that_is_late_moves_no_other(tmp_path: Path) -> None:
    film(tmp_path / "late.mp4", {n: 2 * n + (n == 30) for n in range(60)}, 60)
    for numbers in ([10, 25, 50], [0, 25, 50]):
        for number, shown in zip(
            numbers, frames(tmp_path / "late.mp4", numbers, pixels=64), strict=True
        ):
            assert abs(int(shown[0, 0, 0]) - 4 * number) <= 3


def test_the_official_question() -> None:
    assert asked("Making tea.").startswith("I am tasked with making tea. The task's progress")
    assert asked("make tea").startswith("My current task is to make tea. The task's progress")
    assert asked("sing {x}").startswith("My current task is to sing {x}. ")
    assert asked("make tea").endswith(
        "What should be my next action? Please output the most reasonable action you think, "
        "expressed in a short phrase."
    )


def test_the_training_form_has_its_answer_among_negatives(tmp_path: Path) -> None:
    training = {
        k: v for k, v in record().items() if "choice" not in k and k != "current_observation_frame"
    }
    training |= {"negative_answers": ["open cupboard"], "current_observation_frame": 3}
    (task,) = read(write(tmp_path, [training]))
    assert set(task.scene["actions"]) == {"switch on kettle", "open cupboard"}  # type: ignore[arg-type]
    with EgoPlan() as env:
        env.reset(task, seed=0)
        assert [a.text for a in env.plan()] == ["switch on kettle"]
        assert env.observe().rgb is None


def test_a_letter_names_its_own_choice_where_one_before_it_is_missing(tmp_path: Path) -> None:
    (task,) = read(write(tmp_path, [record(choice_b=None)]))
    actions = task.scene["actions"]
    assert actions == ["fill kettle", "switch on kettle", "wash the red cup"]
    assert actions[task.scene["answer"]] == "switch on kettle"  # type: ignore[index]


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (record(1, video_id="../elsewhere"), "no video"),
        (record(1, video_id="broken"), "can't decode"),
        (record(1, golden_choice_idx="E"), "golden_choice_idx"),
        (record(1, golden_choice_idx="A"), "is not the choice of its golden_choice_idx"),
        (record(1, choice_c=None), "golden_choice_idx"),
        (record(1, current_observation_frame=-3), "current_observation_frame"),
        (
            record(1, choice_b=" fill kettle ", choice_c="fill kettle", choice_d="fill kettle"),
            "two",
        ),
        (record(1, task_goal=""), "task_goal"),
        (record(0), "sample_id"),
        (record(1, task_progress_metadata=[{"start_frame": 9, "stop_frame": 2}]), "before its"),
        (7, "not a JSON object"),
    ],
)
def test_what_makes_no_sense_is_named_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, broken: Any, said: str
) -> None:
    video(tmp_path / "kitchen.mp4")
    (tmp_path / "broken.mp4").write_bytes(b"no video")
    file = write(tmp_path, [record(0), broken])
    with caplog.at_level(logging.WARNING):
        assert len(read(file)) == 1
    assert f"{file}, record 1" in caplog.text and said in caplog.text
    assert "1 of 2 records" in caplog.text


def test_files_of_one_folder_may_number_their_records_alike(tmp_path: Path) -> None:
    file = write(tmp_path, [record(0), record(1)])
    (tmp_path / "EgoPlan_test.json").write_text(file.read_text())
    assert len({task.id for task in read(tmp_path)}) == 4


def test_a_film_that_breaks_off_is_refused(tmp_path: Path) -> None:
    whole = video(tmp_path / "kitchen.mp4")
    (task,) = read(write(tmp_path, [record()]))
    whole.write_bytes(b"gone")
    with EgoPlan() as env, pytest.raises(SceneError, match="can't decode"):
        env.reset(task, seed=0)


def test_without_any_record_or_film_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="no EgoPlan-Bench JSON"):
        read(tmp_path / "none")
    with pytest.raises(TaskError, match="contains no videos"):
        read(write(tmp_path, [record()]), videos=str(tmp_path))
    with pytest.raises(TaskError, match="--tasks"):
        REGISTRATION.sample(1, 0, EgoPlanSettings())


def decide(agent: Agent, env: Env, task: Task) -> Any:
    async def nothing(_: str) -> None:
        return None

    view = View(task.goal, env.observe(), tuple(env.actions()), (), 0, nothing)
    return asyncio.run(agent.decide(view))


def test_ranking_is_the_models_own_loss(tmp_path: Path) -> None:
    """Mean log-probability per token, options hidden: what transformers' own loss says."""
    folder = save_llama(tmp_path / "model")
    (task,) = read(write(tmp_path, [record()]))
    model = load(f"local:{folder}", LocalSettings(device="cpu", dtype="float32"))
    with EgoPlan() as env:
        env.reset(task, seed=0)
        decision = decide(Rank(model, RankSettings(score="mean", bare=True, top=4)), env, task)
    words = AutoTokenizer.from_pretrained(folder)
    judge = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    asked_of = words.apply_chat_template(
        [{"role": "user", "content": task.goal}], tokenize=False, add_generation_prompt=True
    )
    losses: dict[str, float] = {}
    for text in task.scene["actions"]:  # type: ignore[union-attr]
        assert isinstance(text, str) and text not in asked_of
        before = words(asked_of, add_special_tokens=False)["input_ids"]
        after = words(text, add_special_tokens=False)["input_ids"]
        ids = torch.tensor([[*before, *after]])
        labels = torch.tensor([[*[-100] * len(before), *after]])
        with torch.no_grad():
            losses[text] = float(judge(input_ids=ids, labels=labels).loss)
    assert decision.action.text == min(losses, key=losses.__getitem__)
    assert [r.text for r in decision.ranked] == sorted(losses, key=losses.__getitem__)
    for ranked in decision.ranked:
        assert -ranked.logprob / ranked.tokens == pytest.approx(losses[ranked.text], abs=1e-4)
