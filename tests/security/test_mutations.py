"""Every type of line of a run and of a set, changed at random: read, or refused in a sentence.

A few hundred changes a type in the quick suite, 2,500 under `scripts/test --all`.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from sampling import every

from inhabit.eie.sets.card import card
from inhabit.eie.sets.coverage import cover
from inhabit.eie.sets.folder import SetError, SetFolder
from inhabit.eie.sets.page.writing import rows
from inhabit.episodes.judging.schema import whole
from inhabit.episodes.judging.summary import summarize
from inhabit.episodes.playing.fork import read_pairs
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import RecordError, Run
from inhabit.episodes.reports.page.pages import episode_page, run_page
from inhabit.episodes.reports.page.summary import row
from inhabit.episodes.scoring.scores import score
from tests.eie.made_set import write_set
from tests.episodes.made_run import Made, write_run

QUICK, SLOW = 25, 2500
STRANGE: Sequence[Any] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**70), 1e308, -1e308, 710.0, 0.5),
    *(float("nan"), float("inf"), -float("inf"), "", " ", "x", "\x1b[2J", "\ud800", "../../etc"),
    *("=1+1", "<script>", "{{ 7*7 }}", "%s%n", "\x00", "NaN", "Infinity", "x" * 10_000),
    *([], [[]], {}, {"": {}}, [None], ["x"] * 50, {"__class__": "x"}, [[[[[[[[[[]]]]]]]]]]),
)


def mutated(line: bytes, choose: random.Random) -> bytes:
    """One change: of a value, a key or a byte."""
    if choose.random() < 0.25:
        return _of_bytes(line, choose)
    plain = json.loads(line)
    for _ in range(choose.choice((1, 1, 1, 2, 5))):
        _of_values(plain, choose)
    return json.dumps(plain, ensure_ascii=choose.random() < 0.8).encode("utf-8", "surrogatepass")


def _of_bytes(line: bytes, choose: random.Random) -> bytes:
    content = bytearray(line)
    for _ in range(choose.choice((1, 1, 2, 8))):
        at = choose.randrange(len(content))
        match choose.randrange(3):
            case 0:
                content[at] ^= 1 << choose.randrange(8)
            case 1:
                del content[at : at + choose.randrange(1, 9)]
            case _:
                content[at:at] = bytes(choose.randrange(256) for _ in range(choose.randrange(1, 5)))
        content = content or bytearray(b"?")
    return bytes(content).replace(b"\n", b" ")


def _of_values(plain: Any, choose: random.Random) -> None:
    places = list(_places(plain))
    if not places:
        return
    holder, key = choose.choice(places)
    match choose.randrange(6):
        case 0 if isinstance(holder, dict):
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[choose.choice(("x", "kind", key + "_", "\x1b"))] = holder.pop(key)
        case 2 if isinstance(holder, list):
            holder.extend([holder[key]] * choose.choice((1, 3, 40)))
        case 3:
            other, place = choose.choice(places)
            holder[key] = deepcopy(other[place])
        case _:
            holder[key] = deepcopy(choose.choice(STRANGE))


def _places(plain: Any) -> Iterator[tuple[Any, Any]]:
    keys = plain.keys() if isinstance(plain, dict) else range(len(plain))
    for key in keys:
        yield plain, key
        if isinstance(plain[key], dict | list):
            yield from _places(plain[key])


def read_run(folder: Path) -> None:
    """Read all of a run, and make everything of it that stays in memory."""
    run = Run.open(folder)
    index = Index(run)
    entries = [index.entry(episode) for episode in run.episodes()]
    rows = [row(e, entry, small=False) for e, entry in zip(run.episodes(), entries, strict=True)]
    run_page(run, score(run, index), rows)
    for episode in run.episodes():
        if (attempt := episode.last()) is not None:
            episode_page(run, episode, attempt)
    read_pairs(run)


def read_judgements(folder: Path) -> None:
    steps, episodes = whole(folder / "judgements" / "0001.jsonl")
    summarize("run", "oracle", steps, episodes)


def read_set(folder: Path) -> None:
    """Read all of a set, and make its card and the rows of its page."""
    opened = SetFolder.open(folder)
    list(opened.attempts())
    list(rows(opened.examples()))
    card(opened, cover(opened), None)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from inhabit.cli import main

    folder = write_run(tmp_path_factory.mktemp("made") / "run", Made(episodes=1))
    from tests.episodes.toy_runs import play_toy, toy_tasks

    options: dict[str, Any] = {"agent": "expert", "assignments": ["in_process=true"]}
    played = play_toy(folder.parent / "toy", tasks=toy_tasks(1), **options).folder
    for words in (
        ["judge", str(played)],
        ["fork", str(played), "--episode", "0", "--step", "1", "--hint", "Look."],
    ):
        with pytest.raises(SystemExit):
            main(words)
    for name in ("judgements", "forks.jsonl"):
        assert (played / name).exists()
    shutil.copytree(played / "judgements", folder / "judgements")
    shutil.copy(played / "forks.jsonl", folder / "forks.jsonl")
    read_run(folder)
    read_judgements(folder)
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_set(tmp_path_factory.mktemp("made") / "set", 1)
    read_set(folder)
    return folder


_RECORD = "episodes/00000/episode.jsonl"
OF_RUNS: Sequence[tuple[str, str | None, Callable[[Path], None]]] = [
    ("run.json", None, read_run),
    ("tasks.jsonl", None, read_run),
    *((_RECORD, kind, read_run) for kind in ("start", "see", "decide", "act", "end")),
    ("index.jsonl", None, read_run),
    ("forks.jsonl", None, read_run),
    *(("judgements/0001.jsonl", kind, read_judgements) for kind in ("judge", "step", "episode")),
]
OF_SETS = [("set.json", None), ("attempts.jsonl", None), ("examples.jsonl", None)]


def change_often(
    file: Path, kind: str | None, folder: Path, read: Callable[[Path], None], times: int
) -> tuple[int, int]:
    """Change one line again and again; returns how often it was read and how often refused."""
    if not file.exists():
        file.write_text('{"number":0,"size":1,"end":{}}\n')
    sound = file.read_bytes()
    whole = json.dumps(json.loads(sound)).encode() if file.suffix == ".json" else sound
    lines = whole.split(b"\n")
    kinds = [json.loads(line).get("kind") if line else None for line in lines]
    at = [i for i, line in enumerate(lines) if line and kind in (None, kinds[i])]
    choose = random.Random(f"{file.name} {kind}")
    taken = refused = 0
    try:
        for _ in range(times):
            number = choose.choice(at)
            changed = mutated(lines[number], choose)
            file.write_bytes(b"\n".join([*lines[:number], changed, *lines[number + 1 :]]))
            try:
                read(folder)
                taken += 1
            except (RecordError, SetError) as error:
                assert str(error)
                refused += 1
    finally:
        file.write_bytes(sound)
    return taken, refused


def times(request: pytest.FixtureRequest) -> int:
    return SLOW if request.config.getoption("--all") else QUICK


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("name", "kind", "read"), every(2, OF_RUNS))
def test_a_line_of_a_run(
    run: Path,
    name: str,
    kind: str | None,
    read: Callable[[Path], None],
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
) -> None:
    taken, refused = change_often(run / name, kind, run, read, times(request))
    assert taken + refused == times(request) and refused + (name == "index.jsonl")
    with capsys.disabled():
        print(f"\n{name} {kind or ''}: {taken} read, {refused} refused")  # noqa: T201


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("name", "kind"), OF_SETS)
def test_a_line_of_a_set(
    made: Path,
    name: str,
    kind: str | None,
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
) -> None:
    taken, refused = change_often(made / name, kind, made, read_set, times(request))
    assert taken + refused == times(request) and refused
    with capsys.disabled():
        print(f"\n{name}: {taken} read, {refused} refused")  # noqa: T201
