"""The interpreter, our packages' requirements, and strangers that carry our packages' names."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, packages_distributions, requires, version
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from episodes.machine.finding import Finding, judge

PACKAGES = ("envs", "agents", "eie", "episodes")
"""Our import names: general ones, which others may use as well."""
_EXTRAS = {
    "local": "models that run on this machine",
    "gym": "the Gymnasium adapter",
    "dev": "the tests",
}


def python() -> Iterator[Finding]:
    """Python itself, and whether this is an environment of our own."""
    yield judge(
        "Python",
        sys.version_info >= (3, 11),
        platform.python_version(),
        to="everything",
        fix="install Python 3.11 or newer and make the environment anew",
        needed=True,
    )
    yield judge(
        "virtual environment",
        sys.prefix != sys.base_prefix,
        sys.prefix,
        to="keeping our general names (envs, agents) apart from others'",
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


def strangers(path: Sequence[str] | None = None) -> Iterator[Finding]:
    """Whether `import envs` and the like give ours, and who else has the name.

    Args:
        path: where Python looks for packages; `sys.path` unless given.
    """
    ours = Path(__file__).resolve().parents[2]
    for name in PACKAGES:
        others = [place for place in _places(name, sys.path if path is None else path)
                  if place.parent != ours]  # fmt: skip
        spec = find_spec(name)
        origin = Path(spec.origin).resolve() if spec and spec.origin else None
        is_ours = origin is not None and origin.parent.parent == ours
        yield judge(
            f"package {name}",
            is_ours and not others,
            ", ".join(map(str, others)) if others else "ours alone" if is_ours else str(origin),
            to="imports of it: " + ("ours comes first" if is_ours else "the stranger comes first"),
            fix=_removal(name),
            needed=not is_ours,
        )


def _places(name: str, path: Sequence[str]) -> Iterator[Path]:
    """Where `path` holds a package or module of that name."""
    seen = set()
    for entry in path:
        folder = Path(entry or ".").resolve()
        for place in (folder / name, folder / f"{name}.py"):
            # A folder without Python in it is no package that anyone means to import.
            is_package = place.is_dir() and any(place.glob("*.py"))
            if (is_package or place.is_file()) and place not in seen:
                seen.add(place)
                yield place


def _removal(name: str) -> str:
    """How to get rid of a stranger of that name."""
    strangers = sorted(set(packages_distributions().get(name, ())) - {"inhabit"})
    if strangers:
        return (
            f"pip uninstall {' '.join(strangers)}, or install inhabit in an environment of its own"
        )
    return "take its folder out of PYTHONPATH, or start inhabit from another folder"


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
