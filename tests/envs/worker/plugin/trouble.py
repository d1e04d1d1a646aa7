"""An environment that fails in every way there is, installed as somebody else's package would be.

It can do nothing beyond the bare contract. Its actions are the failures, by name.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel

from inhabit.envs.core import (
    Action,
    Clip,
    Determinism,
    Env,
    Observation,
    Outcome,
    SceneError,
    SimulatorError,
    Task,
    TaskError,
    UnavailableError,
)
from inhabit.envs.registry import Registration

ERRORS = {e.__name__: e for e in (SceneError, TaskError, UnavailableError, SimulatorError)}


class TroubleScene(BaseModel):
    """An empty template."""


class TroubleSettings(BaseModel, extra="forbid"):
    """How to fail while starting."""

    start: str = ""


class Trouble(Env):
    """Does what an action says, in the way of a simulator that fails."""

    Scene = TroubleScene
    determinism = Determinism.NONE
    realtime = True

    def __init__(self) -> None:
        self._size = 4

    def reset(self, task: Task, *, seed: int) -> None:
        _fail(task.kind)

    def observe(self) -> Observation:
        side = self._size
        rgb = np.arange(side * side * 3, dtype=np.uint32).astype(np.uint8).reshape(side, side, 3)
        return Observation(
            "{not} a %s format \udcff\n",
            rgb,
            clips=(Clip(np.full((3, side, side, 3), 7, np.uint8), "first"),),
            depth=np.where(np.eye(side), np.inf, 0.5).astype(np.float32),
            instances=np.eye(side, dtype=np.int32) - 1,
            names=("mug {|} ü",),
        )

    def vocabulary(self) -> Sequence[Action]:
        return [Action("wait", "wait")]

    def actions(self) -> Sequence[Action]:
        return self.vocabulary()

    def parse(self, text: str) -> Action | None:
        return Action(text, text) if text else None

    def act(self, action: Action) -> Outcome:
        if action.verb == "grow":
            self._size = int(action.arguments[0])
        return Outcome(None, _fail(action.verb, *action.arguments) or "ok", 0, 1, over=False)

    def progress(self) -> tuple[int, int]:
        return 0, 1

    def close(self) -> None:
        if os.environ.get("TROUBLE_CLOSE") == "hang":
            time.sleep(1000)


def _fail(how: str, *arguments: str) -> str:
    """Fail as asked; otherwise say what was done."""
    if how in ERRORS:
        raise ERRORS[how](*arguments or (f"a {{plain}} {how}",))
    if how == "bug":
        raise RuntimeError("a {bug} of ours")
    if how == "exit":
        sys.stderr.write("about to exit\n")
        os._exit(3)
    if how == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "hang":
        sys.stderr.write("about to hang\n")
        time.sleep(1000)
    if how == "slow":
        time.sleep(float(arguments[0]))
    if how == "hold":
        # No other thread of this process runs meanwhile, as in a library that keeps the GIL.
        ctypes.PyDLL(None).usleep(int(float(arguments[0]) * 1e6))
    if how == "print":
        for line in range(500):
            sys.stdout.write(f"line {line}\n")
    if how == "litter":
        return tempfile.mkdtemp()
    if how == "simulator":
        # As deaf as a simulator can be: it minds no signal that can be minded.
        started = subprocess.Popen([sys.executable, "-c", DEAF], stdin=subprocess.DEVNULL)
        return str(started.pid)
    return ""


DEAF = """
import signal, time
for deaf in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(deaf, signal.SIG_IGN)
time.sleep(1000)
"""


def _make(backend: str, settings: TroubleSettings) -> Env:
    _fail(settings.start)
    return Trouble()


REGISTRATION = Registration(
    name="trouble",
    summary="fails in every way",
    backends=("only",),
    settings=TroubleSettings,
    make=_make,
    sample=lambda n, seed, settings: [],
    read=lambda source, settings: [],
    needs=lambda backend: [],
)
