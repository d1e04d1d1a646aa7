"""What is installed: the wheel, with nothing but the core dependencies.

The quick test unpacks the wheel beside this environment's packages and hides the extras. The slow
ones install it from the package index into an empty environment, alone and beside openai-agents,
whose import name is `agents`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Sequence
from importlib.metadata import (
    PackageNotFoundError,
    distribution,
    packages_distributions,
    requires,
)
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build(tmp_path_factory.mktemp("wheel"), str(ROOT))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A user's folder, with packages of their own that are called as ours are."""
    for name in ("envs", "agents", "episodes", "eie"):
        (tmp_path / "here" / name).mkdir(parents=True)
        (tmp_path / "here" / name / "__init__.py").write_text("raise ImportError('not ours')\n")
    return tmp_path / "here"


def test_the_wheel_holds_one_package_and_no_links(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        files = archive.infolist()
    # Verifiers finds a taskset by the name of a module, which can't hold a dot.
    named = {"inhabit", "inhabit_verifiers.py", f"{_stem(wheel)}"}
    assert {file.filename.split("/")[0] for file in files} == named
    names = {file.filename for file in files}
    assert {"inhabit/envs/core.py", "inhabit/eie/__init__.py", "inhabit/api/session.py"} <= names
    assert not [file.filename for file in files if (file.external_attr >> 28) == 0xA]
    assert not [name for name in names if "__pycache__" in name or "/tests/" in name]


@pytest.mark.slow
def test_it_plays_without_extras_beside_a_users_own_folders(
    wheel: Path, tmp_path: Path, folder: Path
) -> None:
    target = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    hide = f"import sys; sys.path.insert(1, {str(target)!r}); "
    hide += "".join(f"sys.modules[{name!r}] = None; " for name in _not_required())
    wants = {
        "--help": (0, "run"),
        "envs": (0, "alfred"),
        "run toy --n 1 --set in_process=true --agent expert --out expert": (0, "success"),
        "run toy --n 1 --agent planner --out a": (3, "pip install 'inhabit[local]'"),
        "run toy --n 1 --agent chat --model openai:x --out b": (3, "pip install 'inhabit[openai]'"),
        "synth toy --n 2 --out c": (3, "pip install 'inhabit[sets]'"),
        "synth --help": (0, "Generate a data set"),
        "tune c --base local:smollm2 --out d": (3, "pip install 'inhabit[tune]'"),
        "export expert --format messages --out e": (3, "pip install 'inhabit[sets]'"),
    }
    # One after the other in one process: each of its own would compile the modules again.
    program = folder / "program.py"
    program.write_text(
        hide
        + "import contextlib, io, json; import inhabit.envs as e; from inhabit.cli import main\n"
        "def say(line):\n"
        "    said = io.StringIO()\n"
        "    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):\n"
        "        try: main(line.split())\n"
        "        except SystemExit as left: return left.code, said.getvalue()\n"
        f"print(json.dumps([e.__file__, [say(line) for line in {list(wants)!r}]]))\n"
    )
    where, found = json.loads(_run([sys.executable, str(program)], folder).splitlines()[-1])
    assert str(target) in where
    for line, (code, said) in zip(wants, found, strict=True):
        assert code == wants[line][0], said
        assert wants[line][1] in " ".join(said.split())
        assert "Traceback" not in said


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_an_empty_environment_plays(wheel: Path, tmp_path: Path, folder: Path) -> None:
    python = _environment(tmp_path)
    _pip(python, str(wheel))
    _plays(python, folder)
    inhabit = str(python.parent / "inhabit")
    assert "inhabit[local]" in _run([inhabit, "doctor"], folder)
    _run([inhabit, "run", "alfred", "--agent", "expert", "--n", "1", "--out", "alfred"], folder)
    _run([inhabit, "setup", "virtualhome"], folder)
    _run([inhabit, "run", "virtualhome", "--agent", "expert", "--n", "1", "--out", "flat"], folder)
    said = _run([inhabit, "run", "alfred", "--n", "1", "--out", "planner"], folder, code=3)
    assert "pip install 'inhabit[local]'" in said


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("first", ["inhabit", "openai-agents"])
def test_beside_openai_agents(wheel: Path, tmp_path: Path, folder: Path, first: str) -> None:
    python = _environment(tmp_path)
    order = [str(wheel), "openai-agents"]
    for package in order if first == "inhabit" else reversed(order):
        _pip(python, package)
    _plays(python, folder)
    theirs = "import agents; print(agents.Runner)"
    assert "Runner" in _run([str(python), "-I", "-c", theirs], folder)


@pytest.mark.slow
def test_the_source_distribution_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    code = "import sys; from hatchling.build import build_sdist; print(build_sdist(sys.argv[1]))"
    builder = _environment(tmp_path)
    _pip(builder, "hatchling")
    name = _run([str(builder), "-c", code, str(tmp_path)], ROOT).split()[-1]
    again = _build(tmp_path / "again", str(tmp_path / name))
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(again) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())


def _build(out: Path, source: str) -> Path:
    code = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
    out.mkdir(exist_ok=True)
    if source.endswith(".tar.gz"):
        with tarfile.open(source) as archive:
            archive.extractall(out, filter="data")
        source = str(out / Path(source).name.removesuffix(".tar.gz"))
    _run([sys.executable, "-c", code, str(out)], Path(source))
    return next(out.glob("*.whl"))


def _not_required() -> Sequence[str]:
    """Modules of this environment that the core dependencies don't bring."""
    required, asked = set[str](), ["inhabit"]
    while asked:
        name = asked.pop()
        if canonicalize_name(name) in required or not _installed(name):
            continue
        required.add(canonicalize_name(name))
        needs = map(Requirement, requires(name) or ())
        asked += [r.name for r in needs if not r.marker or r.marker.evaluate({"extra": ""})]
    brought = packages_distributions().items()
    return [name for name, of in brought if required.isdisjoint(map(canonicalize_name, of))]


def _installed(name: str) -> bool:
    try:
        return distribution(name) is not None
    except PackageNotFoundError:
        return False


def _stem(wheel: Path) -> str:
    return "-".join(wheel.name.split("-")[:2]) + ".dist-info"


def _environment(folder: Path) -> Path:
    venv.create(folder / "venv", with_pip=True)
    return folder / "venv" / "bin" / "python"


def _pip(python: Path, package: str) -> None:
    _run([str(python), "-m", "pip", "install", "-q", package], ROOT)


def _plays(python: Path, folder: Path) -> None:
    inhabit = str(python.parent / "inhabit")
    assert "run" in _run([inhabit, "--help"], folder)
    assert "alfred" in _run([inhabit, "envs"], folder)
    _run([inhabit, "run", "toy", "--agent", "expert", "--n", "2", "--out", "toy"], folder)
    code = "import inhabit; print(inhabit.read_run('toy').scores.success_rate)"
    assert "1.0" in _run([str(python), "-c", code], folder)


def _run(command: Sequence[str], cwd: Path, *, code: int = 0) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert done.returncode == code, said[-3000:]
    return said
