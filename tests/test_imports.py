"""What the contracts in `pyproject.toml` leave of the layering; each way to break it is found."""

from __future__ import annotations

import ast
import gc
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest
from imports import (
    SEALED,
    Module,
    circles,
    modules,
    named_environments,
    named_outside,
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
IMPORTS = re.compile(r"^ *(from [\w.]+ import (?:\([^)]*\)|.*)\n)", re.MULTILINE)
ITS_SCRIPTS = {
    "alfred_training",
    "count_places",
    "measure_reading",
    "train_planner",
    "train_reader",
}
"""Those that make the specialist's parts."""


@pytest.fixture(scope="module", autouse=True)
def no_garbage() -> Iterator[None]:
    """Looking for garbage among the nodes of a parsed program takes as long as parsing it."""
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(scope="module")
def tree() -> Mapping[str, Module]:
    return modules(ROOT)


def test_every_package_is_read(tree: Mapping[str, Module]) -> None:
    tops = {name.split(".")[1] for name in tree if "." in name}
    assert {"envs", "agents", "episodes", "eie", "cli", "api"} <= tops


def test_no_string_names_a_module_above_or_of_envs(tree: Mapping[str, Module]) -> None:
    assert named_outside(tree) == []


def test_no_modules_import_one_another(tree: Mapping[str, Module]) -> None:
    assert circles(tree) == []


def test_no_folders_import_one_another() -> None:
    """Not even a folder and one inside it, which import-linter's contracts on siblings allow."""
    script = SourceFileLoader("count_code", str(ROOT / "scripts" / "count_code")).load_module()
    assert script.PACKAGES == ("envs", "agents", "episodes", "eie", "inhabit")
    found = [group for name in script.PACKAGES for group in script.folders_in_circles(ROOT, name)]
    script.tree.cache_clear()
    assert found == []


def test_nothing_above_envs_names_an_environment(tree: Mapping[str, Module]) -> None:
    found = {_without_line(one) for one in named_environments(tree, registry.names())}
    assert found == NAMED_ON_PURPOSE


def test_nothing_generic_speaks_of_the_sealed_folder(tree: Mapping[str, Module]) -> None:
    assert any(name.startswith(SEALED) for name in tree)
    assert words_of_the_sealed(tree, ENGLISH) == []


def test_scripts_import_what_is_there() -> None:
    files = [file for file in (ROOT / "scripts").rglob("*") if file.is_file()]
    programs = [f for f in files if f.suffix == ".py" or b"python" in f.read_bytes()[:40]]
    lost = [
        f"{file.name}: {name} of {node.module}"
        for file in programs
        for node in ast.walk(ast.parse("".join(IMPORTS.findall(file.read_text()))))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("inhabit.")
        for name in (alias.name for alias in node.names)
        if not _has(ROOT / str(node.module).replace(".", "/"), name)
    ]
    assert len(programs) > 40 and lost == []


def _has(module: Path, name: str) -> bool:
    """Whether a module, or the folder of a package, has something of that name."""
    places = [
        file for file in (module.with_suffix(".py"), module / "__init__.py") if file.is_file()
    ]
    known = any(re.search(rf"\b{name}\b", file.read_text()) for file in places)
    return known or (module / f"{name}.py").is_file() or (module / name).is_dir()


def test_only_its_own_scripts_import_the_sealed_folder() -> None:
    scripts = ROOT / "scripts"
    files = [file for file in scripts.rglob("*") if file.is_file() and file.suffix != ".pyc"]
    naming = [file for file in files if SEALED.encode() in file.read_bytes()]
    assert {file.relative_to(scripts).parts[0] for file in naming} == ITS_SCRIPTS


def _without_line(found: str) -> str:
    place, _, value = found.partition(" ")
    return f"{place.rpartition(':')[0]} {value}"


Check = Callable[[Mapping[str, Module]], Sequence[object]]


def _names(tree: Mapping[str, Module]) -> Sequence[object]:
    return named_environments(tree, ("toy", "alfred"))


@pytest.mark.parametrize(
    ("file", "line", "check"),
    [
        ("envs/core.py", "from inhabit.envs import registry", circles),
        ("agents/core.py", "from inhabit.agents.models import load", circles),
        ("eie/make.py", "from inhabit.eie.make import x", circles),
        ("envs/core.py", "LAZY = 'inhabit.agents.core:Agent'", named_outside),
        ("eie/make.py", "LAZY = 'inhabit.envs.toy:REGISTRATION'", named_outside),
        ("agents/core.py", "DEFAULT = 'toy'", _names),
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


def test_only_an_episode_resets_and_acts_in_an_environment(tree: Mapping[str, Module]) -> None:
    assert [call for call in _calls(tree, "reset", "act") if not STEPPED.search(call)] == [
        "inhabit.episodes.episode self.env.reset",
        "inhabit.episodes.episode self.env.act",
        # Gymnasium's environments, each of which is a rollout.
        "inhabit.frameworks.gymnasium self.envs[i].reset",
        "inhabit.frameworks.gymnasium self.envs[i].reset",
    ]


def _calls(tree: Mapping[str, Module], *names: str) -> Iterator[str]:
    """Calls of methods with these names above `envs`: the module and what is called."""
    for module in tree.values():
        for node, _ in module.nodes if module.layer else ():
            called = node.func if isinstance(node, ast.Call) else None
            if isinstance(called, ast.Attribute) and called.attr in names:
                yield f"{module.name} {ast.unparse(called)}"
