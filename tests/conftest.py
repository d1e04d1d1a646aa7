"""Slow tests run only where `--all` is given; `scripts/test --all` gives it."""

from __future__ import annotations

import gc
import signal
from collections import Counter
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import settings


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run the slow tests too")


def pytest_configure(config: pytest.Config) -> None:
    # These machines are noisy: how long one example takes says nothing.
    examples = 100 if config.getoption("--all") else 25
    settings.register_profile("inhabit", deadline=None, derandomize=True, max_examples=examples)
    settings.load_profile("inhabit")
    # A shell has the programs that it starts in the background ignore interrupts, and so do the
    # runs that tests start and interrupt.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None]:
    """Nothing that is imported or collected becomes garbage: don't look for it again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


SLOW = pytest.StashKey[int]()
"""How many tests are left out as slow."""
LONG = ("golden", "security", "worker", "docs", "tests", "episodes", "household", "planners")
"""Folders of the files that take longest."""


def _turn(item: pytest.Item) -> int:
    """They begin first: the tests of a file stay together, and the last file holds up the end."""
    folder = item.path.parent.name
    return LONG.index(folder) if folder in LONG else len(LONG)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=_turn)
    if config.getoption("--all"):
        return
    # Deselected, since to skip 2,000 of them takes seconds.
    slow = [item for item in items if "slow" in item.keywords]
    items[:] = [item for item in items if "slow" not in item.keywords]
    config.stash[SLOW] = len(slow)
    config.hook.pytest_deselected(items=slow)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell pytest-xdist's first process how many slow tests its workers left out."""
    told = getattr(session.config, "workeroutput", None)
    if told is not None:
        told["slow"] = session.config.stash.get(SLOW, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Each worker left out the same ones."""
    told = getattr(node, "workeroutput", {}).get("slow", 0)
    node.config.stash[SLOW] = max(told, node.config.stash.get(SLOW, 0))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line how many tests were left out, and why."""
    skipped = terminalreporter.getreports("skipped")
    reasons = Counter(one.longrepr[2].removeprefix("Skipped: ") for one in skipped)
    if slow := terminalreporter.config.stash.get(SLOW, 0):
        reasons["slow: runs under scripts/test --all"] = slow
    if reasons:
        told = "; ".join(f"{count}, {why}" for why, count in reasons.most_common())
        terminalreporter.write_line(f"Left out: {told}.")
