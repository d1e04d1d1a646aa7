"""Generates iWISDM's trials. Runs as a program in the interpreter that has `iwisdm`.

`iwisdm` needs an older numpy and pandas than this project. So nothing of the project is imported
here; requests come in as lines of JSON, and a line of JSON goes out for each.
"""

from __future__ import annotations

import base64
import json
import random
import re
import sys
import zlib
from typing import Any

import numpy as np
from iwisdm import make
from iwisdm.envs.shapenet.registration import SNEnvSpec

_TRIES = 500
"""Maximum number of sampled tasks until one is of the requested level."""
_BOOLEAN = ("And", "Or", "IsSame", "NotSame")
_LOGIC = ("And", "Or")
LEVELS: dict[str, dict[str, Any]] = {
    "single": {"roots": ("GetLoc", "GetCategory", "IsSame", "NotSame"), "depth": 3, "frames": 1},
    "low": {"roots": _LOGIC, "logic": (1, 1), "depth": 5, "frames": 6},
    "medium": {
        "roots": _BOOLEAN,
        "logic": (1, 1),
        "depth": 7,
        "frames": 8,
        "switch": 1,
        "delays": 0,
    },
    "high": {
        "roots": (*_BOOLEAN, "GetLoc", "GetCategory"),
        "logic": (1, 2),
        "depth": 8,
        "frames": 9,
        "switch": 1,
    },
}
"""The paper's parameters (Lei et al. 2024), and those of single-frame tasks."""
CONDITION = {"roots": ("IsSame", "NotSame"), "depth": 5, "frames": 8, "switch": 1}
"""A question that depends on the answer to another."""
_WITH_ITSELF = re.compile(r"of object (\d+) (?:not )?equals \w+ of object \1\b")


def main() -> None:
    """Answer requests until stdin ends."""
    env = make("ShapeNet", dataset_fp=sys.argv[1])
    for line in sys.stdin:
        asked = json.loads(line)
        trial = write(env, asked["level"], asked["join"], asked["seed"])
        sys.stdout.write(json.dumps(trial) + "\n")
        sys.stdout.flush()


def write(env: Any, level: str, join: str, seed: int) -> dict[str, Any]:
    """The trial of a seed: instruction, answers, and frames (n, 224, 224, 3)."""
    random.seed(seed)
    np.random.seed(seed)
    wanted = CONDITION if join == "condition" else LEVELS[level]
    env.set_env_spec(spec(env, wanted))
    for _ in range(_TRIES):
        try:
            frames, info = _trial(env, wanted, join)
        except (RuntimeError, ValueError, IndexError, AssertionError):
            continue  # The library itself may reject its sample.
        if _sound(info, len(frames)):
            return {
                "instruction": info["instruction"],
                "answers": info["answers"],
                "shape": list(frames.shape),
                "frames": base64.b64encode(zlib.compress(frames.tobytes(), 1)).decode(),
            }
    raise SystemExit(f"Found no trial of level {level!r} with join {join!r} for seed {seed}.")


def spec(env: Any, wanted: dict[str, Any]) -> SNEnvSpec:
    """The specification that the library samples from."""
    config = dict(env.init_env_spec().auto_gen_config)
    config["root_ops"] = list(wanted["roots"])
    config["boolean_ops"] = list(_BOOLEAN)
    config["max_op"] = 15
    config["max_depth"] = wanted["depth"]
    config["max_switch"] = wanted.get("switch", 0)
    config["switch_threshold"] = 1.0 if wanted.get("switch") else 0.0
    config["select_limit"] = True
    config["compare_const_prob"] = 1.0 if wanted["frames"] == 1 else 0.0
    return env.init_env_spec(
        auto_gen_config=config, max_delay=wanted.get("delays", 2), delay_prob=0.5
    )


def _trial(env: Any, wanted: dict[str, Any], join: str) -> tuple[np.ndarray, dict[str, Any]]:
    tasks = [_task(env, wanted) for _ in range(1 if join in ("none", "condition") else 2)]
    infos = env.init_compositional_tasks(tasks)
    if len(infos) == 2:
        first, second = infos
        first.frame_info.first_shareable = _start(join, len(first.frame_info))
        first.merge(second)
        infos = [first]
    ((frames, _, info),) = env.generate_trials(compositional_infos=infos, mode="val")
    return np.stack(frames), info


def _start(join: str, frames: int) -> int:
    """The frame of the first task at which the second may begin: after it (queue), at its last
    frame (overlap), or after its first (interleave).
    """
    return {"queue": frames, "overlap": frames - 1, "interleave": min(1, frames - 1)}[join]


def _task(env: Any, wanted: dict[str, Any]) -> Any:
    """A task that is really of the level; the library's limits are only approximate."""
    low, high = wanted.get("logic", (0, 0))
    for _ in range(_TRIES):
        ((graph, _, _), (_, task)) = env.generate_tasks(1)[0]
        labels = [label for _, label in graph.nodes(data="label")]
        logic = sum(label in _LOGIC for label in labels)
        if task.n_frames > wanted["frames"] or labels.count("Switch") != wanted.get("switch", 0):
            continue
        if low <= logic <= high:
            return task
    raise ValueError("no such task")


def _sound(info: dict[str, Any], frames: int) -> bool:
    """Whether every required answer is valid, and no stimulus is compared with itself."""
    answers = info["answers"]
    due = [answer for answer in answers if answer != "null"]
    return (
        len(answers) == frames
        and bool(due)
        and "invalid" not in due
        and _WITH_ITSELF.search(info["instruction"]) is None
    )


if __name__ == "__main__":
    main()
