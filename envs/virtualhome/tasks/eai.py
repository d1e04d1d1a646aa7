"""Reads the 342 goal tasks of the Embodied Agent Interface (PyPI `eai-eval`).

Its folder `virtualhome_eval` holds 518 programs with their initial graphs (TrimmedTestScene1) and
goals for 342 of them. Nothing of it is copied, and its own checker is not used: a `break` in its
loop over edges leaves out all but the first of a task's edge goals.
"""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from inhabit.envs.core import Task, TaskError, UnavailableError
from inhabit.envs.virtualhome.graph.goals import ActionGoal, Goal, RelationGoal, StateGoal
from inhabit.envs.virtualhome.graph.library import home
from inhabit.envs.virtualhome.graph.script import SYNONYMS
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings

_PROGRAMS = Path("dataset/programs_processed_precond_nograb_morepreconds")
_SCENE = Path("TrimmedTestScene1_graph/results_intentions_march-13-18")
_GOALS = Path("resources/virtualhome/task_state_LTL_formula_accurate.json")


def folder() -> Path:
    """The package's folder `virtualhome_eval`: from `INHABIT_EAI`, installed, or from setup.

    Raises:
        UnavailableError: it is in none of these places.
    """
    places = []
    if given := os.environ.get("INHABIT_EAI"):
        places.append(Path(given))
    spec = importlib.util.find_spec("virtualhome_eval")
    places += map(Path, (spec.submodule_search_locations or []) if spec else [])
    places.append(home() / "eai" / "virtualhome_eval")
    for place in places:
        if (place / _GOALS).is_file():
            return place
    raise UnavailableError(
        "The eai tasks are not installed. Run `inhabit setup virtualhome`, or set "
        "INHABIT_EAI to the folder virtualhome_eval of an unpacked eai-eval wheel."
    )


def read(source: str, settings: VirtualHomeSettings) -> Iterator[Task]:
    """The tasks called "eai", or "eai-all" with the four that hold from the start.

    Raises:
        UnavailableError: as `folder`.
        TaskError: there are no tasks of that name, or the package's files have an unknown form.
    """
    if source not in ("eai", "eai-all"):
        raise TaskError(
            f"Unknown VirtualHome tasks {source!r}. Use 'eai' (338 goal tasks of the "
            "eai-eval package), 'eai-all' (also the four that hold at the start), --n and "
            "--seed, or a JSONL of tasks."
        )
    return tasks(vacuous=source == "eai-all")


def tasks(*, vacuous: bool = False) -> Iterator[Task]:
    """The tasks, by program number.

    Args:
        vacuous: with the four whose list of goals is empty, so that doing nothing satisfies them.
            They have no place in a rate.

    Raises:
        UnavailableError: as `folder`.
        TaskError: its files are not in the form that is known.
    """
    path = folder() / _GOALS
    scenes = json.loads(path.read_text("utf-8"))
    found = {
        number: (title, goal["vh_goal"])
        for title, programs in scenes["scene_1"].items()
        for number, goal in programs.items()
    }
    for number in sorted(found, key=lambda n: tuple(map(int, n.split("_")))):
        title, goal = found[number]
        goals = read_goals(goal, path)
        if not goals and not vacuous:
            continue
        program = read_program(number)
        yield Task(
            id=f"eai-{number}",
            env="virtualhome",
            kind=f"eai: {title}",
            goal=f"{title.rstrip('.')}.",
            scene={
                "eai": number,
                "goals": [g.model_dump(mode="json") for g in goals],
                "program": list(program),
            },
            max_steps=max(30, 2 * len(program)),
            reference_cost=len(program),
        )


def read_goals(goal: Mapping[str, Any], path: Path) -> Sequence[Goal]:
    """Convert goals: states and relations by node id, actions as alternatives ("A|B").

    Raises:
        TaskError: a goal is of no known form.
    """
    goals: list[Goal] = []
    try:
        for one in goal["goal"]:
            if "state" in one:
                goals.append(StateGoal(id=one["id"], state=one["state"].upper()))
            else:
                relation = one["relation_type"].upper()
                goals.append(
                    RelationGoal(from_id=one["from_id"], relation=relation, to_id=one["to_id"])
                )
        for choice in goal["actions"]:
            words = [word.strip().upper() for word in choice.split("|")]
            goals.append(ActionGoal(any_of=tuple(SYNONYMS.get(w, w) for w in words)))
    except (KeyError, TypeError, AttributeError) as error:
        raise TaskError(f"{path}: the goal {goal!r} lacks {error!r}.") from error
    return goals


def programs() -> Sequence[str]:
    """Numbers of all 518 programs, with or without goals."""
    files = (folder() / _PROGRAMS / "executable_programs" / _SCENE).glob("file*.txt")
    return sorted((f.stem[4:] for f in files), key=lambda n: tuple(map(int, n.split("_"))))


def read_program(number: str) -> Sequence[str]:
    """Script lines of a program."""
    path = folder() / _PROGRAMS / "executable_programs" / _SCENE / f"file{number}.txt"
    lines = (line.strip() for line in path.read_text("utf-8").splitlines())
    return [line for line in lines if line.startswith("[")]


def initial_graph(number: str) -> Mapping[str, Any]:
    """The initial graph of a program.

    Raises:
        TaskError: there is no such program.
    """
    base = folder() / _PROGRAMS / "init_and_final_graphs" / _SCENE
    path = base / f"file{number}.json"
    if not path.is_file():
        raise TaskError(f"eai-eval has no program {number!r} in {base}.")
    graph: Mapping[str, Any] = json.loads(path.read_text("utf-8"))["init_graph"]
    return graph


@cache
def equivalence() -> Mapping[str, Sequence[str]]:
    """Synonyms of class names."""
    path = folder() / "resources" / "class_name_equivalence.json"
    found: Mapping[str, Sequence[str]] = json.loads(path.read_text("utf-8"))
    return found
