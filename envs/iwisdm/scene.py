"""The scene parameters of an iWISDM trial."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from inhabit.envs.core import SceneError, Task
from inhabit.envs.iwisdm.settings import Join, Level


class IwisdmScene(BaseModel):
    """A level, a way of joining tasks, and the seed that the library draws from."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    level: Level = "low"
    join: Join = "none"
    seed: int = Field(default=0, ge=0, lt=2**32)


def read_scene(task: Task) -> IwisdmScene:
    """The validated scene of a task.

    Raises:
        SceneError: it is none.
    """
    try:
        return IwisdmScene.model_validate(dict(task.scene))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(("scene", *map(str, first["loc"])))
        raise SceneError(f"Task {task.id!r}, {field}: {first['msg']}.") from error
