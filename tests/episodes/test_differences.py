"""Pages of two columns: of a comparison, a replay and a replan."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import CHROMIUM, Browser
from toy_runs import play_toy, toy_tasks

from inhabit.cli import main

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with tempfile.TemporaryDirectory() as profile, Browser(Path(profile)) as opened:
        yield opened


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for agent in ("expert", "random"):
        play_toy(folder / agent, tasks=toy_tasks(3), agent=agent)
    return folder


def command(*words: str | Path) -> int:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    return int(left.value.code or 0)


SHOWN = "[...document.querySelectorAll('.item')].filter(i => i.offsetHeight).length"
STEPS = "[...document.querySelectorAll('.diff tbody tr')].filter(r => r.offsetHeight).length"


@pytest.mark.slow
def test_a_comparison_shows_only_where_runs_differ(browser: Browser, runs: Path) -> None:
    page = runs / "compare.html"
    assert command("compare", runs / "expert", runs / "random", "--mixed", "--page", page) == 0
    for width in (1400, 800, 400):
        browser.look(width, 900)
        browser.open(page)
        assert browser.run("document.documentElement.scrollWidth") <= width
    differing = "[...document.querySelectorAll('.diff tbody tr[data-differs]')].length"
    assert browser.run(SHOWN) == 3
    browser.run("document.querySelector('.only input').click()")
    assert browser.run(SHOWN) == 3
    assert browser.run(STEPS) == browser.run(differing) > 0
    assert browser.run("document.querySelectorAll('.item figcaption a').length") == 0, (
        "There are no pages of the episodes yet."
    )
    assert command("show", runs) == 0
    assert command("compare", runs / "expert", runs / "random", "--mixed", "--page", page) == 0
    browser.open(page)
    link = browser.run("document.querySelector('.item a').href")
    browser.open(link)
    assert "Episode 0" in browser.run("document.body.textContent")


def test_equal_runs_differ_nowhere(browser: Browser, runs: Path, tmp_path: Path) -> None:
    play_toy(tmp_path / "again", tasks=toy_tasks(3), agent="expert")
    page = tmp_path / "compare.html"
    assert command("compare", runs / "expert", tmp_path / "again", "--page", page) == 0
    browser.open(page)
    assert browser.run(SHOWN) == 3 and browser.run(STEPS) > 0
    browser.run("document.querySelector('.only input').click()")
    assert browser.run(SHOWN) == 0


def test_a_run_that_is_as_recorded_differs_nowhere(browser: Browser, runs: Path) -> None:
    page = runs / "replay.html"
    assert command("replay", runs / "expert", "--page", page) == 0
    browser.open(page)
    assert browser.run(SHOWN) == 3
    browser.run("document.querySelector('.only input').click()")
    assert browser.run(SHOWN) == 0


def test_a_changed_record_shows_what_differs(browser: Browser, runs: Path, tmp_path: Path) -> None:
    play_toy(tmp_path / "bent", tasks=toy_tasks(2), agent="expert")
    file = tmp_path / "bent/episodes/00001/episode.jsonl"
    text = file.read_text()
    feedback = text.split('"feedback":"', 1)[1].split('"', 1)[0]
    file.write_text(text.replace(feedback, "<b>Another</b> feedback.", 1))
    page = tmp_path / "replay.html"
    assert command("replay", tmp_path / "bent", "--page", page) == 1
    browser.open(page)
    browser.run("document.querySelector('.only input').click()")
    assert browser.run(SHOWN) == 1
    shown = browser.run("document.querySelector('.item[data-differs]').textContent")
    assert "<b>Another</b> feedback." in shown and feedback in shown


def test_a_replan_shows_both_decisions(browser: Browser, runs: Path) -> None:
    page = runs / "replan.html"
    words = ("replan", runs / "expert", "--agent", "random", "--page", page)
    assert command(*words) == 0
    browser.open(page)
    steps = browser.run(STEPS)
    browser.run("document.querySelector('.only input').click()")
    assert 0 < browser.run(STEPS) <= steps
    assert "steps agree" in browser.run("document.body.textContent")
