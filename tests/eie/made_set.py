"""Sets of examples out of the toy house, true in every word, for those that read sets."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from PIL import Image as Picture

from agents.models.core import Image
from eie.example import Example, Lineage, Past, Split
from envs.core import Task
from envs.toy.env import Toy
from envs.toy.tasks import sample

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
"""Text that would rename a page if a browser ever took it for markup."""
NASTY = 'Say "{goal}" 100 %\n<image> Käse \\n { } {{ x }} | a | *b* ]\u2028'
"""Text that trips over careless quoting."""


def write_set(folder: Path, tasks: int = 6, *, kind: str = "decision", saying: str = "") -> Path:
    """A set of every step of so many tasks; `saying` is put before every question and reason."""
    (folder / "images").mkdir(parents=True)
    header = {
        "version": 1,
        "command": ["inhabit", "synth", "toy"],
        "env": "toy",
        "author": "procedural",
        "seed": 0,
        "settings": {},
        "software": {"python": "3.11.2"},
    }
    (folder / "set.json").write_text(json.dumps(header))
    attempts, lines = [], []
    for number, task in enumerate(sample(tasks, 0)):
        made = list(_examples(folder, task, number, kind, saying))
        lines += [example.model_dump_json() for example in made]
        attempts.append({"number": 2 * number, "kept": [example.id for example in made]})
        attempts.append(
            {
                "number": 2 * number + 1,
                "rejection": ("hidden", "duplicate", "schema")[number % 3],
                "sentence": saying + f"The item of task {number} is not to be seen.",
            }
        )
    common = {"seconds": 0.01, "tokens": {"in": 0, "out": 0}}
    (folder / "attempts.jsonl").write_text(
        "".join(json.dumps(attempt | common) + "\n" for attempt in attempts)
    )
    (folder / "examples.jsonl").write_text("".join(line + "\n" for line in lines))
    return folder


def read_examples(folder: Path) -> list[Example]:
    """All of them, in order."""
    lines = (folder / "examples.jsonl").read_text().split("\n")[:-1]
    return [Example.model_validate_json(line) for line in lines]


def _examples(folder: Path, task: Task, number: int, kind: str, saying: str) -> Iterator[Example]:
    env = Toy()
    env.reset(task, seed=number)
    split: Split = ("train", "train", "val", "test")[number % 4]  # type: ignore[assignment]
    past: list[Past] = []
    draw = random.Random(number)
    for step, action in enumerate(plan := list(env.plan())):
        seen = env.observe()
        assert seen.rgb is not None
        digest = Image(seen.rgb).digest
        Picture.fromarray(seen.rgb).save(folder / "images" / f"{digest}.png")
        best = env.best_actions()
        wrong = [a.text for a in env.vocabulary() if a not in best]
        candidates = draw.sample(wrong, 3)
        answer = draw.randrange(4)
        candidates.insert(answer, action.text)
        yield Example(
            id=f"{number:06d}-{step}",
            env="toy",
            kind=kind,  # type: ignore[arg-type]
            split=split,
            image=f"images/{digest}.png",
            image_digest=digest,
            text=seen.text,
            question=saying + f"{task.goal} {seen.text}".strip() + " What is to be done next?",
            candidates=tuple(candidates),
            answer=answer,
            reason=saying + f"The goal needs it: {action.text}.",
            key_concepts=action.arguments[:1],
            goal=task.goal,
            levels=(task.goal, action.text),
            history=tuple(past) if kind == "trajectory" else (),
            difficulty=len(plan) - step,
            room=str(env.state()["room"]),
            verb=action.verb,
            objects=action.arguments[:1],
            lineage=Lineage(
                author="procedural",
                seed_task=task.id,
                task=json.loads(task.model_dump_json()),
                seed=number,
                actions=_texts(plan[:step]),
                plan=_texts(plan[step:]),
            ),
        )
        outcome = env.act(action)
        past.append(
            Past(action=action.text, feedback=outcome.feedback, image=f"images/{digest}.png")
        )


def _texts(actions: Sequence[object]) -> tuple[str, ...]:
    return tuple(str(getattr(action, "text", action)) for action in actions)
