"""Steps per second through each interface for trainers, beside the bare environment.

Every door plays the same random walks in the same rooms, with a new image after each step. Every
figure is a ratio within a round, and every second round goes in the opposite order, so that a noisy
machine changes little. What one thread of this process does is compared in processor time; the
vector and OpenEnv, which use all cores, in seconds. OpenEnv is left out where its package is not
installed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from random import Random
from statistics import median
from typing import Any

import gymnasium
import numpy as np

import inhabit

ROUNDS, STEPS, TASKS, SESSIONS = 8, 12, 4, 16
OPTIONS: dict[str, Any] = {"max_steps": 10**6, "max_invalid": 10**6, "list_candidates": False}
Walks = Sequence[Sequence[str]]
"""Actions, for each task."""


def main() -> None:
    """Print the figures as one JSON object."""
    walks = [_walk(task) for task in range(TASKS)]
    sessions = [inhabit.open("alfred", i, settings={"wire": "none"}) for i in range(TASKS)]
    rollouts = [inhabit.rollouts("alfred", TASKS, **OPTIONS).open() for _ in range(TASKS)]
    vector = gymnasium.make_vec(
        "inhabit.gym:inhabit/alfred-v0", num_envs=TASKS, n=TASKS, actions="text", **OPTIONS
    )
    doors: dict[str, Callable[[], float]] = {
        "bare": lambda: _bare(sessions, walks),
        "session": lambda: _session(sessions, walks, time.thread_time),
        "rollout": lambda: _rollout(rollouts, walks),
        "timed": lambda: _session(sessions, walks, time.perf_counter),
        "vector": lambda: _vector(vector, walks),
    }
    server = _server() if find_spec("openenv") else None
    if server is not None:
        clients = _clients(server)
        doors["openenv"] = lambda: _openenv(clients, walks)
    for door in doors.values():
        door()  # Warm up.
    orders = [list(doors), list(reversed(doors))]
    rounds = [{name: doors[name]() for name in orders[k % 2]} for k in range(ROUNDS)]
    if server is not None:
        server.terminate()
        server.wait()
    print(json.dumps(_figures(rounds)))


def _walk(task: int) -> Sequence[str]:
    random, found = Random(task), []
    with inhabit.open("alfred", task, settings={"wire": "none"}) as session:
        for _ in range(STEPS):
            found.append(random.choice(session.candidates()))
            session.act(found[-1])
    return found


def _bare(sessions: Sequence[Any], walks: Walks) -> float:
    seconds = 0.0
    for session, walk in zip(sessions, walks, strict=True):
        session.reset()
        env = session.env
        begun = time.thread_time()
        for text in walk:
            env.act(env.parse(text))
            _ = env.observe().rgb
        seconds += time.thread_time() - begun
    return TASKS * STEPS / seconds


def _session(sessions: Sequence[Any], walks: Walks, clock: Callable[[], float]) -> float:
    seconds = 0.0
    for session, walk in zip(sessions, walks, strict=True):
        session.reset()
        begun = clock()
        for text in walk:
            session.act(text)
        seconds += clock() - begun
    return TASKS * STEPS / seconds


def _rollout(rollouts: Sequence[Any], walks: Walks) -> float:
    seconds = 0.0
    for task, (rollout, walk) in enumerate(zip(rollouts, walks, strict=True)):
        rollout.reset(task)
        begun = time.thread_time()
        for text in walk:
            if not rollout.turn.done:
                rollout.act(text)
        seconds += time.thread_time() - begun
    return TASKS * STEPS / seconds


def _vector(vector: Any, walks: Walks) -> float:
    vector.reset()
    for task, env in enumerate(vector.envs):
        env.reset(options={"task": task})
    begun = time.perf_counter()
    for texts in zip(*walks, strict=True):
        vector.step(np.array(texts, object))
    return TASKS * STEPS / (time.perf_counter() - begun)


def _server() -> subprocess.Popen[str]:
    command = [sys.executable, "-c", "from inhabit.cli import main; main()", "serve", "alfred"]
    options = ["--n", str(TASKS), "--port", "0", "--json", "--max-steps", "1000000"]
    return subprocess.Popen(
        [*command, *options, "--sessions", str(SESSIONS)], stdout=subprocess.PIPE, text=True
    )


def _clients(server: subprocess.Popen[str]) -> list[Any]:
    from inhabit.frameworks.openenv import InhabitClient

    assert server.stdout is not None
    address = json.loads(server.stdout.readline())["address"]
    clients = [InhabitClient(base_url=address).sync() for _ in range(SESSIONS)]
    for client in clients:
        client.connect()
    return clients


def _openenv(clients: list[Any], walks: Walks) -> float:
    from inhabit.frameworks.openenv import TextAction

    for number, client in enumerate(clients):
        client.reset(index=number % TASKS)

    def play(number: int) -> int:
        for step, text in enumerate(walks[number % TASKS], 1):
            if clients[number].step(TextAction(text=text)).done:
                return step
        return STEPS

    begun = time.perf_counter()
    with ThreadPoolExecutor(len(clients)) as pool:
        steps = sum(pool.map(play, range(len(clients))))
    return steps / (time.perf_counter() - begun)


def _figures(rounds: list[dict[str, float]]) -> dict[str, dict[str, object]]:
    bare = median(one["bare"] for one in rounds)

    def figure(name: str, beside: str, bound: str, what: str) -> dict[str, object]:
        return {
            "value": median(one[name] / one[beside] for one in rounds),
            "unit": f"of {'session' if beside == 'timed' else beside}",
            "bound": bound,
            "what": f"{what} ({median(one[name] for one in rounds):.0f} steps/s)",
            "baseline": f"bare environment {bare:.0f} steps/s",
        }

    found = {
        "session": figure("session", "bare", ">= 0.97", "inhabit.open, 300x300"),
        "rollout": figure("rollout", "bare", "", "inhabit.rollouts, with candidates"),
        "vector": figure("vector", "timed", ">= 0.9", "Gymnasium's vector of 4"),
    }
    if "openenv" in rounds[0]:
        found["openenv"] = figure("openenv", "timed", ">= 0.6", "OpenEnv, 16 sessions")
    return found


if __name__ == "__main__":
    main()
