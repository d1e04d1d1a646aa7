"""Pages in a real browser, from the disk, as people open them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from browser import CHROMIUM, Browser
from made_run import HOSTILE, Made, write_run
from sampling import every
from toy_runs import play_toy, toy_tasks

from inhabit.cli import main
from inhabit.episodes.judging.schema import files, whole
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.reports.page.pages import run_page
from inhabit.episodes.reports.page.summary import row
from inhabit.episodes.reports.page.writing import Videos, write_gallery
from inhabit.episodes.reports.page.writing import write_run as write_pages
from inhabit.episodes.scoring.scores import score

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with tempfile.TemporaryDirectory() as profile, Browser(Path(profile)) as opened:
        yield opened


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real run, a run of hostile texts, and a page of both."""
    folder = tmp_path_factory.mktemp("runs")
    play_toy(folder / "real", tasks=toy_tasks(2), agent="expert")
    write_run(
        folder / "hostile",
        Made(goal=HOSTILE, action=HOSTILE, feedback=HOSTILE, reply=HOSTILE, text=HOSTILE),
    )
    shown = [
        write_pages(Run.open(folder / name), Videos(mp4=name == "real"), lambda _: None)
        for name in ("real", "hostile")
    ]
    write_gallery(folder, shown)
    return folder


PAGES = ["index.html", "hostile/index.html", "hostile/episodes/00001/index.html"]


@pytest.mark.parametrize("page", PAGES)
def test_hostile_texts_are_shown_and_never_run(browser: Browser, runs: Path, page: str) -> None:
    browser.open(runs / page)
    browser.run("new Promise(resolve => setTimeout(resolve, 100))")
    assert browser.run("document.title") != "owned"
    assert "onerror=" in browser.run("document.body.textContent")
    assert browser.run("document.querySelectorAll('script:not([type])').length") == 1
    assert browser.run("document.querySelectorAll('[onerror]').length") == 0


def test_even_markup_that_got_in_would_not_run(browser: Browser, runs: Path) -> None:
    browser.open(runs / "index.html")
    browser.run("document.body.insertAdjacentHTML('beforeend', " + repr(HOSTILE) + ")")
    browser.run("document.body.append(Object.assign(document.createElement('script'), "
                "{textContent: \"document.title='owned'\"}))")  # fmt: skip
    browser.run("new Promise(resolve => setTimeout(resolve, 100))")
    assert browser.run("document.title") != "owned"


