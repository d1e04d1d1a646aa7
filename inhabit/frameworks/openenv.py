"""An OpenEnv environment and its server (extra `openenv`; package openenv 0.10).

The server is OpenEnv's own: `inhabit serve ENV` starts it. Each WebSocket session has an episode of
its own. OpenEnv has no type for pictures, so that they travel as `data:` URLs.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import partial
from typing import Any

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient
from openenv.core.env_server.exceptions import SessionCapacityError
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import (
    Action,
    ConcurrencyConfig,
    EnvironmentMetadata,
    Observation,
    State,
)
from pydantic import Field, ValidationError, validate_call
from starlette.responses import JSONResponse

from inhabit import __version__
from inhabit.envs.core import Task, TaskError
from inhabit.envs.errors import UserError, did_you_mean
from inhabit.envs.host.server_gate import Gate, gated
from inhabit.envs.pictures import data_url
from inhabit.frameworks.rollout import Rollout, RolloutFactory
from inhabit.frameworks.turn import Turn

LONGEST = 4096
"""Characters of an action, at most."""
_FULL = "All sessions of this server are in use: try again later, or start it with more --sessions."


class TextAction(Action):
    """An action in the environment's words; "stop" ends the episode."""

    text: str = Field(max_length=LONGEST, description="Such as: go to the fridge")


class TextObservation(Observation):
    """What the agent sees and is told."""

    text: str = Field(default="", description="Goal or feedback, and what can be done.")
    goal: str = Field(default="", description="The instruction.")
    image: str | None = Field(default=None, description="The picture, as a data: URL with a PNG.")
    candidates: list[str] = Field(default_factory=list, description="Texts of plausible actions.")
    reason: str | None = Field(default=None, description="Why the action had no effect.")
    ending: str | None = Field(default=None, description="Why the episode has ended.")


class TrainerState(State):
    """The episode, for the trainer and not for the agent."""

    env: str = Field(default="", description="Name of the environment.")
    split: str = Field(default="", description="The split of the task.")
    task_id: str = Field(default="", description="Id of the task.")
    met: int = Field(default=0, description="Goal conditions that hold.")
    total: int = Field(default=0, description="Goal conditions in all.")
    success: bool = Field(default=False, description="Whether all of them hold.")
    value: float = Field(default=0.0, description="Sum of the rewards so far.")


