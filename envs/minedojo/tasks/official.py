"""Reads MineDojo's own tasks from its wheel or installed folder, without running its code.

Its specs are YAML with {variables}; their values stand in its `tasks/__init__.py` as one literal,
which is parsed as such.
"""

from __future__ import annotations

import ast
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from inhabit.envs.cache import cache_home
from inhabit.envs.core import Task, TaskError
from inhabit.envs.files import expanded
from inhabit.envs.minedojo.world.settings import MineDojoSettings

SOURCES = ("programmatic", "creative", "harvest", "combat", "techtree", "survival")
_STEPS = {"harvest": 150, "combat": 60, "techtree": 200, "survival": 3000, "creative": 200}
_VARIABLE = re.compile(r"\{(.*?)\}")


def default_package() -> Path:
    """Where `inhabit setup minedojo` puts the package."""
    return cache_home() / "minedojo" / "package" / "minedojo"


def read(source: str, settings: MineDojoSettings | None = None) -> Iterator[Task]:
    """MineDojo's tasks.

    Args:
        source: programmatic (1,572), creative (1,558), one of its kinds, or the id of one task.
        settings: `tasks` is a wheel, or the folder of an installed `minedojo`; without it, or
            without settings, the package is looked for where setup puts it.

    Raises:
        TaskError: there is no such source, or no MineDojo to read it from.
    """
    package = settings.tasks if settings else None
    files = _Files(expanded(package) if package else default_package())
    if source == "creative" or source.startswith("creative:"):
        found = list(_creative(files))
    else:
        found = list(_programmatic(files))
    if source not in ("programmatic", "creative"):
        found = [task for task in found if source in (task.kind, task.id)]
    if not found:
        raise TaskError(
            f"Unknown MineDojo tasks {source!r}. Use {', '.join(SOURCES)}, or the id of one "
            "task, such as harvest_1_log."
        )
    return iter(found)


class _Files:
    """MineDojo's files, from a wheel or a folder."""

    def __init__(self, package: Path) -> None:
        if not package.exists():
            raise TaskError(
                f"Found no MineDojo at {package} to read its tasks from. Run `inhabit setup "
                "minedojo` with network access, or pass the path of its wheel or folder: "
                "--set tasks=PATH."
            )
        self._package = package

    def text(self, name: str) -> str:
        """A file below `minedojo/tasks`."""
        try:
            if self._package.is_dir():
                return (self._package / "tasks" / name).read_text("utf-8")
            with zipfile.ZipFile(self._package) as wheel:
                return wheel.read(f"minedojo/tasks/{name}").decode()
        except (OSError, KeyError, ValueError, zlib.error, zipfile.BadZipFile) as error:
            raise TaskError(f"{self._package} is not a MineDojo package: {error}") from error

    def yaml(self, name: str) -> Mapping[str, Any]:
        """A description file."""
        text = self.text(f"description_files/{name}.yaml")
        try:
            loaded = yaml.safe_load(text)
        except (yaml.YAMLError, ValueError, RecursionError) as error:
            raise TaskError(f"{self._package}: {name}.yaml is not valid YAML: {error}") from error
        if not isinstance(loaded, Mapping):
            raise TaskError(f"{self._package}: {name}.yaml contains no tasks.")
        return loaded


def _programmatic(files: _Files) -> Iterator[Task]:
    prompts = files.yaml("programmatic_tasks")
    values = _variables(files.text("__init__.py"))
    filled = {
        # Some variables change nothing: several substitutions give the same task.
        name: spec
        for pattern, raw in files.yaml("tasks_specs").items()
        for name, spec in _filled(str(pattern), raw, values)
    }
    for name, spec in filled.items():
        if name in prompts:
            yield _task(name, spec, str(prompts[name]["prompt"]))


def _creative(files: _Files) -> Iterator[Task]:
    for name, about in files.yaml("creative_tasks").items():
        yield Task(
            id=str(name), env="minedojo", kind="creative", goal=str(about["prompt"]),
            scene={"task": "creative"}, max_steps=_STEPS["creative"],
        )  # fmt: skip


def _task(name: str, spec: Mapping[str, Any], prompt: str) -> Task:
    kind = str(spec["__cls__"])
    scene = {key: value for key, value in spec.items() if key not in ("__cls__", "prompt")}
    if str(scene.get("target_quantities", "")).isdigit():
        scene["target_quantities"] = int(scene["target_quantities"])
    return Task(
        id=name, env="minedojo", kind=kind, goal=prompt, scene={"task": kind, **scene},
        max_steps=_STEPS[kind],
    )  # fmt: skip


def _variables(source: str) -> Mapping[str, Any]:
    """The literal `_ALL_VARS` of MineDojo's module, parsed without executing it."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "_ALL_VARS" for target in node.targets
        ):
            found = ast.literal_eval(node.value)
            if isinstance(found, dict):
                return found
    raise TaskError("This MineDojo has no table of task variables (_ALL_VARS).")


def _filled(
    pattern: str, spec: Mapping[str, Any], values: Mapping[str, Any]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    wanted = list(dict.fromkeys([*_VARIABLE.findall(pattern), *_inside(spec)]))
    for chosen in product(*(values[name] for name in wanted)):
        replace = dict(zip(wanted, map(str, chosen), strict=True))
        yield _put(pattern, replace), _put(spec, replace)


def _inside(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _inside(inner)
    elif isinstance(value, str):
        yield from _VARIABLE.findall(value)


def _put(value: Any, chosen: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _put(inner, chosen) for key, inner in value.items()}
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: chosen[found[1]], value)
    return value
