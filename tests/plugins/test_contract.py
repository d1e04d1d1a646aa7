"""The contract names the planted mistakes of strangers' environments, each in one sentence."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from unittest import SkipTest

import pytest
from mistakes import MISTAKES, Bare, Correct
from waiting import PATIENCE

from inhabit.envs.contract import EnvContract
from inhabit.envs.core import Env, Task
from inhabit.envs.toy.tasks import sample

TESTS = [name for name in dir(EnvContract) if name.startswith("test_")]


def findings(kind: type[Env]) -> tuple[list[str], list[str]]:
    """The sentences of all tests that fail, and the names of those that are skipped."""

    class Contract(EnvContract):
        def make(self) -> Env:
            return kind()

        def tasks(self) -> Sequence[Task]:
            return list(sample(3, seed=0))

    failed, skipped = [], []
    for name in TESTS:
        try:
            getattr(Contract(), name)()
        except AssertionError as error:
            failed.append(str(error))
        except SkipTest:
            skipped.append(name)
        except Exception:  # noqa: BLE001 - it fails too, and names nothing
            continue
    return failed, skipped


def test_the_correct_one_passes_and_nothing_is_skipped() -> None:
    assert findings(Correct) == ([], [])


@pytest.mark.parametrize("kind", MISTAKES, ids=lambda kind: kind.__name__)
def test_a_mistake_is_named_in_one_sentence(kind: type[Env]) -> None:
    failed, _ = findings(kind)
    named = [sentence for sentence in failed if MISTAKES[kind] in sentence]
    assert named, failed
    assert all("\n" not in sentence for sentence in named)
    assert all(sentence for sentence in failed), "No assertion is silent."


def test_what_does_not_apply_is_skipped() -> None:
    failed, skipped = findings(Bare)
    assert failed == []
    assert "test_expert_solves" in skipped and "test_forks_are_independent" in skipped


def test_it_needs_no_pytest() -> None:
    code = "import inhabit.envs.contract, sys; sys.exit('pytest' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=PATIENCE).returncode == 0


def test_a_tool_may_refuse_a_call_without_its_arguments() -> None:
    class Asks(Correct):
        def tools(self):  # type: ignore[no-untyped-def]
            taken = {"type": "object", "properties": {"name": {}}, "required": ["name"]}
            return [{**tool, "parameters": taken} for tool in super().tools()]

        def call(self, name, arguments):  # type: ignore[no-untyped-def]
            if "name" not in arguments:
                raise ValueError("name: is missing")
            return super().call(name, arguments)

    class Contract(EnvContract):
        def make(self) -> Env:
            return Asks()

        def tasks(self) -> Sequence[Task]:
            return list(sample(3, seed=0))

    Contract().test_state_and_tools_are_plain()
