"""A broken package of somebody else costs a warning that names it, and nothing more."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from installed import install
from waiting import PATIENCE

INHABIT = [sys.executable, "-c", "from inhabit.cli import main; main()"]
GOOD = """
from inhabit.envs.registry import Registration
from inhabit.envs.toy import REGISTRATION as TOY
import dataclasses
REGISTRATION = dataclasses.replace(TOY, name="good", needs={needs}, packages=["numpy"])
"""
LISTS = """
import dataclasses
from inhabit.agents.planners.plain import RANDOM
LIST = dataclasses.replace(RANDOM, name="wants_is_list", wants=["sight"])
NONE = dataclasses.replace(RANDOM, name="earlier_is_none", earlier_models=None)
"""
BROKEN = {
    "no_import": "import there_is_no_such_module",
    "no_syntax": "def broken(:\n",
    "raises": "raise RuntimeError('not [today]')",
    "leaves": "raise SystemExit(3)",
    "no_attribute": "",
    "wrong_type": "REGISTRATION = 'a text'",
    "other_name": GOOD.format(needs="TOY.needs"),
    "no_backends": GOOD.format(needs="TOY.needs").replace(
        'name="good"', 'name="no_backends", backends=()'
    ),
    "no_settings": GOOD.format(needs="TOY.needs").replace(
        'name="good"', 'name="no_settings", settings=dict'
    ),
    "kinds_is_list": GOOD.format(needs="TOY.needs").replace(
        'name="good"', 'name="kinds_is_list", kinds=["put"]'
    ),
    "summary_is_none": GOOD.format(needs="TOY.needs").replace(
        'name="good"', 'name="summary_is_none", summary=None'
    ),
    "agent_is_class": GOOD.format(needs="TOY.needs").replace(
        'name="good"', 'name="agent_is_class", agent=dict'
    ),
    "places_is_text": GOOD.format(needs="TOY.needs").replace(
        'name="good"', 'name="places_is_text", scene_places="image"'
    ),
    "wanders": "import os; os.chdir('/'); raise ValueError('lost')",
}
SAYS = {
    "no_import": "No module named 'there_is_no_such_module'",
    "no_syntax": "SyntaxError",
    "raises": "raised RuntimeError: not [today] (raises.py, line 1)",
    "leaves": "raised SystemExit: 3",
    "no_attribute": "has no attribute 'REGISTRATION'",
    "wrong_type": "of type str, not a Registration",
    "other_name": "its entry point is called 'other_name' and its registration 'good'",
    "no_backends": "not a tuple of at least one name",
    "no_settings": "not a class derived from pydantic.BaseModel",
    "kinds_is_list": "its kinds is",
    "summary_is_none": "its summary is",
    "agent_is_class": "its agent is of type type, not a text or None",
    "places_is_text": "its scene_places is of type str, not a tuple",
    "wanders": "raised ValueError: lost",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages, nearly all of which are broken."""
    folder = tmp_path_factory.mktemp("site")
    for name, code in BROKEN.items():
        install(folder, name, code, {"inhabit.envs": {name: f"{name}:REGISTRATION"}})
    install(
        folder,
        "good",
        GOOD.format(needs="TOY.needs"),
        {"inhabit.envs": {"good": "good:REGISTRATION"}},
    )
    agent = "raise ImportError('an agent without its library')"
    install(folder, "bad_agent", agent, {"inhabit.agents": {"bad_agent": "bad_agent:X"}})
    points = {"wants_is_list": "lists:LIST", "earlier_is_none": "lists:NONE"}
    install(folder, "lists", LISTS, {"inhabit.agents": points})
    install(folder, "bad_model", agent, {"inhabit.models": {"bad_model": "bad_model:X"}})
    install(folder, "bad_metric", agent, {"inhabit.metrics": {"bad_metric": "bad_metric:X"}})
    for twin in ("twin_a", "twin_b"):
        install(folder, twin, "", {"inhabit.envs": {"twin": f"{twin}:REGISTRATION"}})
    install(folder, "usurper", "", {"inhabit.envs": {"alfred": "usurper:REGISTRATION"}})
    return folder


def inhabit(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "400"}
    return subprocess.run(
        [*INHABIT, *words], capture_output=True, text=True, env=environment, timeout=PATIENCE
    )


