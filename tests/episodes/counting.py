"""A duty for the tests of clusters: counts, and dies or fails when it is told to."""

from __future__ import annotations

import json
import os
from pathlib import Path

from pydantic import JsonValue

from inhabit.envs.core import SceneError


class Counting:
    """Squares numbers; a job is [number, how], and a path as `how` is where it dies but once."""

    def __init__(self, settings: JsonValue) -> None:
        if settings == "fails":
            raise SceneError("There is no such {scene}.")

    def do(self, job: JsonValue) -> bytes:
        assert isinstance(job, list)
        number, how = job
        if isinstance(how, str) and how.startswith("/") and not Path(how).exists():
            Path(how).touch()
            os._exit(1)
        if how == "dies":
            os._exit(1)
        if how == "fails":
            raise SceneError("There is no such {scene}.")
        assert isinstance(number, int)
        return json.dumps(number * number).encode()

    def close(self) -> None:
        pass
