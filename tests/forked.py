"""Test files shared among processes that are forked when everything is imported and collected.

Each process of pytest-xdist imports and collects everything itself, 15 seconds of a core.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Sequence
from itertools import groupby
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any
from warnings import WarningMessage

import pytest

_BYTES = 4
"""Of the number of a file. All numbers lie in a pipe, and each process takes the next one."""


def share(session: pytest.Session, processes: int) -> None:
    """Run what is collected; the tests of a file stay together, in their order."""
    files = [list(items) for _, items in groupby(session.items, lambda item: item.path)]
    turns, filling = os.pipe()
    os.write(filling, b"".join(number.to_bytes(_BYTES) for number in range(len(files))))
    os.close(filling)
    running: dict[Connection, int] = {}
    for _ in range(processes):
        here, there = Pipe(duplex=False)
        if not (pid := os.fork()):
            _run(session, files, turns, there)
        there.close()
        running[here] = pid
    began: dict[Connection, dict[str, Any]] = {}
    while running:
        for process in wait(list(running)):
            assert isinstance(process, Connection)
            try:
                hook, what = process.recv()
            except EOFError:
                _, status = os.waitpid(running.pop(process), 0)
                if status:
                    _report_death(session.config, status, **began[process])
                continue
            if hook == "pytest_runtest_logstart":
                began[process] = what
            elif hook == "pytest_runtest_logreport":
                what["report"] = session.config.hook.pytest_report_from_serializable(
                    config=session.config, data=what["report"]
                )
            if hook == "pytest_warning_recorded":
                session.config.hook.pytest_warning_recorded.call_historic(kwargs=what)
            else:
                getattr(session.config.hook, hook)(**what)
        if session.shouldfail or session.shouldstop:
            os.set_blocking(turns, False)
            while os.read(turns, 1 << 16):  # nothing is left to take
                pass
    os.close(turns)
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)


def _report_death(config: pytest.Config, status: int, nodeid: str, location: Any) -> None:
    """The test during which a process ended has failed; the others of its file did not run."""
    code = os.waitstatus_to_exitcode(status)
    report = pytest.TestReport(
        nodeid, location, {}, "failed", f"The process of this test ended with {code}.", "call"
    )
    config.hook.pytest_runtest_logreport(report=report)


class _Teller:
    """Tells the first process what its terminal shows."""

    def __init__(self, config: pytest.Config, out: Connection) -> None:
        self._config, self._out = config, out

    def pytest_runtest_logstart(self, nodeid: str, location: object) -> None:
        self._out.send(("pytest_runtest_logstart", {"nodeid": nodeid, "location": location}))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._out.send(("pytest_runtest_logreport", {"report": data}))

    def pytest_warning_recorded(
        self, warning_message: WarningMessage, when: str, nodeid: str, location: object
    ) -> None:
        # The class of a warning may be one that only this process has.
        text = f"{warning_message.category.__name__}: {warning_message.message}"
        told = WarningMessage(text, Warning, warning_message.filename, warning_message.lineno)
        what = {"warning_message": told, "when": when, "nodeid": nodeid, "location": location}
        self._out.send(("pytest_warning_recorded", what))

    def pytest_runtest_logfinish(self, nodeid: str, location: object) -> None:
        self._out.send(("pytest_runtest_logfinish", {"nodeid": nodeid, "location": location}))


def _run(
    session: pytest.Session, files: Sequence[Sequence[pytest.Item]], turns: int, out: Connection
) -> None:
    """Take one file after the other, and leave."""
    code = 1
    try:
        plugins = session.config.pluginmanager
        # What is captured by descriptor would go into files that all processes share.
        capture = plugins.getplugin("capturemanager")
        capture.stop_global_capturing()
        capture.start_global_capturing()
        plugins.unregister(name="terminalreporter")
        plugins.register(_Teller(session.config, out))
        while number := os.read(turns, _BYTES):
            items = files[int.from_bytes(number)]
            for item, following in zip(items, [*items[1:], None], strict=True):
                item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        code = 0
        atexit._run_exitfuncs()
    finally:
        os._exit(code)
