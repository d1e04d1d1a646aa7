"""Sends signals to commands at random moments, and looks at what is left.

By hand, for all commands: `python tests/episodes/signal_rounds.py [ROUNDS] [COMMAND...]`.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from signal import SIG_DFL, SIGHUP, SIGINT, SIGTERM, signal

from inhabit.episodes.recording.reader import Run

INHABIT = [sys.executable, "-c", "from inhabit.cli import main; main()"]
SIGNALS = (SIGINT, SIGTERM, SIGHUP)
AT_ONCE = 3.0
"""Seconds that a command may take after the second signal."""
LONGEST = 12.0
"""Seconds in which the first signal comes: commands take that long."""
_MARK = "INHABIT_SIGNAL_ROUND"
_AT_PYTHONS_START = "init_import_site: Failed to import the site module"

RUN = ["run", "toy", "--agent", "random", "--n", "300", "--workers", "2", "--set", "delay=0.02"]


@dataclass(frozen=True)
class Command:
    """What is interrupted, and whether what it has recorded can be read."""

    words: Callable[[Path], Sequence[str]]
    readable: Callable[[Path], None]


def run_readable(folder: Path) -> None:
    if (folder / "run.json").exists():
        for episode in Run.open(folder).episodes():
            for attempt in episode.attempts():
                assert attempt.start.task == episode.task


def _set_readable(folder: Path) -> None:
    from inhabit.eie.sets.folder import SetFolder

    if (folder / "set.json").exists():
        found = SetFolder.open(folder)
        assert len(list(found.examples())) == sum(len(a.kept) for a in found.attempts())


def _recorded(folder: Path) -> Path:
    """A run to watch."""
    if not (folder / "run.json").exists():
        words = ["run", "toy", "--agent", "random", "--n", "2", "--out", str(folder)]
        subprocess.run([*INHABIT, *words], check=True, capture_output=True)
    return folder


def _tuned(out: Path) -> Sequence[str]:
    made, base = out.parent / "set", out.parent / "base"
    if not made.exists():
        here = Path(__file__).parents[1]
        sys.path += [str(here / "eie" / "tuning"), str(here / "agents" / "models" / "local")]
        from made_set import write
        from tiny import save_llama

        base.mkdir()
        save_llama(base)
        write(made)
    words = ["tune", str(made), "--base", f"local:{base}", "--out", str(out)]
    for setting in ("objective=sft", "epochs=500", "save_every=2"):
        words += ["--set", setting]
    return [*INHABIT, *words]


_SWEEP = """
import sys, inhabit
for seed in range(99):
    inhabit.run("toy", "random", f"{sys.argv[1]}/{seed}", n=20, seed=seed, settings={"delay": 0.02})
"""


def _runs_readable(folder: Path) -> None:
    for run in folder.glob("*"):
        run_readable(run)


def _nothing(folder: Path) -> None:
    """It records nothing."""


COMMANDS = {
    "run": Command(lambda out: [*INHABIT, *RUN, "--out", str(out)], run_readable),
    "synth": Command(
        lambda out: [*INHABIT, "synth", "toy", "--n", "900", "--workers", "2", "--out", str(out)],
        _set_readable,
    ),
    "tune": Command(_tuned, _nothing),
    "serve": Command(lambda out: [*INHABIT, "serve", "toy", "--port", "0"], _nothing),
    "watch": Command(lambda out: [*INHABIT, "watch", str(_recorded(out))], run_readable),
    "mcp": Command(lambda out: [*INHABIT, "mcp", "toy", "--isolate"], _nothing),
    "judge": Command(lambda out: [*INHABIT, "judge", str(_recorded(out))], run_readable),
    "sweep": Command(lambda out: [sys.executable, "-c", _SWEEP, str(out)], _runs_readable),
}


@dataclass(frozen=True)
class Round:
    """What came of one."""

    code: int
    signals: int
    seconds: float
    """From the last signal to the end."""


def one_round(
    command: Command,
    out: Path,
    lot: random.Random,
    longest: float = LONGEST,
    at_once: float = AT_ONCE,
) -> Round:
    """Start it, send one signal or two, and see that it ends, with all that it started.

    A single signal is followed by a second one after two seconds at most.

    Raises:
        AssertionError: it did not end in time, something is left, or a record can't be read.
    """
    mark, printed = uuid.uuid4().hex, out.with_name("errors.txt")
    process = subprocess.Popen(
        command.words(out),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=printed.open("w"),
        env={**os.environ, _MARK: mark},
        preexec_fn=lambda: [signal(number, SIG_DFL) for number in SIGNALS],
    )
    sent = 0
    try:
        for seconds in (lot.uniform(0, longest), lot.choice([0.0, 0.05, 0.5, 2.0])):
            try:
                process.wait(seconds)
                break
            except subprocess.TimeoutExpired:
                process.send_signal(lot.choice(SIGNALS))
                sent += 1
                last = time.monotonic()
        code = process.wait(at_once)
        took = time.monotonic() - last if sent else 0.0
        until = time.monotonic() + at_once
        while left := _marked(mark):
            assert time.monotonic() < until, f"Left: {left}"
            time.sleep(0.05)
    finally:
        process.kill()
        process.wait()
        assert process.stdin is not None
        process.stdin.close()
    errors = printed.read_text(errors="replace")
    # A folder that could not be taken up again would be refused with 1 or 2. Python itself ends
    # with 1 where SIGINT comes while it starts, before anything of the command.
    ended = code in (0, 130) or code < 0 or _AT_PYTHONS_START in errors
    assert ended, f"Exit code {code}: {errors}"
    command.readable(out)
    return Round(code, sent, took)


def _marked(mark: str) -> Sequence[str]:
    """The processes with this mark in their environment, as their command lines."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"{_MARK}={mark}".encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    for name in sys.argv[2:] or COMMANDS:
        lot, good, slowest = random.Random(name), 0, 0.0
        with tempfile.TemporaryDirectory() as folder:
            for index in range(number):
                try:
                    done = one_round(COMMANDS[name], Path(folder) / "out", lot)
                except (AssertionError, subprocess.TimeoutExpired) as error:
                    _say(f"{name}, round {index}: {error}")
                    continue
                good += 1
                if done.signals == 2:
                    slowest = max(slowest, done.seconds)
        _say(f"{name}: {good} of {number}, the slowest {slowest:.2f} s after the second signal")


if __name__ == "__main__":
    main()
