"""The page of a set in a real browser, from the disk, as people open it."""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import CHROMIUM, Browser
from sampling import every

from inhabit.eie.sets.folder import SetFolder
from inhabit.eie.sets.page.writing import rows, write_page
from tests.eie.made_set import HOSTILE, NASTY, read_examples, write_set

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with tempfile.TemporaryDirectory() as profile, Browser(Path(profile)) as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of every step of twenty tasks: more than are shown at once."""
    made = write_set(tmp_path_factory.mktemp("sets") / "walks", 20, kind="trajectory")
    write_page(SetFolder.open(made))
    return made


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = write_set(tmp_path_factory.mktemp("sets") / "hostile", saying=f"{HOSTILE}</script>")
    write_page(SetFolder.open(made))
    return made


TILES = "document.querySelectorAll('.tile')"
CHANGE = """(() => {
    const form = document.querySelector(".filter");
    form.NAME.value = VALUE;
    form.dispatchEvent(new Event("input"));
    return form.querySelector("output").textContent;
})()"""


def change(browser: Browser, name: str, value: str) -> str:
    return str(browser.run(CHANGE.replace("NAME", name).replace("VALUE", repr(value))))


@pytest.mark.parametrize("which", ["folder", "hostile"])
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("dark", every(2, [False, True]))
def test_the_page_fits_and_complains_of_nothing(
    browser: Browser, which: str, width: int, dark: bool, request: pytest.FixtureRequest
) -> None:
    browser.look(width, 860, dark=dark)
    browser.open(request.getfixturevalue(which) / "index.html")
    browser.run(f"{TILES}[3].click()")
    assert browser.run("document.documentElement.scrollWidth") <= width
    dialog = "document.querySelector('dialog')"
    assert browser.run(f"{dialog}.scrollWidth <= {dialog}.clientWidth")
    fetched = [
        event["params"]["request"]["url"].split(":")[0]
        for event in browser.events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert set(fetched) <= {"file", "data", "about"}
    assert [e for e in browser.events if e["method"] == "Log.entryAdded"] == []
    broken = "[...document.images].filter(i => i.complete && !i.naturalWidth).length"
    assert browser.run(broken) == 0
    assert browser.run("[...document.images].filter(i => i.naturalWidth).length") > 0


def test_hostile_texts_are_shown_and_never_run(browser: Browser, hostile: Path) -> None:
    browser.open(hostile / "index.html")
    browser.run(f"{TILES}[0].click()")
    browser.run("new Promise(resolve => setTimeout(resolve, 100))")
    assert browser.run("document.title") == f"{len(read_examples(hostile))} examples in toy"
    for part in (".tile", "dialog", ".rejected"):
        assert "onerror=" in browser.run(f"document.querySelector('{part}').textContent")
    assert browser.run("document.querySelectorAll('[onerror]').length") == 0
    assert browser.run("document.querySelectorAll('script').length") == 2


def test_filters_find_what_the_set_holds(browser: Browser, folder: Path) -> None:
    examples = read_examples(folder)
    browser.look(1280, 860)
    browser.open(folder / "index.html")
    total = len(examples)
    for name, value, count in [
        ("split", "test", sum(e.split == "test" for e in examples)),
        ("verb", "open", sum(e.split == "test" and e.verb == "open" for e in examples)),
    ]:
        assert change(browser, name, value) == f"{count} of {total}"
    change(browser, "split", "")
    change(browser, "verb", "")
    found = [e for e in examples if "fridge" in e.objects and e.room == "kitchen"]
    change(browser, "object", "fridge")
    assert change(browser, "room", "kitchen") == f"{len(found)} of {total}"
    change(browser, "object", "")
    change(browser, "room", "")
    assert change(browser, "find", examples[7].id.upper()) == f"1 of {total}"
    assert change(browser, "find", "no such words") == f"0 of {total}"
    assert browser.run(f"{TILES}.length") == 0


def test_more_is_shown_when_asked_for(browser: Browser, folder: Path) -> None:
    total = len(read_examples(folder))
    assert total > 60
    browser.open(folder / "index.html")
    assert browser.run(f"{TILES}.length") == 60
    browser.run("document.querySelector('.more button').click()")
    assert browser.run(f"{TILES}.length") == min(120, total)


def test_an_example_is_shown_whole(browser: Browser, folder: Path) -> None:
    examples = read_examples(folder)
    browser.open(folder / "index.html")
    browser.run(f"{TILES}[4].click()")
    example = examples[4]
    one = "document.querySelector('.one')"
    text = browser.run(f"{one}.textContent")
    for shown in (example.question, example.reason, *example.candidates, *example.key_concepts):
        assert shown in text
    assert (
        browser.run(f"{one}.querySelector('.right').textContent")
        == (example.candidates[example.answer])
    )
    assert browser.run(f"{one}.querySelector('figure img').src").endswith(example.image)
    assert browser.run(f"{one}.querySelectorAll('.film img').length") == len(example.history)
    assert example.lineage is not None
    following = [one.wish for one in example.lineage.topology if one.state == "next"]
    lit = f"[...{one}.querySelectorAll('.graph .next')].map((box) => box.textContent)"
    assert browser.run(lit) == following
    assert len(following) == 1
    for key, number in [("ArrowRight", 5), ("ArrowRight", 6), ("ArrowLeft", 5)]:
        browser.press(key)
        told = browser.run("document.querySelector('dialog .bar span').textContent")
        assert told == f"{examples[number].id}, {number + 1} of {len(examples)}"
    browser.run("document.querySelector('[name=close]').click()")
    assert browser.run("document.querySelector('dialog').open") is False


def test_rejections_are_counted_with_samples(browser: Browser, folder: Path) -> None:
    browser.open(folder / "index.html")
    text = browser.run("document.querySelector('.funnel').textContent").replace("\u00a0", " ")
    for word in ("kept", "hidden", "duplicate", "schema"):
        assert word in text
    samples = browser.run("document.querySelectorAll('#rejected-hidden li').length")
    assert samples == 7  # of the twenty tasks, every third one's


def test_a_row_can_not_end_the_element_it_stands_in() -> None:
    import json

    from inhabit.eie.examples.example import Example

    example = Example(
        id=f"</script>{NASTY}",
        env="toy",
        split="test",
        image="images/0.png",
        image_digest="0",
        question="<!-- <script>",
        candidates=("a&b", "\u2028"),
        answer=0,
        reason="",
        key_concepts=("x",),
        goal="g",
    )
    text = "".join(rows([example, example]))
    assert not set("<>&\u2028") & set(text)
    first, second = json.loads(f"[{text}]")
    assert first == second
    assert first["id"] == example.id
    assert first["candidates"] == list(example.candidates)


@pytest.mark.slow
def test_ten_thousand_examples_are_written_in_little_memory(folder: Path, tmp_path: Path) -> None:
    few = (folder / "examples.jsonl").read_bytes()
    made = write_set(tmp_path / "set", 1)
    write_page(SetFolder.open(made))
    (made / "examples.jsonl").write_bytes(few * (10_000 // few.count(b"\n") + 1))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    page = write_page(SetFolder.open(made))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # kilobytes
    assert page.stat().st_size > 5_000_000
