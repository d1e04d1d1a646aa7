"""The command line itself: its help, its version, completion, and what it does not import."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version

import pytest
from waiting import PATIENCE

from inhabit.eie.commands import COMMANDS as EIE_COMMANDS
from inhabit.envs.commands import COMMANDS as ENV_COMMANDS
from inhabit.episodes.commands import COMMANDS as EPISODE_COMMANDS

COMMANDS = {**EPISODE_COMMANDS, **EIE_COMMANDS, **ENV_COMMANDS}


def inhabit(
    *words: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "inhabit", *words],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={**os.environ, **(environment or {})},
    )


def test_version_is_printed() -> None:
    assert inhabit("--version").stdout == f"inhabit {version('inhabit')}\n"


def test_without_a_command_the_help_is_printed() -> None:
    called = inhabit()
    assert called.returncode == 2
    for name, (_, summary) in COMMANDS.items():
        assert name in called.stdout + called.stderr
        assert summary in called.stdout + called.stderr


def test_help_imports_no_command_and_nothing_heavy() -> None:
    program = (
        "import sys; from inhabit.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    called = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    loaded = set(called.stderr.split())
    assert "inhabit.cli" in loaded
    assert not loaded & {"numpy", "pydantic", "rich", "PIL", "torch", "ray", "networkx"}
    assert not {target.partition(":")[0] for target, _ in COMMANDS.values()} & loaded


@pytest.mark.parametrize("name", COMMANDS)
def test_a_summary_in_the_table_opens_the_help_of_the_command(name: str) -> None:
    target, summary = COMMANDS[name]
    module, _, function = target.partition(":")
    documented = inspect.getdoc(getattr(import_module(module), function)) or ""
    assert " ".join(documented.split("\n\n")[0].split()) == summary


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("inhabit run toy --agent pl", {"planner"}),
        *(
            pytest.param(words, offered, marks=pytest.mark.slow)
            for words, offered in (
                ("inhabit re", {"replay", "replan", "reproduce"}),
                ("inhabit run --candid", {"--candidates"}),
                ("inhabit run toy --candidates ", {"vocabulary", "seen", "oracle"}),
                ("inhabit run virt", {"virtualhome"}),
                ("inhabit tasks to", {"toy"}),
                ("inhabit agents hol", {"holmes"}),
                ("inhabit envs ego", {"egoplan"}),
                ("inhabit export folder --format le", {"lerobot"}),
            )
        ),
    ],
)
def test_the_shell_completes_commands_options_and_choices(words: str, offered: set[str]) -> None:
    asked = {"_INHABIT_COMPLETE": "complete_bash", "COMP_WORDS": words}
    asked["COMP_CWORD"] = str(len(words.split(" ")) - 1)
    assert set(inhabit(environment=asked).stdout.split()) == offered


@pytest.mark.parametrize(
    ("name", "setting"),
    [("synth", "split_by"), pytest.param("tune", "save_every", marks=pytest.mark.slow)],
)
def test_a_command_lists_its_own_settings(name: str, setting: str) -> None:
    called = inhabit(name, "--settings")
    assert called.returncode == 0, called.stderr
    assert setting in called.stdout and "default" in called.stdout


def test_an_unknown_command_names_the_nearest() -> None:
    called = inhabit("relpay")
    assert called.returncode == 2
    assert "replay" in called.stderr