class InhabitEnvironment(Environment[TextAction, TextObservation, TrainerState]):
    """One session of a server.

    Args:
        splits: name -> which episodes it has; the first is the default.
        seats: counts the simulators of all sessions; by default this session may have one.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(
        self, splits: Mapping[str, RolloutFactory], seats: threading.Semaphore | None = None
    ) -> None:
        super().__init__()
        self._splits = splits
        self._seats = threading.Semaphore(1) if seats is None else seats
        self._split = next(iter(splits))
        self._rollout: Rollout | None = None
        self._episode_id: str | None = None
        self._closed = False

    @validate_call
    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        split: str | None = None,
        index: int | None = None,
        task_id: str | None = None,
    ) -> TextObservation:
        """Start an episode. OpenEnv drops what it does not take.

        Args:
            seed: chooses the task where neither `index` nor `task_id` does.
            episode_id: of the client's choice; comes back in the state.
            split: from `list_splits`; the first by default.
            index: number of the task in the split.
            task_id: its id instead.

        Raises:
            ValidationError: an argument has the wrong type.
            UserError: the session is closed.
            TaskError: there is no such split or task.
            SessionCapacityError: as many simulators run as there may be sessions.
            SceneError, SimulatorError, UnavailableError: it can't be started.
        """
        self._check_open()
        name = self._split if split is None else split
        factory = self._factory(name)
        if name != self._split:
            self._release()
        if self._rollout is None:
            if not self._seats.acquire(blocking=False):
                raise SessionCapacityError(0, 0, _FULL)
            self._rollout = factory.open()
        self._split, self._episode_id = name, episode_id
        return self._seen(self._rollout.reset(task_id if index is None else index, seed=seed))

    def step(self, action: TextAction, timeout_s: float | None = None) -> TextObservation:
        """Carry out one action. The environment's own deadline holds, not `timeout_s`.

        Raises:
            UserError: no episode has begun, it has ended, or the session is closed.
            SimulatorError: the simulator failed.
        """
        self._check_open()
        try:
            return self._seen(self._playing.act(action.text))
        except RuntimeError as error:
            raise UserError(str(error)) from error

    @property
    def state(self) -> TrainerState:
        """The episode so far; empty before the first reset."""
        if self._rollout is None or not self._rollout.begun:
            return TrainerState(episode_id=self._episode_id)
        turn = self._rollout.turn
        return TrainerState(
            episode_id=self._episode_id,
            step_count=turn.steps,
            env=self._rollout.task.env,
            split=self._split,
            task_id=self._rollout.task.id,
            met=turn.met,
            total=turn.total,
            success=turn.success,
            value=self._rollout.value,
        )

    def get_metadata(self) -> EnvironmentMetadata:
        """Name, summary and version."""
        registration = self._factory(self._split).registration
        return EnvironmentMetadata(
            name=registration.name, description=registration.summary, version=__version__
        )

    def list_splits(self) -> list[dict[str, str]]:
        """The splits of this server."""
        return [{"name": name, "type": "unknown"} for name in self._splits]

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """All tasks of a split: index, id, kind and goal."""
        return [_row(i, task) for i, task in enumerate(self._factory(split).tasks)]

    def num_tasks(self, split: str) -> int:
        """Number of tasks of a split."""
        return len(self._factory(split).tasks)

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """One task of a split: index, id, kind and goal.

        Raises:
            IndexError: there is no such task.
        """
        tasks = self._factory(split).tasks
        if not 0 <= index < len(tasks):
            raise IndexError(f"Tasks of {split!r} are numbered 0 to {len(tasks) - 1}.")
        return _row(index, tasks[index])

    def close(self) -> None:
        """Let go of the simulator, for good.

        OpenEnv closes silent sessions but leaves their connections open. A simulator that such a
        connection started would count for no session, and nothing would ever close it.
        """
        self._closed = True
        self._release()

    def _check_open(self) -> None:
        if self._closed:
            raise UserError("This session was closed after a long silence: connect again.")

    def _release(self) -> None:
        rollout, self._rollout = self._rollout, None
        if rollout is not None:
            try:
                rollout.close()
            finally:
                self._seats.release()

    @property
    def _playing(self) -> Rollout:
        if self._rollout is None:
            raise UserError("No episode has begun: call reset first.")
        return self._rollout

    def _factory(self, split: str) -> RolloutFactory:
        if split not in self._splits:
            raise TaskError(f"There is no split {split!r}. {did_you_mean(split, self._splits)}")
        return self._splits[split]

    def _seen(self, turn: Turn) -> TextObservation:
        return TextObservation(
            done=turn.done,
            reward=turn.reward,
            text=turn.text,
            goal=self._playing.task.goal,
            image=None if turn.picture is None else data_url(turn.picture),
            candidates=list(turn.candidates),
            reason=turn.reason,
            ending=turn.ending,
        )


class InhabitClient(EnvClient[TextAction, TextObservation, TrainerState]):
    """OpenEnv's client with this environment's types.

    `base_url` is the address that `inhabit serve` printed, token and all. For a token of your own
    pass `headers={"Authorization": "Bearer TOKEN"}`.
    """

    def _step_payload(self, action: TextAction) -> dict[str, Any]:
        return {"text": action.text}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[TextObservation]:
        reward, done = payload.get("reward"), bool(payload.get("done"))
        fields = {**payload["observation"], "reward": reward, "done": done}
        return StepResult(TextObservation(**fields), reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> TrainerState:
        return TrainerState(**payload)


def application(
    splits: Mapping[str, RolloutFactory], gate: Gate, *, sessions: int = 16, idle: float = 600.0
) -> Any:
    """The server as an ASGI application.

    Args:
        splits: name -> which episodes it has; the first is the default.
        gate: says who is let in.
        sessions: at once, and simulators. One more gets CAPACITY_REACHED, or status 503.
        idle: seconds without a message after which a session is closed.
    """
    app = create_fastapi_app(
        partial(InhabitEnvironment, splits, threading.Semaphore(sessions)),
        TextAction,
        TextObservation,
        concurrency_config=ConcurrencyConfig(max_concurrent_envs=sessions, session_timeout=idle),
        env_name=next(iter(splits.values())).registration.name,
        state_cls=TrainerState,
    )
    for kind, status in ((UserError, 400), (ValidationError, 422), (SessionCapacityError, 503)):
        app.add_exception_handler(kind, partial(_say, status))
    return gated(app, gate)


async def _say(status: int, _: Any, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, status_code=status)


def _row(index: int, task: Task) -> dict[str, Any]:
    return {"index": index, "id": task.id, "kind": task.kind, "goal": task.goal}
