"""Writes run folders as docs/run-folder.md has them, without playing anything: for the readers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture

from inhabit.agents.core import Call, Grant, Ranked
from inhabit.agents.models.core import Image
from inhabit.envs.core import Determinism, Reason, Task
from inhabit.episodes.recording.schema import (
    ActLine,
    Choice,
    DecideLine,
    Ending,
    EndLine,
    Line,
    RecordedSettings,
    RunHeader,
    Seconds,
    SeeLine,
    Sight,
    StartLine,
    TokenCounts,
)

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
"""Text that would rename the page if a browser ever took it for markup."""

ACTIONS = (
    "go to the counter_top_1",
    "pick up the mug_1",
    "open the fridge_1",
    "put the mug_1 in the sink_basin_1",
    "look around",
)


@dataclass(frozen=True)
class Made:
    """What a made-up run should look like."""

    episodes: int = 4
    steps: int = 5
    agent: str = "rank"
    model: str | None = "local:smollm2"
    backend: str = "embedded"
    goal: str = "put a clean mug in the sink"
    action: str | None = None
    feedback: str = "It worked."
    reply: str = "open the fridge_1"
    text: str = "You have a mug in your hands."
    solved: Sequence[bool] = (True, False)
    ranked: bool = True
    frames: Sequence[NDArray[np.uint8]] = ()
    sight: bool = True
    grants: tuple[Grant, ...] = ()
    cut_off: bool = False
    """The last episode was never begun, and the one before has no end."""


USUAL = Made()


def room(number: int, size: int = 96) -> NDArray[np.uint8]:
    """An image with a floor, a wall and a box, different for every number."""
    picture = np.zeros((size, size, 3), np.uint8)
    picture[: size // 2] = (214, 205, 190)
    picture[size // 2 :] = (150, 120, 90)
    left = (number * 17) % (size - 30)
    picture[size // 3 : size // 3 + 40, left : left + 28] = (40 + 20 * (number % 8), 90, 140)
    return picture


def write_run(folder: Path, made: Made = USUAL) -> Path:
    """Write the run into `folder` and return it."""
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(_header(made).model_dump_json(indent=2))
    tasks = [_task(made, number) for number in range(made.episodes)]
    (folder / "tasks.jsonl").write_text("".join(task.model_dump_json() + "\n" for task in tasks))
    for number, task in enumerate(tasks):
        if not (made.cut_off and number == made.episodes - 1):
            _write_episode(folder / "episodes" / f"{number:05d}", made, number, task)
    return folder


def _header(made: Made) -> RunHeader:
    return RunHeader(
        created="2026-01-02T03:04:05Z",
        command=("inhabit", "run", "toy", "--agent", made.agent),
        env="toy",
        backend=made.backend,
        determinism=Determinism.FRAMES,
        agent=made.agent,
        model=made.model,
        candidates=Choice.SEEN,
        grants=made.grants,
        image=Sight.SHOWN,
        settings=RecordedSettings(),
        seed=0,
        episodes=made.episodes,
        software={"python": "3.11.2", "platform": "Linux", "inhabit": "0.1.0"},
    )


def _task(made: Made, number: int) -> Task:
    return Task(
        id=f"made-{number}",
        env="toy",
        kind=("pick_and_place_simple", "pick_clean_then_place_in_recep")[number % 2],
        goal=made.goal,
        scene={"room": f"FloorPlan{number + 1}"},
        reference_cost=12,
    )


def _write_episode(folder: Path, made: Made, number: int, task: Task) -> None:
    (folder / "frames").mkdir(parents=True)
    with (folder / "episode.jsonl").open("w", encoding="utf-8") as file:
        for line in _lines(folder, made, number, task):
            file.write(line.model_dump_json(by_alias=True) + "\n")


def _lines(folder: Path, made: Made, number: int, task: Task) -> Iterator[Line]:
    solved = made.solved[number % len(made.solved)]
    clock = 1_767_323_045.0 + 60 * number
    yield StartLine(time=clock, attempt=1, task=task, seed=number, met=0, total=2)
    frames = made.frames or [room(number * 31 + step) for step in range(made.steps + 1)]
    for step in range(made.steps + 1):
        picture = frames[(number * 3 + step) % len(frames)]
        if made.sight:
            file = folder / "frames" / f"{step:04d}.jpg"
            Picture.fromarray(picture).save(file, quality=90)
        yield _see(made, clock + step, step, picture)
        if step < made.steps:
            last = step == made.steps - 1
            yield _decide(made, clock + step, step, picture)
            yield _act(made, clock + step, step, solved and last)
    if not (made.cut_off and number == made.episodes - 2):
        yield _end(made, clock + 50, solved)


def _see(made: Made, time: float, step: int, picture: NDArray[np.uint8]) -> SeeLine:
    return SeeLine(
        time=time,
        step=step,
        text=made.text,
        frame=f"frames/{step:04d}.jpg" if made.sight else None,
        digest=Image(picture).digest if made.sight else None,
        state=f"{step:016x}",
        candidates=ACTIONS,
        seconds=0.02,
    )


def _decide(made: Made, time: float, step: int, picture: NDArray[np.uint8]) -> DecideLine:
    chosen = made.action or ACTIONS[step % len(ACTIONS)]
    texts = [chosen, *(text for text in ACTIONS if text != chosen)]
    ranked = [
        Ranked(text=text, logprob=math.log(0.55 / 2**place), tokens=6)
        for place, text in enumerate(texts)
    ]
    call = Call(
        messages=(
            {"role": "system", "content": [{"text": "You act in a house, one step at a time."}]},
            {
                "role": "user",
                "content": [{"text": f"Goal: {made.goal}"}, {"image": Image(picture).digest}],
            },
        ),
        reply=made.reply,
        tokens_in=900,
        tokens_out=12,
        seconds=0.9,
        cached=False,
    )
    return DecideLine(
        time=time,
        step=step,
        action=chosen,
        stop=False,
        raw=made.reply,
        description="A kitchen with a counter.",
        reasoning=f"The goal needs a mug, so I {chosen}.",
        ranked=tuple(ranked) if made.ranked else (),
        calls=(call,) if made.model else (),
        seconds=0.95,
    )


def _act(made: Made, time: float, step: int, solved: bool) -> ActLine:
    failed = step % 3 == 1 and not solved
    return ActLine(
        time=time,
        step=step,
        reason=Reason.CLOSED if failed else None,
        feedback="The fridge is closed." if failed else made.feedback,
        met=2 if solved else min(1, step),
        total=2,
        over=solved,
        cost=7,
        seconds=0.2,
    )


def _end(made: Made, time: float, solved: bool) -> EndLine:
    return EndLine(
        time=time,
        ending=Ending.SUCCESS if solved else Ending.STEP_LIMIT,
        success=solved,
        met=2 if solved else min(1, made.steps - 1),
        total=2,
        steps=made.steps,
        cost=7 * made.steps,
        invalid=sum(step % 3 == 1 for step in range(made.steps)),
        replans=1,
        seconds=Seconds(simulator=1.2, model=4.7, record=0.04, other=0.1),
        overhead_ms=(2.0,) * made.steps,
        tokens=TokenCounts(read=900 * made.steps, written=12 * made.steps),
        error=None,
    )
