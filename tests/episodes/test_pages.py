"""Pages as files: what they say, that they need nothing else, and that texts stay texts."""

from __future__ import annotations

import json
import os
from html.parser import HTMLParser
from pathlib import Path

import pytest
from made_run import ACTIONS, HOSTILE, Made, write_run
from toy_runs import Dying, play_toy, toy_tasks

from inhabit.cli import main
from inhabit.episodes.recording.index import entry_of
from inhabit.episodes.recording.reader import RecordError, Run
from inhabit.episodes.reports.page.document import LONGEST, duration, percent
from inhabit.episodes.reports.page.summary import funnel, row
from inhabit.episodes.reports.page.writing import Videos, find_runs, write_gallery
from inhabit.episodes.reports.page.writing import write_run as write_pages


class Page(HTMLParser):
    """A page as a parser of another make reads it."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def scripts(self) -> int:
        """How many scripts would run: those of plain values don't."""
        return self.tags.count("script") - self.attributes.count(("type", "application/json"))

    def addresses(self) -> list[str]:
        named = ("src", "href", "poster", "srcset", "action", "data")
        return [value for name, value in self.attributes if name in named]


def show(folder: Path, made: Made) -> Run:
    run = Run.open(write_run(folder, made))
    write_pages(run, Videos(), lambda episode: None)
    return run


