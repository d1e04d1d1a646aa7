"""The layering of the packages: it holds here, and the checker finds each way to break it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from imports import (
    ENVS_FOR_AGENTS,
    SEALED,
    Module,
    circles,
    modules,
    named_environments,
    outside_contract,
    upward,
    words_of_the_sealed,
)

from inhabit.envs import registry

ROOT = Path(__file__).parent.parent
NAMED_ON_PURPOSE = {
    "inhabit.eie.export.exporter 'egoplan'",
    "inhabit.eie.export.egoplan 'egoplan'",
}
"""The export format is EgoPlan's own; it is not asked of the environment of that name."""
ENGLISH = {"inhabit.agents.dialogue.synonyms"}
"""Names of household things, for every agent."""
ITS_SCRIPTS = {"train_planner", "train_reader", "measure_reading", "count_places", "make_vlm"}
"""Those that make the specialist's parts, and the one that takes it as a teacher."""


@pytest.fixture(scope="module")
def tree() -> Mapping[str, Module]:
    return modules(ROOT)


def test_every_package_is_read(tree: Mapping[str, Module]) -> None:
    tops = {name.split(".")[1] for name in tree if "." in name}
    assert {"envs", "agents", "episodes", "eie", "cli", "api"} <= tops
    assert tree.keys() >= ENVS_FOR_AGENTS


def test_no_import_goes_up(tree: Mapping[str, Module]) -> None:
    assert upward(tree) == []


def test_no_modules_import_one_another(tree: Mapping[str, Module]) -> None:
    assert circles(tree) == []


def test_only_the_contract_of_envs_is_imported(tree: Mapping[str, Module]) -> None:
    assert outside_contract(tree) == []


def test_nothing_above_envs_names_an_environment(tree: Mapping[str, Module]) -> None:
    found = {_without_line(one) for one in named_environments(tree, registry.names())}
    assert found == NAMED_ON_PURPOSE


def test_nothing_generic_speaks_of_the_sealed_folder(tree: Mapping[str, Module]) -> None:
    assert any(name.startswith(SEALED) for name in tree)
    assert words_of_the_sealed(tree, ENGLISH) == []


def test_only_its_own_scripts_import_the_sealed_folder() -> None:
    files = [file for file in (ROOT / "scripts").rglob("*") if file.is_file()]
    naming = {file.name for file in files if SEALED.encode() in file.read_bytes()}
    assert naming == ITS_SCRIPTS


def _without_line(found: str) -> str:
    place, _, value = found.partition(" ")
    return f"{place.rpartition(':')[0]} {value}"


Check = Callable[[Mapping[str, Module]], Sequence[object]]


def _names(tree: Mapping[str, Module]) -> Sequence[object]:
    return named_environments(tree, ("toy", "alfred"))


@pytest.mark.parametrize(
    ("file", "line", "check"),
    [
        ("envs/core.py", "from inhabit.agents.core import Agent", upward),
        ("agents/core.py", "import inhabit.episodes.run", upward),
        ("episodes/run.py", "def f():\n    from inhabit.eie import make", upward),
        ("eie/make.py", "from inhabit.cli import main", upward),
        ("agents/core.py", "from inhabit.api.session import open", upward),
        ("envs/core.py", "from inhabit import open", upward),
        ("envs/core.py", "from inhabit.envs import registry", circles),
        ("agents/core.py", "from inhabit.agents.models import load", circles),
        ("eie/make.py", "from inhabit.eie.make import x", circles),
        ("agents/core.py", "from inhabit.envs.registry import find", outside_contract),
        ("agents/core.py", "from inhabit.envs import registry", outside_contract),
        ("eie/make.py", "from inhabit.envs.toy import House", outside_contract),
        ("episodes/run.py", "import inhabit.envs.toy", outside_contract),
        ("envs/core.py", "LAZY = 'inhabit.agents.core:Agent'", upward),
        ("eie/make.py", "LAZY = 'inhabit.envs.toy:REGISTRATION'", outside_contract),
        ("agents/core.py", "DEFAULT = 'toy'", _names),
        ("agents/core.py", "from inhabit.agents.alfred_specialist import x", upward),
        ("inhabit/cli.py", "def f():\n    import inhabit.agents.alfred_specialist", upward),
        ("agents/core.py", "KIND = 'alfred_specialist'", words_of_the_sealed),
        ("agents/models/__init__.py", "# a ranker", words_of_the_sealed),
        ("eie/make.py", "def f(env='alfred'): ...", _names),
    ],
)
def test_what_breaks_the_layering_is_found(
    tmp_path: Path, file: str, line: str, check: Check
) -> None:
    _sound(tmp_path)
    assert not check(modules(tmp_path))
    with (tmp_path / file).open("a", encoding="utf-8") as stream:
        stream.write(line + "\n")
    assert check(modules(tmp_path))


