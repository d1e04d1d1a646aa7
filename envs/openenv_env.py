"""An environment behind a server of OpenEnv as an `Env`: one of several choices, a return to reach.

The server's address names it where an environment is validated. What can be done is what the
schema of its actions lists; where that leaves the argument open, what its observations list.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from http.client import HTTPException
from typing import Any
from urllib.request import urlopen

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from inhabit.envs.core import Determinism, Observation, Reason, SimulatorError, UnavailableError
from inhabit.envs.entries import raised
from inhabit.envs.extras import require
from inhabit.envs.pictures import read_image
from inhabit.envs.registry import Registration
from inhabit.envs.returns import PaidStep, ReturnEnv, of_returns
from inhabit.envs.settings import SettingsModel

PREFIXES = ("http://", "https://")
_LARGEST_SCHEMA, _MOST_CHOICES = 1 << 20, 1000


class OpenEnvSettings(SettingsModel):
    """What `--set` may say of an environment behind a server."""

    threshold: float = 1.0
    """The sum of an episode's rewards that is a success."""
    choices: str = "candidates"
    """Field of the observation that lists what can be done, where the schema does not."""
    longest: int = Field(default=50, ge=1)
    """Maximum number of steps of an episode."""


class OpenEnvEnv(ReturnEnv):
    """A session of the server at `url`.

    Raises:
        UnavailableError: its actions have no argument, or several that it asks for.
        SimulatorError: it can't be reached, or sends an image that can't be read.
    """

    determinism = Determinism.FRAMES  # Asked of it, as no server says what it keeps.

    def __init__(self, url: str, settings: OpenEnvSettings) -> None:
        super().__init__(settings.threshold)
        require("openenv", "openenv", "OpenEnv servers")
        from openenv.core.generic_client import GenericEnvClient

        self._url, self._settings = url, settings
        self._argument, self._listed = _argument(url)
        self._known: Mapping[str, Any] = {}
        self._client = GenericEnvClient(base_url=url).sync()

    def begin(self, start: int, seed: int) -> PaidStep:
        """Start an episode with `start` as the server's seed: it may choose the task as well."""
        return self._told(*self._asked(self._client.reset, seed=start))

    def do(self, choice: str) -> PaidStep:
        """Do what one of the choices says."""
        action = {self._argument: self._known.get(choice, choice)}
        return self._told(*self._asked(self._client.step, action))

    def goal(self, start: int) -> str:
        """What an observation calls the goal, or else what is asked of any."""
        seen, _, _ = self._asked(self._client.reset, seed=start)
        told = seen.get("goal")
        return told if isinstance(told, str) and told else "Earn as much reward as you can."

    def close(self) -> None:
        """End the session."""
        self._client.close()

    def _asked(self, ask: Any, *given: Any, **named: Any) -> tuple[Mapping[str, Any], float, bool]:
        try:
            found = ask(*given, **named)
            return dict(found.observation), float(found.reward or 0), bool(found.done)
        except Exception as error:  # The client raises what several libraries do.
            raise SimulatorError(f"The server at {self._url} {raised(error)}.") from error

    def _told(self, seen: Mapping[str, Any], reward: float, over: bool) -> PaidStep:
        values = self._listed or seen.get(self._settings.choices)
        if values is None and over:
            values = []
        if not isinstance(values, list):
            raise UnavailableError(
                f"The server at {self._url} lists no choices of {self._argument!r}: its schema "
                f"leaves it open, and its observations have no list {self._settings.choices!r}. "
                "Name the field with --set choices=NAME."
            )
        self._known = {str(value): value for value in values}
        try:
            shown, why = _shown(seen, self._settings.choices), seen.get("reason")
        except ValueError as error:
            raise SimulatorError(f"The server at {self._url} sent a bad image: {error}.") from error
        failed = Reason(why) if why in tuple(Reason) else None
        return PaidStep(shown, tuple(self._known), reward, over, failed)


def _argument(url: str) -> tuple[str, Sequence[Any] | None]:
    """The argument of an action, and the values that the schema lists; None where it is open."""
    address = f"{url.rstrip('/')}/schema"
    try:
        with urlopen(address, timeout=10) as answer:
            content = answer.read(_LARGEST_SCHEMA)
    except (OSError, ValueError, HTTPException) as error:
        raise SimulatorError(
            f"{address} can't be read: {error}. Start the server, or give another address."
        ) from error
    try:
        schema = json.loads(content)["action"]
        fields = {name: one for name, one in schema["properties"].items() if name != "metadata"}
        wanted = [name for name in schema.get("required", fields) if name in fields]
        values = [_values(fields[name], schema.get("$defs", {})) for name in wanted]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SimulatorError(f"{address} is no schema of OpenEnv: {error!r}.") from error
    if len(wanted) != 1:
        raise UnavailableError(
            f"An action of {url} has the arguments {sorted(fields)}; only one can be chosen."
        )
    return wanted[0], values[0]


def _values(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> Sequence[Any] | None:
    field = definitions.get(str(field.get("$ref", "")).rpartition("/")[2], field)
    if isinstance(field.get("enum"), list):
        return list(field["enum"])
    if "const" in field:
        return [field["const"]]
    low, high = field.get("minimum"), field.get("maximum")
    if isinstance(low, int) and isinstance(high, int) and high - low < _MOST_CHOICES:
        return list(range(low, high + 1))
    return None


def _shown(seen: Mapping[str, Any], choices: str) -> Observation:
    """Its text, or all of it as JSON, and the picture among its fields."""
    text, picture = seen.get("text"), next(_pictures(seen), None)
    if not isinstance(text, str):
        hidden = {choices, "metadata", *(name for name in seen if _is_picture(seen[name]))}
        text = json.dumps({k: v for k, v in seen.items() if k not in hidden}, sort_keys=True)
    return Observation(text, picture)


def _pictures(seen: Mapping[str, Any]) -> Iterator[NDArray[np.uint8]]:
    for value in filter(_is_picture, seen.values()):
        encoded = base64.b64decode(value.partition(",")[2])
        yield np.asarray(read_image(io.BytesIO(encoded)).convert("RGB"))


def _is_picture(value: object) -> bool:
    return isinstance(value, str) and value.startswith("data:image/")


def registration(url: str) -> Registration:
    """How to play what the server at `url` offers."""

    def goal(start: int, settings: OpenEnvSettings) -> str:
        with OpenEnvEnv(url, settings) as server:
            return server.goal(start)

    return of_returns(
        url,
        "an OpenEnv server",
        package="openenv",
        settings=OpenEnvSettings,
        make=lambda settings: OpenEnvEnv(url, settings),
        goal=goal,
        longest=lambda settings: settings.longest,
    )
