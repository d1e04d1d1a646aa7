"""The interpreter, and what `inhabit` and its extras require."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version

from packaging.requirements import InvalidRequirement, Requirement

from inhabit.episodes.machine.finding import Finding, judge

_EXTRAS = {
    "local": "models that run on this machine, such as the built-in planner",
    "openai": "models behind a chat endpoint",
    "sets": "synth, photographs, and exports to messages and lerobot",
    "tune": "fine-tuning",
    "gym": "the Gymnasium adapter",
    "ray": "runs on a Ray cluster",
    "notebook": "notebooks and pandas tables",
    "docs": "building this documentation",
    "dev": "the tests",
}


def python() -> Iterator[Finding]:
    """Python itself, and whether this is an environment of our own."""
    yield judge(
        "Python",
        sys.version_info >= (3, 11),
        platform.python_version(),
        to="everything",
        fix="install Python 3.11 or newer and create the environment again",
        needed=True,
    )
    yield judge(
        "virtual environment",
        sys.prefix != sys.base_prefix,
        sys.prefix,
        to="keeping its dependencies apart from those of other programs",
        fix="python3 -m venv .venv && .venv/bin/pip install inhabit",
    )


def packages() -> Iterator[Finding]:
    """What `inhabit` and its extras require, held against what is installed."""
    try:
        stated = [Requirement(text) for text in requires("inhabit") or ()]
    except (PackageNotFoundError, InvalidRequirement) as error:
        yield judge("packages", False, str(error), to="everything", fix=_install(""), needed=True)
        return
    for extra in ("", *_EXTRAS):
        wanted = [r for r in stated if _is_for(r, extra)]
        wrong = [problem for r in wanted if (problem := _problem(r))]
        yield judge(
            f"packages ({extra})" if extra else "packages",
            not wrong,
            ", ".join(wrong) or f"{len(wanted)}, as required",
            to=_EXTRAS.get(extra, "everything"),
            fix=_install(extra),
            needed=not extra,
        )


def _is_for(requirement: Requirement, extra: str) -> bool:
    """Whether it is required with `extra` and (but for "") not without it."""
    if requirement.marker is None:
        return not extra
    without = requirement.marker.evaluate({"extra": ""})
    return without if not extra else not without and requirement.marker.evaluate({"extra": extra})


def _problem(requirement: Requirement) -> str:
    try:
        installed = version(requirement.name)
    except PackageNotFoundError:
        return f"{requirement.name} is not installed"
    if requirement.specifier.contains(installed, prereleases=True):
        return ""
    return f"{requirement.name} {installed} is not {requirement.specifier}"


def _install(extra: str) -> str:
    return f"pip install 'inhabit[{extra}]'" if extra else "pip install --upgrade inhabit"
