"""What a worker process costs: a call more than in this process, and its start."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from inhabit.envs.core import Env
from inhabit.envs.host.env import WorkerEnv
from inhabit.envs.registry import find

PIXELS = {"pixels": 300}
TIMES = 400


def main() -> None:
    """Print the figures."""
    sys.stdout.write(json.dumps({**calls(), **household()}) + "\n")


def calls() -> dict[str, Any]:
    """The same calls here and in a worker, in turns."""
    toy = find("toy")
    settings = toy.settings.model_validate(PIXELS)
    first = next(iter(toy.sample(1, 0, settings)))
    here = toy.make("grid", settings)
    with WorkerEnv("toy", "grid", PIXELS) as there:
        for env in (here, there):
            env.reset(first, seed=0)
        action = here.vocabulary()[0]

        def act(env: Env) -> object:
            return env.act(action)

        def observe(env: Env) -> object:
            return env.observe()

        return {
            "act_ms": _more(act, here, there, "<= 0.5", "a call of act"),
            "observe_ms": _more(observe, here, there, "<= 1", "observe with 300x300 RGB"),
        }


def household() -> dict[str, Any]:
    """A worker with a room of the embedded household."""
    alfred = find("alfred")
    task = next(iter(alfred.sample(1, 0, alfred.settings())))
    start = time.perf_counter()
    with WorkerEnv("alfred", "embedded", {}) as env:
        env.reset(task, seed=0)
        env.observe()
        ready = time.perf_counter() - start
    return {"room_s": _figure(ready, "s", "", "from nothing to the first observation")}


def _more(
    call: Callable[[Env], object], here: Env, there: Env, bound: str, what: str
) -> Mapping[str, Any]:
    direct, far = [], []
    for _ in range(TIMES):
        direct.append(_seconds(call, here))
        far.append(_seconds(call, there))
    more = statistics.median(far) - statistics.median(direct)
    return _figure(more * 1e3, "ms", bound, f"{what}: median cost of the worker")


def _seconds(call: Callable[[Env], object], env: Env) -> float:
    start = time.perf_counter()
    call(env)
    return time.perf_counter() - start


def _figure(value: float, unit: str, bound: str, what: str) -> dict[str, Any]:
    return {"value": value, "unit": unit, "bound": bound, "what": what}


if __name__ == "__main__":
    main()