@pytest.mark.parametrize(
    "line", ["from . import models", "from agents.models import load", "import envs.core"]
)
def test_imports_of_the_project_are_absolute(tmp_path: Path, line: str) -> None:
    _sound(tmp_path)
    (tmp_path / "agents/core.py").write_text(line + "\n")
    with pytest.raises(ValueError, match=r"inhabit\.agents\.core:1"):
        upward(modules(tmp_path))


def test_an_import_within_a_function_makes_no_circle(tmp_path: Path) -> None:
    _sound(tmp_path)
    (tmp_path / "envs/core.py").write_text("def f():\n    from inhabit.envs import registry\n")
    assert circles(modules(tmp_path)) == []


def _sound(root: Path) -> None:
    """A small tree that keeps to the layering."""
    files = {
        "envs/__init__.py": '"""Named in a docstring: toy."""',
        "envs/core.py": "",
        "envs/cache.py": "",
        "envs/entries.py": "",
        "envs/registry.py": "from inhabit.envs.core import x\nNAMES = ('toy', 'alfred')",
        "envs/toy/__init__.py": "from inhabit.envs.core import x",
        "agents/core.py": "from inhabit.envs.core import x",
        "agents/alfred_specialist/__init__.py": "import inhabit.eie.make\nSHUT = 'microwave'",
        "agents/models/__init__.py": "from inhabit.agents.core import Agent",
        "episodes/run.py": "from inhabit.envs import registry\nimport inhabit.agents.core",
        "eie/make.py": "import json\nfrom inhabit.episodes.run import run",
        "inhabit/__init__.py": "",
        "inhabit/api/session.py": "from inhabit.envs import registry",
        "inhabit/cli.py": "from inhabit.eie.make import make",
    }
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")


STEPPED = re.compile(
    r"(\bEpisode\(.*\)|super\(\)|(^|[ ._])(episode|again|copy|trial|session|rollout|playing|writer)"
    r"|_rollouts\[i\]| self)\.(reset|act)$"
)
"""What else has `reset` or `act`: an episode, its copies, and what stands on one."""


def test_only_an_episode_resets_and_acts_in_an_environment() -> None:
    assert [call for call in _calls("reset", "act") if not STEPPED.search(call)] == [
        "episodes/episode.py self.env.reset",
        "episodes/episode.py self.env.act",
        # Gymnasium's environments, each of which is a rollout.
        "inhabit/frameworks/gymnasium.py self.envs[i].reset",
        "inhabit/frameworks/gymnasium.py self.envs[i].reset",
    ]


def _calls(*names: str) -> Iterator[str]:
    """Calls of methods with these names above `envs`: the file and what is called."""
    for package in ("agents", "eie", "episodes", "inhabit"):
        for file in sorted((ROOT / package).rglob("*.py")):
            place = file.relative_to(ROOT)
            if any(parent.is_symlink() for parent in (ROOT / place).parents):
                continue
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                called = node.func if isinstance(node, ast.Call) else None
                if isinstance(called, ast.Attribute) and called.attr in names:
                    yield f"{place} {ast.unparse(called)}"
