"""Sets of examples out of the toy house, true in every word, for those that read sets."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from PIL import Image as Picture

from inhabit.agents.models.core import Image
from inhabit.eie.checking.splits import Split
from inhabit.eie.examples.example import Example, Lineage, Past, Refused, Rejection
from inhabit.eie.examples.topology import Topology
from inhabit.eie.sets.folder import AttemptLine, SetFolder, SetHeader
from inhabit.envs.core import Task
from inhabit.envs.registry import find
from inhabit.envs.toy.env import Toy
from inhabit.envs.toy.tasks import sample

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
"""Text that would rename a page if a browser ever took it for markup."""
NASTY = 'Say "{goal}" 100 %\n<image> Käse \\n { } {{ x }} | a | *b* ]\u2028'
"""Text that trips over careless quoting."""


def write_set(folder: Path, tasks: int = 6, *, kind: str = "decision", saying: str = "") -> Path:
    """A set of every step of so many tasks; `saying` is put before every question and reason."""
    (folder / "images").mkdir(parents=True)
    header = SetHeader(
        command=("inhabit", "synth", "toy"),
        env="toy",
        backend="grid",
        author="procedural",
        seed=0,
        n=40,
        settings={"env": {}, "synth": {}},
        software={"python": "3.11.2"},
        finished=True,
    )
    (folder / "set.json").write_text(header.model_dump_json())
    attempts, lines = [], []
    for number, task in enumerate(sample(tasks, 0)):
        made = list(_examples(folder, task, number, kind, saying))
        lines += [example.model_dump_json(exclude_defaults=True) for example in made]
        reason = (Rejection.HIDDEN, Rejection.DUPLICATE, Rejection.SCHEMA)[number % 3]
        refused = Refused(rejection=reason, sentence=f"{saying}Not to be seen: task {number}.")
        kept = tuple(example.id for example in made)
        attempts += [
            AttemptLine(number=2 * number, task=task.id, kept=kept),
            AttemptLine(number=2 * number + 1, rejected=(refused,), tokens={"in": 7, "out": 3}),
        ]
    written = [attempt.model_dump_json(exclude_defaults=True) for attempt in attempts]
    for name, whole in (("attempts", written), ("examples", lines)):
        (folder / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in whole))
    return folder


def read_examples(folder: Path) -> list[Example]:
    """All of them, in order."""
    return list(SetFolder.open(folder).examples())


def _examples(folder: Path, task: Task, number: int, kind: str, saying: str) -> Iterator[Example]:
    env = Toy()
    env.reset(task, seed=number)
    split: Split = ("train", "train", "val", "test")[number % 4]  # type: ignore[assignment]
    past: list[Past] = []
    registration = find("toy")
    assert registration.template is not None
    template = registration.template(registration.settings())
    topology = Topology(template.events(task))
    rng = random.Random(number)
    for step, action in enumerate(plan := list(env.plan())):
        seen = env.observe()
        assert seen.rgb is not None
        digest = Image(seen.rgb).digest
        Picture.fromarray(seen.rgb).save(folder / "images" / f"{digest}.png")
        best = env.best_actions()
        wrong = [a.text for a in env.vocabulary() if a not in best]
        candidates = rng.sample(wrong, 3)
        answer = rng.randrange(4)
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
                topology=tuple(topology.moment(plan[step:], template)),
            ),
        )
        outcome = env.act(action)
        past.append(
            Past(action=action.text, feedback=outcome.feedback, image=f"images/{digest}.png")
        )


def _texts(actions: Sequence[object]) -> tuple[str, ...]:
    return tuple(str(getattr(action, "text", action)) for action in actions)
