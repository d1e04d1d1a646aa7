"""Every command over every hostile folder: nothing runs, leaves, is written outside or hangs."""

from __future__ import annotations

import base64
import re
import shutil
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from inhabit.cli import main
from inhabit.episodes.recording.reader import RecordError, Run
from inhabit.episodes.reports.page.watch import Site
from tests.eie.made_set import write_set
from tests.episodes.toy_runs import play_toy, toy_tasks
from tests.security.hostile import Outside, link, outside, runs, sets

KEY = "sk-test-0123456789abcdef"
SECONDS = 30
ON_RUNS: Mapping[str, Sequence[str]] = {
    "show": ("show", "RUN"),
    "replay": ("replay", "RUN"),
    "judge": ("judge", "RUN"),
    "fork": ("fork", "RUN", "--episode", "0", "--step", "0", "--hint", "Look."),
    "export": ("export", "RUN", "--format", "llava", "--out", "OUT"),
}
MORE_ON_RUNS: Mapping[str, Sequence[str]] = {
    "show --gif": ("show", "RUN", "--gif", "--episode", "0"),
    "show --video": ("show", "RUN", "--video", "--episode", "0"),
    "show --figure": ("show", "RUN", "--figure"),
    "show --together": ("show", "RUN", "--together", "OUT.gif", "--episode", "0"),
    "show of a gallery": ("show", "PARENT"),
    "credit": ("credit", "RUN"),
    "judge --csv": ("judge", "RUN", "--csv"),
    "judge --judge": ("judge", "RUN", "--judge", "scripted:first"),
    "fork --action": ("fork", "RUN", "--episode", "0", "--step", "0", "--action", "go to the hall"),
    "replan": ("replan", "RUN"),
    "replan --model": ("replan", "RUN", "--agent", "rank", "--model", "scripted:first"),
    "compare": ("compare", "RUN", "RUN"),
    "messages": ("export", "RUN", "--format", "messages", "--out", "OUT"),
    "egoplan": ("export", "RUN", "--format", "egoplan", "--out", "OUT"),
    "lerobot": ("export", "RUN", "--format", "lerobot", "--out", "OUT"),
    "trajectories": ("export", "RUN", "--format", "trajectories", "--out", "OUT"),
    "atif": ("export", "RUN", "--format", "atif", "--out", "OUT"),
    "nemo": ("export", "RUN", "--format", "nemo", "--out", "OUT"),
    "hub": ("export", "RUN", "--format", "hub", "--out", "OUT"),
    "tasks": ("run", "toy", "--tasks", "RUN/tasks.jsonl", "--agent", "expert", "--out", "OUT"),
    "run": ("run", "toy", "--n", "1", "--agent", "random", "--out", "RUN"),
}
ON_SETS: Mapping[str, Sequence[str]] = {
    "show": ("show", "RUN"),
    "llava": ("export", "RUN", "--format", "llava", "--out", "OUT"),
    "videos": ("export", "RUN", "--format", "egoplan", "--videos", "--out", "OUT"),
}
MORE_ON_SETS: Mapping[str, Sequence[str]] = {
    "messages": ("export", "RUN", "--format", "messages", "--out", "OUT"),
    "egoplan": ("export", "RUN", "--format", "egoplan", "--out", "OUT"),
    "pca": ("export", "RUN", "--format", "pca", "--out", "OUT"),
    "synth": ("synth", "toy", "--n", "2", "--out", "RUN", "--set", "in_process=true"),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sound") / "run"
    options = {"agent": "expert", "assignments": ["in_process=true"]}
    return play_toy(folder, tasks=toy_tasks(1), **options).folder  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_set(tmp_path_factory.mktemp("sound") / "set", 1)


@pytest.fixture
def out(tmp_path: Path, run: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Outside]:
    monkeypatch.setenv("INHABIT_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    # Whoever asks a hub or OpenAI after all is led here, where it is counted.
    frame = (run / "episodes/00000/frames/0000.jpg").read_bytes()
    with outside(tmp_path / "home", frame) as here:
        for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{here.port}")
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{here.port}")
        yield here


def hung(number: int, frame: object) -> None:
    raise TimeoutError(f"A command took longer than {SECONDS} s.")


def try_all(
    commands: Mapping[str, Sequence[str]],
    sound: Path,
    spoil: object,
    here: Outside,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Run each command over a fresh copy of the folder."""
    parent = here.root.parent / "folders"
    signal.signal(signal.SIGALRM, hung)
    for name, words in commands.items():
        shutil.rmtree(parent, ignore_errors=True)
        shutil.rmtree(here.root / "moved", ignore_errors=True)
        (here.root / "moved").unlink(missing_ok=True)
        folder, result = parent / "theirs", here.root.parent / "out"
        for old in (result, result.with_suffix(".gif")):
            shutil.rmtree(old) if old.is_dir() else old.unlink(missing_ok=True)
        shutil.copytree(sound, folder)
        spoil(folder, here)  # type: ignore[operator]
        before = here.state()
        places = {"RUN": str(folder), "OUT": str(result), "PARENT": str(parent)}
        places |= {"OUT.gif": f"{result}.gif", "RUN/tasks.jsonl": f"{folder}/tasks.jsonl"}
        signal.alarm(SECONDS)
        try:
            with pytest.raises(SystemExit) as left:
                main([places.get(word, word) for word in words])
        finally:
            signal.alarm(0)
        said = capfd.readouterr()
        about = f"{name}: {said.err[-2000:]}"
        assert left.value.code in (0, 1, 2, 3, None), about
        assert "Traceback" not in said.out + said.err, about
        assert not re.search(r"raised \w+Error", said.err), about
        assert not set("\x1b\x07\x9b\u202e") & set(said.out + said.err), about
        assert "\n=HYPERLINK" not in said.out and ",=HYPERLINK" not in said.out, about
        assert not here.marker.exists(), f"{name}: a program was run"
        assert not here.connections, f"{name}: somebody was spoken to"
        assert here.state() == before, f"{name}: something was written outside"
        assert KEY not in said.out + said.err, name
        for file in (p for root in (parent, result) for p in root.rglob("*")):
            if file.is_file() and not file.is_symlink() and file.stat().st_size < 1 << 24:
                assert KEY.encode() not in file.read_bytes(), f"{name}: a key in {file}"
        leaked = here.leaked(parent, result, result.with_suffix(".gif"))
        assert not leaked, f"{name}: a link was followed into {leaked}"


FRAME = b"\xff\xd8\xff\xc0\x00\x11\x08" + bytes(20)
AGAIN = re.compile(
    r"(?:link|moved|pipe|endless) (?!run\.json$|episodes/00000/frames|set\.json$|images)|late times"
)
"""Names of folders that differ from others in which file or number is spoilt."""


def kinds(names: Iterable[str]) -> list[object]:
    """Names, of which those that spoil another file or number in the same way are slow."""
    return [pytest.param(n, marks=pytest.mark.slow if AGAIN.match(n) else ()) for n in names]


@pytest.mark.parametrize("name", kinds(runs(FRAME)))
def test_a_run_from_anybody(
    run: Path,
    out: Outside,
    name: str,
    capfd: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    commands = {**ON_RUNS, **MORE_ON_RUNS}
    if not request.config.getoption("--all"):
        commands = in_turn(list(runs(FRAME)).index(name))
    try_all(commands, run, runs(out.frame)[name], out, capfd)


def in_turn(number: int) -> Mapping[str, Sequence[str]]:
    """Two commands of the first five, so that all have their share of the cases."""
    names = list(ON_RUNS)
    return {n: ON_RUNS[n] for n in (names[number % 5], names[(number + 1 + number // 5) % 5])}


def test_a_followed_link_is_found(run: Path, out: Outside, tmp_path: Path) -> None:
    link("episodes/00000/frames/0000.jpg")(run, out)
    assert not out.leaked(run)
    shutil.copytree(run, tmp_path / "copy")
    page = tmp_path / "page.html"
    page.write_text(f"<img src='data:,{base64.b64encode(out.secret.read_bytes()).decode()}'>")
    frame = tmp_path / "copy" / "episodes" / "00000" / "frames" / "0000.jpg"
    assert out.leaked(tmp_path / "copy", page) == [frame, page]


@pytest.mark.parametrize("name", kinds(sets(FRAME, "images/0.png")))
def test_a_set_from_anybody(
    made: Path,
    out: Outside,
    name: str,
    capfd: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    commands = {**ON_SETS, **(MORE_ON_SETS if request.config.getoption("--all") else {})}
    shown = f"images/{min(path.name for path in (made / 'images').iterdir())}"
    spoil = sets(out.frame, shown)[name.replace("images/0.png", shown)]
    try_all(commands, made, spoil, out, capfd)


@pytest.mark.parametrize("name", kinds(runs(FRAME)))
def test_what_is_served_of_a_run_from_anybody(run: Path, out: Outside, name: str) -> None:
    folder = out.root.parent / "theirs"
    shutil.copytree(run, folder)
    runs(out.frame)[name](folder, out)
    before = out.state()
    signal.signal(signal.SIGALRM, hung)
    signal.alarm(SECONDS)
    try:
        site = Site(Run.open(folder))
        for path in ("/", "/episodes/00000/index.html", "/episodes/00000/frames/0000.jpg"):
            site.answer(path)
    except RecordError:
        pass
    finally:
        signal.alarm(0)
    assert out.state() == before and not out.connections
