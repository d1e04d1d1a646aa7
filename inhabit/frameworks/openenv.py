"""An OpenEnv environment and its server (extra `openenv`; package openenv 0.10).

The server is OpenEnv's own: `inhabit serve ENV` starts it. Each WebSocket session has an episode of
its own. OpenEnv has no type for pictures, so that they travel as `data:` URLs.
"""

from __future__ import annotations

import hmac
import logging
import socket
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import (
    Action,
    ConcurrencyConfig,
    EnvironmentMetadata,
    Observation,
    State,
)
from pydantic import Field, validate_call
from starlette.responses import JSONResponse

from inhabit import __version__
from inhabit.envs.core import Task, TaskError
from inhabit.envs.errors import UserError, did_you_mean
from inhabit.frameworks.pictures import data_url
from inhabit.frameworks.rollout import Rollout, RolloutFactory
from inhabit.frameworks.turn import Turn

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
LONGEST = 4096
"""Characters of an action."""


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


class EpisodeState(State):
    """The episode, for the trainer and not for the agent."""

    env: str = Field(default="", description="Name of the environment.")
    split: str = Field(default="", description="The split of the task.")
    task_id: str = Field(default="", description="Id of the task.")
    met: int = Field(default=0, description="Goal conditions that hold.")
    total: int = Field(default=0, description="Goal conditions in all.")
    success: bool = Field(default=False, description="Whether all of them hold.")
    value: float = Field(default=0.0, description="Sum of the rewards so far.")


class InhabitEnvironment(Environment[TextAction, TextObservation, EpisodeState]):
    """One session of a server.

    Args:
        splits: name -> which episodes it has; the first is the default.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, splits: Mapping[str, RolloutFactory]) -> None:
        super().__init__()
        self._splits = splits
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
        **_: Any,
    ) -> TextObservation:
        """Start an episode.

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
            SceneError, SimulatorError, UnavailableError: it can't be started.
        """
        self._check_open()
        name = self._split if split is None else split
        factory = self._factory(name)
        if self._rollout is None or name != self._split:
            self._release()
            self._rollout = factory.open()
        self._split, self._episode_id = name, episode_id
        return self._seen(self._rollout.reset(task_id if index is None else index, seed=seed))

    def step(self, action: TextAction, timeout_s: float | None = None, **_: Any) -> TextObservation:
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
    def state(self) -> EpisodeState:
        """The episode so far; empty before the first reset."""
        if self._rollout is None or not self._rollout.begun:
            return EpisodeState(episode_id=self._episode_id)
        turn = self._rollout.turn
        return EpisodeState(
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
        """How many there are."""
        return len(self._factory(split).tasks)

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """One of them.

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
        if self._rollout is not None:
            self._rollout.close()
        self._rollout = None

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


class InhabitClient(EnvClient[TextAction, TextObservation, EpisodeState]):
    """OpenEnv's client with this environment's types.

    For a server with a token pass `headers={"Authorization": "Bearer TOKEN"}`.
    """

    def _step_payload(self, action: TextAction) -> dict[str, Any]:
        return {"text": action.text}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[TextObservation]:
        reward, done = payload.get("reward"), bool(payload.get("done"))
        fields = {**payload["observation"], "reward": reward, "done": done}
        return StepResult(TextObservation(**fields), reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> EpisodeState:
        return EpisodeState(**payload)


def application(
    splits: Mapping[str, RolloutFactory],
    *,
    sessions: int = 16,
    idle: float = 600.0,
    token: str | None = None,
    origins: Sequence[str] = (),
) -> Any:
    """The server as an ASGI application.

    Args:
        splits: name -> which episodes it has; the first is the default.
        sessions: at once; one more is answered with CAPACITY_REACHED.
        idle: seconds without a message after which a session is closed.
        token: that every request must bring, as `Authorization: Bearer TOKEN`; None asks for none.
        origins: web pages that may connect besides those of this machine, such as
            "https://example.org". Browsers name theirs; other programs name none.
    """
    name = next(iter(splits.values())).registration.name
    app = create_fastapi_app(
        partial(InhabitEnvironment, splits),
        TextAction,
        TextObservation,
        concurrency_config=ConcurrencyConfig(max_concurrent_envs=sessions, session_timeout=idle),
        env_name=name,
        state_cls=EpisodeState,
    )
    app.add_exception_handler(UserError, _bad_request)
    app.add_middleware(_Gate, token=token, origins=tuple(origins))
    return app


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes a free one.

    Raises:
        UserError: the address or the port can't be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=512)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise UserError(f"Cannot listen on {host}, port {port}: {why}.") from error


def run_server(app: Any, bound: socket.socket) -> None:
    """Serve the application until Ctrl-C or SIGTERM.

    A client that vanishes without a word is noticed within 40 seconds, and its session closed.
    """
    config = uvicorn.Config(
        app,
        log_level=logging.WARNING,
        ws_max_size=64 * LONGEST,
        ws_ping_interval=20.0,
        ws_ping_timeout=20.0,
    )
    uvicorn.Server(config).run(sockets=[bound])


class _Gate:
    """Lets in those who bring the token, and no web page of another site."""

    def __init__(self, app: Any, token: str | None, origins: tuple[str, ...]) -> None:
        self._app, self._token, self._origins = app, token, origins

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        kind = scope["type"]
        if kind in ("http", "websocket"):
            headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
            if problem := self._problem(headers):
                await _refuse(kind, problem, receive, send)
                return
        await self._app(scope, receive, send)

    def _problem(self, headers: Mapping[str, str]) -> tuple[int, str] | None:
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins and not _is_local(origin):
            return 403, f"This server does not answer web pages of {origin!r:.200}."
        if self._token is not None:
            given = headers.get("authorization", "").removeprefix("Bearer ").encode()
            if not hmac.compare_digest(given, self._token.encode()):
                return 401, "A wrong token, or none: send the header Authorization: Bearer TOKEN."
        return None


def _is_local(origin: str) -> bool:
    try:
        return urlsplit(origin).hostname in _LOOPBACK
    except ValueError:
        return False


async def _bad_request(_: Any, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, status_code=400)


async def _refuse(kind: str, problem: tuple[int, str], receive: Any, send: Any) -> None:
    status, text = problem
    if kind == "websocket":
        await receive()
    prefix = "websocket.http.response" if kind == "websocket" else "http.response"
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": f"{prefix}.start", "status": status, "headers": headers})
    await send({"type": f"{prefix}.body", "body": text.encode()})


def _row(index: int, task: Task) -> dict[str, Any]:
    return {"index": index, "id": task.id, "kind": task.kind, "goal": task.goal}
