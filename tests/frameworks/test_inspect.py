from __future__ import annotations

import json
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

import inhabit
from inhabit.envs.core import SimulatorError
from inhabit.envs.toy.env import Toy
from inhabit.episodes.recording.reader import Run
from inhabit.frameworks.factory import rollouts

pytest.importorskip("inspect_ai", reason="needs the extra `inspect`")


def _model(outputs: list[Any]) -> Any:
    from inspect_ai.model import ModelUsage, get_model

    for output in outputs:
        # Without it the mock counts tokens with a vocabulary that it has to download.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return get_model("mockllm/model", custom_outputs=outputs)


def _eval(task: Any, outputs: list[Any], folder: Path, **options: Any) -> Any:
    from inspect_ai import eval as evaluate
    from inspect_ai.log import read_eval_log

    log = evaluate(
        task,
        model=_model(outputs),
        log_dir=str(folder),
        display="none",
        max_samples=1,
        **options,
    )[0]
    assert log.status == "success", log.error
    return read_eval_log(log.location)


def _plans(n: int) -> list[list[str]]:
    found = []
    with rollouts("toy", n).open() as rollout:
        for task in range(n):
            rollout.reset(task)
            found.append(rollout.session.plan())
    return found


def test_an_episode_that_did_not_begin_has_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inhabit.frameworks.inspect_ai import _recorded

    def fail(*_: object, **__: object) -> None:
        raise SimulatorError("There is no power.")

    monkeypatch.setattr(Toy, "reset", fail)
    settings = {"in_process": True}
    played = inhabit.run("toy", "random", tmp_path / "run", n=1, settings=settings).run
    with pytest.raises(SimulatorError, match="There is no power"):
        _recorded(played)


def test_ten_tasks_and_the_log_read_back(tmp_path: Path) -> None:
    from inspect_ai.model import ContentImage, ModelOutput

    from inhabit.frameworks.inspect_ai import embodied

    plans = [plan if i % 2 == 0 else ["stop"] for i, plan in enumerate(_plans(10))]
    said = [
        ModelOutput.for_tool_call("mockllm", "act", {"action": text})
        for plan in plans
        for text in plan
    ]
    log = _eval(embodied("toy", n=10), said, tmp_path)
    found = {score.name: score.metrics for score in log.results.scores}
    assert found["success"]["mean"].value == 0.5
    assert found["conditions"]["mean"].value >= 0.5
    assert [s.id for s in log.samples] == [task.id for task in rollouts("toy", 10).tasks]
    for sample, plan in zip(log.samples, plans, strict=True):
        pictures = [
            part
            for message in sample.messages
            if not isinstance(message.content, str)
            for part in message.content
            if isinstance(part, ContentImage)
        ]
        assert len(pictures) >= len(plan), "The first picture, and one after each action but stop."


@pytest.mark.parametrize(("tool", "arguments"), [("fly", {"to": "moon"}), ("act", {"to": "moon"})])
def test_calls_that_inspect_rejects_end_the_episode(
    tool: str, arguments: dict[str, str], tmp_path: Path
) -> None:
    from inspect_ai.model import ModelOutput

    from inhabit.frameworks.inspect_ai import embodied

    said = [ModelOutput.for_tool_call("mockllm", tool, arguments) for _ in range(3)]
    log = _eval(embodied("toy", n=1, max_steps=3), said, tmp_path)
    assert log.samples[0].metadata["inhabit"]["ending"] == "step_limit"


def test_a_limit_of_inspect_scores_what_was_reached(tmp_path: Path) -> None:
    from inspect_ai.model import ModelOutput

    from inhabit.frameworks.inspect_ai import embodied

    said = [ModelOutput.for_tool_call("mockllm", "act", {"action": "go to the hall"})] * 3
    log = _eval(embodied("toy", n=1), said, tmp_path, message_limit=4)
    sample = log.samples[0]
    assert sample.limit.type == "message"
    assert "after 2 steps" in sample.scores["conditions"].explanation


@pytest.mark.parametrize("agent", ["chat", "holmes"])
def test_our_agents_play_through_the_bridge_and_are_recorded(agent: str, tmp_path: Path) -> None:
    from inspect_ai.model import ModelOutput

    from inhabit.frameworks.inspect_ai import embodied

    replies = [
        json.dumps({"description": "A room.", "reasoning": "It is the plan.", "action": text})
        for text in _plans(1)[0]
    ]
    said = [ModelOutput.from_content("mockllm", reply) for reply in replies]
    out = tmp_path / "runs"
    log = _eval(embodied("toy", n=1, agent=agent, out=str(out)), said, tmp_path / "logs")
    score = log.samples[0].scores["conditions"]
    assert score.value == {"success": 1, "conditions": 1.0}
    (folder,) = out.iterdir()
    assert Run.open(folder).header.agent == agent
    assert str(folder / "index.html") in score.explanation and (folder / "index.html").exists()


@pytest.mark.skipif(
    not entry_points(group="inspect_ai", name="inhabit"), reason="an older inhabit is installed"
)
def test_inspect_finds_the_tasks_by_name(tmp_path: Path) -> None:
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput

    said = [ModelOutput.for_tool_call("mockllm", "act", {"action": "stop"})]
    log = evaluate(
        "inhabit/toy",
        model=_model(said),
        task_args={"n": 1, "seed": 7},
        log_dir=str(tmp_path),
        display="none",
    )[0]
    assert log.status == "success", log.error
    assert log.samples[0].metadata["inhabit"]["ending"] == "stopped"