def command(words: list[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 0


def every_page(run: Run) -> list[Page]:
    return [Page(file) for file in sorted(run.folder.glob("**/index.html"))]


def test_a_real_run_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = play_toy(tmp_path / "run", tasks=toy_tasks(2), agent="expert")
    main_ends_well(["show", str(run.folder), "--video", "--json"])
    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert answer["episodes"] == answer["videos"] == 2
    page = Page(Path(answer["page"]))
    assert "100\N{NO-BREAK SPACE}%" in page.text
    episode = run.episode(1)
    attempt = episode.last()
    assert attempt is not None
    told = Page(episode.folder / "index.html").text
    for step in attempt.steps:
        assert step.decide is None or str(step.decide.action) in told
        assert step.act is None or step.act.feedback in told


def main_ends_well(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert not exit_.value.code


def test_what_makes_a_success_comparable_heads_every_page(tmp_path: Path) -> None:
    run = show(tmp_path / "run", Made(backend="grid-of-old"))
    for page in every_page(run):
        for word in ("Backend", "grid-of-old", "Candidates", "seen", "Grants", "none", "rank"):
            assert word in page.text


def test_pages_need_nothing_from_elsewhere(tmp_path: Path) -> None:
    run = show(tmp_path / "run", Made())
    inside = run.folder.resolve()
    for file in inside.glob("**/index.html"):
        page = Page(file)
        assert "link" not in page.tags
        assert page.scripts == page.tags.count("style") == 1
        for address in page.addresses():
            assert address.startswith(("data:image/jpeg;base64,", "#", "../", "episodes/"))
            assert (file.parent / address).resolve().is_relative_to(inside)


def test_links_lead_somewhere(tmp_path: Path) -> None:
    run = show(tmp_path / "run", Made(cut_off=True))
    for file in run.folder.glob("**/index.html"):
        page = Page(file)
        ids = {value for name, value in page.attributes if name == "id"}
        for address in page.addresses():
            if address.startswith("#"):
                assert address[1:] in ids
            elif not address.startswith("data:"):
                assert (file.parent / address).exists(), (file, address)


def test_texts_stay_texts(tmp_path: Path) -> None:
    hostile = Made(
        episodes=1, goal=HOSTILE, action=HOSTILE, feedback=HOSTILE, reply=HOSTILE, text=HOSTILE
    )
    plain = show(tmp_path / "plain", Made(episodes=1))
    marked = show(tmp_path / "marked", hostile)
    write_gallery(tmp_path, [write_pages(run, Videos(), lambda _: None) for run in (marked, plain)])
    for before, after in zip(every_page(plain), every_page(marked), strict=True):
        assert before.scripts == after.scripts == 1
        assert HOSTILE in after.text
        assert not [name for name, _ in after.attributes if name.startswith("on")]
        assert ("src", "x") not in after.attributes
    assert HOSTILE in Page(tmp_path / "index.html").text


def test_cards_of_runs_name_their_folders(tmp_path: Path) -> None:
    runs = [show(tmp_path / name, Made(episodes=1)) for name in ("first-try", "second-try")]
    write_gallery(tmp_path, [write_pages(run, Videos(), lambda _: None) for run in runs])
    text = Page(tmp_path / "index.html").text
    # Once on the card of the run, and once for its task.
    assert text.count("first-try") == text.count("second-try") == 2
    # Each card has each figure.
    assert text.count("Invalid actions") == text.count("Goal-condition success") == 2


def test_braces_and_percent_signs_are_nothing_special(tmp_path: Path) -> None:
    goal = '{{ 7 * 7 }} {% raise %} {0} %s \N{SNOWMAN} it\'s "fine"'
    for page in every_page(show(tmp_path / "run", Made(episodes=1, goal=goal))):
        assert goal in page.text


def test_a_very_long_reply_is_cut_and_says_so(tmp_path: Path) -> None:
    run = show(tmp_path / "run", Made(episodes=1, reply="x" * (LONGEST + 1234)))
    page = run.episode(0).folder / "index.html"
    assert "1,234 more characters in the record" in page.read_text()
    assert page.stat().st_size < 1_000_000


def test_pictures_stand_in_the_page_of_an_episode(tmp_path: Path) -> None:
    run = show(tmp_path / "run", Made(episodes=1, steps=5))
    (run.episode(0).folder / "frames" / "0002.jpg").write_bytes(b"no picture")
    write_pages(run, Videos(), lambda _: None)
    page = Page(run.episode(0).folder / "index.html")
    assert sum(a.startswith("data:image/jpeg") for a in page.addresses()) == 5
    assert "frames/0002.jpg cannot be shown" in page.text


def test_the_prompt_and_the_candidates_are_told(tmp_path: Path) -> None:
    run = show(tmp_path / "run", Made(episodes=1, reply="I would rather sleep."))
    page = Page(run.episode(0).folder / "index.html")
    assert "You act in a house, one step at a time." in page.text
    assert "I would rather sleep." in page.text
    assert all(text in page.text for text in ACTIONS)
    assert "#step-0" in page.addresses()


def test_an_unfinished_run_says_what_its_figures_are_of(tmp_path: Path) -> None:
    run = show(tmp_path / "run", Made(episodes=4, cut_off=True))
    page = Page(run.folder / "index.html")
    assert "2 of 4 episodes have ended" in page.text
    assert page.text.count("not ended") >= 2
    assert not (run.episode(3).folder / "index.html").exists()


def test_what_is_solved_without_an_action_is_in_the_funnel(tmp_path: Path) -> None:
    write_run(tmp_path / "run", Made(steps=0, solved=(True,)))
    run = Run.open(tmp_path / "run")
    found = funnel([row(one, entry_of(one)) for one in run.episodes()])
    assert found["solved"] == found["a condition met"] == 4


def test_runs_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for agent in ("expert", "rank"):
        play_toy(tmp_path / agent, tasks=toy_tasks(2), agent="expert")
    main_ends_well(["show", str(tmp_path), "--video"])
    assert capsys.readouterr().out.strip() == str(tmp_path / "index.html")
    page = Page(tmp_path / "index.html")
    assert page.tags.count("video") == 4
    assert "rank/episodes/00001/episode.mp4" in page.addresses()
    assert (tmp_path / "rank" / "index.html").exists()


def test_a_film_is_made_again_only_when_the_record_has_grown(tmp_path: Path) -> None:
    run = Run.open(write_run(tmp_path / "run", Made(episodes=1, steps=2)))
    film = run.episode(0).folder / "episode.mp4"

    def made() -> int:
        write_pages(run, Videos(mp4=True), lambda _: None)
        return film.stat().st_mtime_ns

    first = made()
    assert made() == first
    os.utime(run.episode(0).file, ns=(first + 10**9, first + 10**9))
    assert made() != first


def test_a_folder_without_runs_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"is no run folder \(run.json\) and contains none"):
        find_runs(tmp_path, print)


def test_the_same_record_gives_the_same_page(tmp_path: Path) -> None:
    one, two = show(tmp_path / "a" / "run", Made()), show(tmp_path / "b" / "run", Made())
    for file in one.folder.glob("**/index.html"):
        assert file.read_bytes() == (two.folder / file.relative_to(one.folder)).read_bytes()


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.0431, "43 ms"), (4.71, "4.7 s"), (125.2, "2 min 5 s"), (60, "1 min"), (3725, "1 h 2 min")],
)
def test_times_are_told_as_people_tell_them(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_rates_are_told_in_percent() -> None:
    assert [percent(r).replace("\N{NO-BREAK SPACE}", " ") for r in (1.0, 2 / 3, 0.0)] == [
        "100 %",
        "66.7 %",
        "0 %",
    ]


def test_what_a_judge_says_stands_beside_the_steps(tmp_path: Path) -> None:
    run = play_toy(tmp_path / "run", tasks=toy_tasks(1), assignments=["in_process=true"])
    with pytest.raises(SystemExit) as left:
        main(["judge", str(run.folder)])
    assert left.value.code == 0
    write_pages(run, Videos(), lambda _: None)
    page = (run.episode(0).folder / "index.html").read_text()
    end = run.episode(0).end()
    assert end is not None
    assert page.count("<caption>Judge</caption>") == end.steps
    assert "Best: " in page


def test_other_attempts_and_forks_stand_on_the_page(tmp_path: Path) -> None:
    run = play_toy(
        tmp_path / "run",
        tasks=toy_tasks(1),
        make=lambda: Dying(3),
        assignments=["in_process=true", "retries=2", "pause=0.01"],
    )
    hint = "Look in the <b>kitchen</b>."
    command(["fork", str(run.folder), "--episode", "0", "--step", "1", "--hint", hint])
    command(["fork", str(run.folder), "--episode", "0", "--step", "1", "--set", "max_invalid=3"])
    command(["show", str(run.folder)])
    page = run.folder / "episodes" / "00000" / "index.html"
    plain = page.read_text()
    assert "<code>max_invalid=3</code>" in plain
    assert "Attempt 1" in plain and "Attempt 2" in plain and "Attempt 3" not in plain
    assert "continued attempt 1" in plain
    assert "Look in the &lt;b&gt;kitchen&lt;/b&gt;." in plain
    there = "../../forks/0000/episodes/00000/index.html"
    assert there not in plain, "There is no such page yet."
    command(["show", str(run.folder / "forks" / "0000")])
    command(["show", str(run.folder)])
    assert f'href="{there}"' in page.read_text()
    assert (page.parent / there).is_file()


@pytest.mark.slow
def test_a_fork_that_lies_elsewhere_is_no_link(tmp_path: Path) -> None:
    run = play_toy(tmp_path / "run", tasks=toy_tasks(1), assignments=["in_process=true"])
    command(["fork", str(run.folder), "--episode", "0", "--step", "1", "--hint", "Look."])
    forks = run.folder / "forks.jsonl"
    abroad = tmp_path / "abroad" / "episodes" / "00000"
    abroad.mkdir(parents=True)
    (abroad / "index.html").write_text("mine")
    forks.write_text(forks.read_text().replace('"forks/0000"', '"../abroad"'))
    command(["show", str(run.folder)])
    assert "abroad" not in (run.folder / "episodes" / "00000" / "index.html").read_text()


def test_what_a_model_said_besides_and_what_served_it(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", Made(episodes=1))
    record = folder / "episodes" / "00000" / "episode.jsonl"
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    for line in lines:
        for call in line.get("calls", ()):
            call |= {"others": ["the <i>second</i>"], "served": "m-2024 fp_<1>"}
    record.write_text("".join(json.dumps(line) + "\n" for line in lines))
    command(["show", str(folder)])
    plain = (folder / "episodes" / "00000" / "index.html").read_text()
    assert "the &lt;i&gt;second&lt;/i&gt;" in plain
    assert "m-2024 fp_&lt;1&gt;" in plain