@pytest.fixture(scope="module")
def listed(site: Path) -> subprocess.CompletedProcess[str]:
    return inhabit(site, "envs", "--json")


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_environment_costs_a_warning(
    listed: subprocess.CompletedProcess[str], name: str
) -> None:
    (told,) = [t for t in json.loads(listed.stdout)["broken"] if f" {name!r} of" in t]
    assert SAYS[name] in told
    assert told in listed.stderr, "A person reads the same."
    assert f"the package {name} 1.0" in told


def test_the_others_are_listed(listed: subprocess.CompletedProcess[str]) -> None:
    names = [row["name"] for row in json.loads(listed.stdout)["envs"]]
    assert listed.returncode == 0
    assert {"alfred", "toy", "good"} <= set(names)
    assert not set(BROKEN) & set(names)
    assert "Traceback" not in listed.stderr


def test_two_packages_with_one_name_are_named(listed: subprocess.CompletedProcess[str]) -> None:
    told = " ".join(json.loads(listed.stdout)["broken"])
    assert "twin_a 1.0 and the package twin_b 1.0 both offer an environment 'twin'" in told
    assert "The package usurper 1.0 offers an environment 'alfred', and inhabit has one" in told


def test_agents_and_kinds_of_models_as_well(site: Path) -> None:
    said = inhabit(site, "agents", "--json")
    answer = json.loads(said.stdout)
    assert said.returncode == 0
    assert {row["name"] for row in answer["agents"]} >= {"expert", "random"}
    broken = {told.split("'")[1]: told for told in answer["broken"]}
    assert set(broken) == {"bad_agent", "bad_model", "wants_is_list", "earlier_is_none"}
    assert "its wants is of type list, not a mapping" in broken["wants_is_list"]
    assert "its earlier_models is None, not a mapping" in broken["earlier_is_none"]
    assert "have a prompt to print: rank, beam, chat" in inhabit(site, "agents", "--prompt").stderr


def test_a_run_names_a_metric_that_is_broken(site: Path, tmp_path: Path) -> None:
    said = inhabit(
        site, "run", "toy", "--agent", "expert", "--n", "1", "--out", str(tmp_path / "run")
    )
    assert said.returncode == 0
    assert "Warning: The metric 'bad_metric' of the package bad_metric 1.0" in said.stderr


def test_an_environment_in_a_file_is_for_validate_alone(site: Path) -> None:
    said = inhabit(site, "tasks", "good.py:REGISTRATION")
    assert said.returncode == 2
    assert "Only `inhabit validate` takes a file. Package yours" in said.stderr


def test_another_release_of_an_optional_package_is_named(tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").touch()
    said = inhabit(tmp_path, "mcp", "toy")
    assert said.returncode == 3
    assert "pip install 'inhabit[mcp]'" in said.stderr and "Traceback" not in said.stderr


@pytest.mark.slow
def test_doctor_finds_them(site: Path) -> None:
    said = inhabit(site, "doctor", "--json")
    findings = json.loads(said.stdout.splitlines()[-1])["findings"]
    told = " ".join(finding["found"] for finding in findings)
    for name in BROKEN:
        assert f"The environment {name!r} of" in told
    for kind in ("agent", "model", "metric"):
        assert f"{kind} 'bad_{kind}' of the package bad_{kind} 1.0 can't be used" in told
    assert any(finding["what"] == "good (grid)" for finding in findings)
    assert "Traceback" not in said.stderr


@pytest.mark.slow
def test_another_environment_runs(site: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    said = inhabit(site, "run", "good", "--agent", "expert", "--n", "1", "--out", out, "--json")
    assert said.returncode == 2 and "its env is 'toy'" in said.stderr, "Its tasks are the toy's."
    said = inhabit(site, "run", "toy", "--agent", "expert", "--n", "1", "--out", out, "--json")
    assert said.returncode == 0, said.stderr


@pytest.mark.parametrize(
    "name",
    ["wrong_type", *(pytest.param(n, marks=pytest.mark.slow) for n in ("no_import", "twin"))],
)
def test_running_a_broken_one_is_refused_in_a_sentence(
    site: Path, tmp_path: Path, name: str
) -> None:
    out = str(tmp_path / "run")
    said = inhabit(site, "run", name, "--agent", "random", "--n", "1", "--out", out)
    assert said.returncode == 3
    assert name in said.stderr and "Traceback" not in said.stderr