@pytest.mark.parametrize("page", [*PAGES, "real/index.html", "real/episodes/00000/index.html"])
@pytest.mark.parametrize("width", [1280, 400])
def test_pages_fit_and_complain_of_nothing(
    browser: Browser, runs: Path, page: str, width: int
) -> None:
    browser.look(width, 860)
    browser.open(runs / page)
    assert browser.run("document.documentElement.scrollWidth") <= width
    fetched = [
        event["params"]["request"]["url"].split(":")[0]
        for event in browser.events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert set(fetched) <= {"file", "data", "about"}
    entries = [
        e["params"]["entry"]["text"] for e in browser.events if e["method"] == "Log.entryAdded"
    ]
    assert entries == []
    broken = "[...document.images].filter(i => i.complete && !i.naturalWidth).length"
    assert browser.run(broken) == 0


@pytest.mark.parametrize("width", [1280, 800, 400])
def test_words_and_figures_of_a_run_are_whole(browser: Browser, tmp_path: Path, width: int) -> None:
    run = write_run(tmp_path / "run", Made(goal="Cool it."))
    for file in run.glob("episodes/*/episode.jsonl"):
        file.write_text(file.read_text().replace('"step_limit"', '"model_fault"'))
    write_gallery(tmp_path, [write_pages(Run.open(run), Videos(), lambda _: None)])
    browser.look(width, 860)
    for page in (run / "index.html", tmp_path / "index.html"):
        browser.open(page)
        assert "ended by a fault" in browser.run("document.body.textContent")
        broken = r"""[...document.querySelectorAll('.rates th, .episodes td span, .facts dt')]
          .filter(e => e.offsetHeight && e.firstChild.nodeType === Node.TEXT_NODE).flatMap(e => {
            const range = document.createRange(), found = [];
            for (const word of e.firstChild.data.matchAll(/\S+/g)) {
              range.setStart(e.firstChild, word.index);
              range.setEnd(e.firstChild, word.index + word[0].length);
              const lines = new Set([...range.getClientRects()].map(r => r.top));
              if (lines.size > 1) found.push(word[0]);
            }
            return found;
          })"""
        assert browser.run(broken) == []


def test_keys_go_from_step_to_step(browser: Browser, runs: Path) -> None:
    shown = (
        "[...document.querySelectorAll('.step')].filter(s => s.offsetHeight).map(s => s.id).join()"
    )
    browser.open(runs / "real/episodes/00000/index.html")
    count = browser.run("document.querySelectorAll('.step').length")
    assert browser.run(shown) == "step-0"
    for key, expected in [
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("ArrowLeft", 1),
        ("End", count - 1),
        ("ArrowRight", count - 1),
        ("Home", 0),
        ("ArrowLeft", 0),
    ]:
        browser.press(key)
        assert browser.run(shown) == f"step-{expected}"
    browser.run("document.querySelectorAll('.strip button')[2].click()")
    assert browser.run(shown) == "step-2"
    assert browser.run("location.hash") == "#step-2"
    assert browser.run("scrollY") == 0
    browser.open(runs / "real/episodes/00000/index.html", fragment="#step-1")
    assert browser.run(shown) == "step-1"


def test_messages_show_the_pictures_that_were_sent(browser: Browser, tmp_path: Path) -> None:
    run = Run.open(write_run(tmp_path / "run", Made(episodes=1)))
    write_pages(run, Videos(), lambda _: None)
    browser.open(run.episode(0).folder / "index.html")
    browser.press("ArrowRight")
    sent = "document.querySelector('#step-1 .picture img').src"
    assert browser.run(sent) == browser.run("document.querySelector('#step-1 figure img').src")


def test_the_list_is_sorted_and_filtered(browser: Browser, tmp_path: Path) -> None:
    run = Run.open(write_run(tmp_path / "run", Made(episodes=12, steps=2)))
    write_pages(run, Videos(), lambda _: None)
    browser.open(run.folder / "index.html")
    rows = "[...document.querySelectorAll('.episodes tbody tr')].filter(r => !r.hidden)"
    numbers = f"{rows}.map(r => r.cells[1].textContent).join()"
    click = "document.querySelector('th[data-key=%s] button').click()"
    assert browser.run(numbers) == "0,1,2,3,4,5,6,7,8,9,10,11"
    browser.run(click % "number")
    browser.run(click % "number")
    assert browser.run(numbers) == "11,10,9,8,7,6,5,4,3,2,1,0"
    browser.run(click % "met")
    assert browser.run(numbers).split(",")[:6] == ["11", "9", "7", "5", "3", "1"]
    change = "form = document.querySelector('.filter'); %s; form.dispatchEvent(new Event('input'))"
    browser.run(change % "form.ending.value = 'success'")
    assert browser.run(numbers) == "10,8,6,4,2,0"
    browser.run(change % "form.find.value = 'MADE-1'")
    assert browser.run(numbers) == "10"
    assert browser.run("form.querySelector('output').textContent") == "1 of 12"


@pytest.mark.slow
def test_a_long_list_is_laid_out_piece_by_piece(browser: Browser, tmp_path: Path) -> None:
    run = Run.open(write_run(tmp_path / "run", Made(episodes=1)))
    one = row(run.episode(0), Index(run).entry(run.episode(0)))
    many = [replace(one, number=number) for number in range(900)]
    (tmp_path / "long.html").write_text(run_page(run, score(run), many), encoding="utf-8")
    browser.open(tmp_path / "long.html")
    shown = "[...document.querySelectorAll('.episodes tbody tr')].filter(r => r.offsetHeight)"
    assert browser.run(f"{shown}.length") == 200
    browser.run("document.querySelector('.more button').click()")
    assert browser.run(f"{shown}.length") == 700
    for _ in range(2):
        browser.run("document.querySelector('th[data-key=number] button').click()")
    assert browser.run(f"{shown}[0].cells[1].textContent") == "899"
    browser.run("document.querySelector('.more button').click()")
    assert browser.run(f"{shown}.length") == 900
    assert not browser.run("document.querySelector('.more').offsetHeight")


def test_films_play_from_the_disk(browser: Browser, runs: Path) -> None:
    browser.open(runs / "real/episodes/00000/index.html")
    ready = """new Promise((resolve, reject) => {
        const film = document.querySelector("video");
        film.onerror = () => reject(film.error.message);
        if (film.readyState) resolve(film.videoWidth);
        else film.onloadedmetadata = () => resolve(film.videoWidth);
    })"""
    assert browser.run(ready) == 1152


@pytest.mark.parametrize("dark", every(2, [True, False]))
def test_texts_stand_out_from_their_ground(browser: Browser, runs: Path, dark: bool) -> None:
    browser.look(1280, 860, dark=dark)
    for page in ("index.html", "real/index.html", "hostile/episodes/00001/index.html"):
        browser.open(runs / page)
        ratios = browser.run(CONTRAST)
        assert min(ratios.values()) >= 4.5, {k: v for k, v in ratios.items() if v < 4.5}


CONTRAST = """(() => {
  const parse = (c) => c.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
  };
  const found = {};
  for (const e of document.body.querySelectorAll("*")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (!own || !e.offsetHeight || e.closest("svg, script")) continue;
    const colours = [parse(getComputedStyle(e).color), ground(e)];
    const [a, b] = colours.map(light).sort((x, y) => y - x);
    found[e.tagName + "." + e.className] = (a + 0.05) / (b + 0.05);
  }
  return found;
})()"""
"""Of every element with text of its own: the contrast of WCAG 2.2 (1.4.3)."""


def test_a_judged_run_leads_to_its_first_wrong_step(browser: Browser, tmp_path: Path) -> None:
    play_toy(tmp_path / "run", tasks=toy_tasks(2), agent="random")
    with pytest.raises(SystemExit) as left:
        main(["judge", str(tmp_path / "run")])
    assert left.value.code == 0
    run = Run.open(tmp_path / "run")
    write_pages(run, Videos(), lambda _: None)
    judged = whole(files(run)[-1])
    mistake = judged[1][0].mistake
    assert mistake is not None
    browser.open(run.folder / "index.html")
    told = browser.run("document.body.textContent")
    assert "Judged by oracle" in told and f"began with {mistake.began_with}" in told
    link = (
        f"document.querySelector('.note a[href=\"episodes/00000/index.html#step-{mistake.step}\"]')"
    )
    assert browser.run(f"{link} !== null")
    browser.open(run.folder / "episodes/00000/index.html")
    browser.press("End")
    browser.run("document.querySelector('.mistake a').click()")
    browser.run("new Promise(resolve => setTimeout(resolve, 100))")
    shown = "document.querySelector('.step:not([hidden])')"
    assert browser.run(f"{shown}.id") == f"step-{mistake.step}"
    marks = browser.run(
        "[...document.querySelectorAll('.strip button')].map(b => b.dataset.judged)"
    )
    values = {s.step: s.judged.action.score for s in judged[0] if s.episode == 0}
    assert [marks[step] for step in values] == ["right" if v else "wrong" for v in values.values()]


def test_a_command_is_copied(browser: Browser, runs: Path) -> None:
    browser.look(1280, 860)
    browser.open(runs / "real/episodes/00000/index.html")
    button = "document.querySelector('.step:not([hidden]) .command button')"
    browser.run(f"{button}.scrollIntoView({{block: 'center'}})")
    x, y = browser.run(
        f"(() => {{ const b = {button}.getBoundingClientRect(); "
        "return [b.x + b.width / 2, b.y + b.height / 2]; })()"
    )
    browser.run("document.addEventListener('copy', () => { window.copied = String("
                "document.activeElement.value); })")  # fmt: skip
    for kind in ("mousePressed", "mouseReleased"):
        click = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}
        browser.send("Input.dispatchMouseEvent", click)
    assert browser.run(f"{button}.textContent") == "Copied"
    expected = "inhabit fork real --episode 0 --step 0 --action ACTION"
    assert browser.run("window.copied") == expected
