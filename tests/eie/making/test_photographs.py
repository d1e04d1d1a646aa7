"""Examples from photographs, by a scripted model and by one behind an endpoint."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Picture

from inhabit.agents.core import ModelError
from inhabit.agents.models.core import Ability, Image, Model
from inhabit.agents.models.registry import load
from inhabit.agents.models.scripted import Script, ScriptedModel, ScriptedReply
from inhabit.cli import main
from inhabit.eie.examples.example import Example, Rejection
from inhabit.eie.making.photographs import LONGEST_SIDE, Photographer, make, open_photograph
from inhabit.eie.sets.folder import SetError, SetFolder, SetHeader
from tests.agents.models.endpoints.endpoint import endpoint, good

CLAIM: dict[str, Any] = {
    "goal": "Drive on safely.",
    "question": "The way ahead looks like this. What should you do?",
    "candidates": ["Stop and wait", "Speed up", "Turn left"],
    "answer": "stop and wait",
    "reason": "A person is crossing the road.",
    "key_concepts": ["person on the road", "red light"],
}
FINE: dict[str, Any] = {"missing": [], "better": [], "false": ""}


def write(folder: Path, count: int = 1, side: int = 64) -> Path:
    """Photographs that differ from each other."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        rgb = np.random.default_rng(number).integers(0, 255, (8, 8, 3), np.uint8)
        Picture.fromarray(rgb).resize((side, side * 3 // 4), Picture.Resampling.NEAREST).save(
            folder / f"{number:03d}.png"
        )
    return folder


def begin(folder: Path) -> SetFolder:
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "set.json").exists():
        return SetFolder.open(folder)
    header = SetHeader(
        command=("test",),
        env="driving",
        backend="photographs",
        author="scripted:test",
        seed=0,
        n=99,
        settings={},
        software={},
    )
    return SetFolder.begin(folder, header)


def scripted(claims: list[Any], doubts: list[Any] | None = None) -> Model:
    """Says the claims one after the other; all are doubted alike, or none is."""
    critique = FINE if doubts is None else doubts[0]
    return ScriptedModel(
        Script(
            abilities=frozenset({Ability.IMAGES}),
            answers=(ScriptedReply(when='"key_concepts"', say=text(critique)),),
            replies=tuple(map(text, claims)),
        )
    )


def text(said: Any) -> str:
    return said if isinstance(said, str) else json.dumps(said)


def run(photographs: Path, model: Model, out: Path) -> tuple[list[Example], list[Rejection]]:
    opened = begin(out)
    asyncio.run(make(photographs, Photographer(model, "driving", 0), opened))
    rejected = [r.rejection for a in opened.attempts() for r in a.rejected]
    return list(opened.examples()), rejected


def test_what_stands_up_becomes_an_example(tmp_path: Path) -> None:
    photographs = write(tmp_path / "in", 3)
    examples, rejected = run(photographs, scripted([CLAIM] * 3), tmp_path / "out")
    assert rejected == []
    assert [e.id for e in examples] == ["driving-0-0", "driving-0-1", "driving-0-2"]
    for number, example in enumerate(examples):
        assert example.kind == "photograph"
        assert example.lineage is None
        assert example.candidates[example.answer] == "Stop and wait"
        assert sorted(example.candidates) == sorted(CLAIM["candidates"])
        shown = np.asarray(Picture.open(tmp_path / "out" / example.image))
        taken = np.asarray(Picture.open(photographs / f"{number:03d}.png"))
        assert Image(shown).digest == example.image_digest
        assert (shown == taken).all()


def test_answers_stand_everywhere(tmp_path: Path) -> None:
    photographs = write(tmp_path / "in", 30)
    examples, _ = run(photographs, scripted([CLAIM] * 30), tmp_path / "out")
    assert {example.answer for example in examples} == {0, 1, 2}


@pytest.mark.parametrize(
    ("critique", "reason"),
    [
        (FINE | {"missing": ["red light"]}, Rejection.HIDDEN),
        (FINE | {"missing": ["the LIGHT, I think"]}, Rejection.HIDDEN),
        (FINE | {"better": ["turn left"]}, Rejection.AMBIGUOUS),
        (FINE | {"false": "The road is empty."}, Rejection.CONTRADICTION),
        ("I would not know.", Rejection.NO_ANSWER),
        ({"missing": []}, Rejection.NO_ANSWER),
    ],
)
def test_what_is_refuted_is_not_kept(critique: Any, reason: Rejection, tmp_path: Path) -> None:
    photographs = write(tmp_path / "in")
    examples, rejected = run(photographs, scripted([CLAIM], [critique]), tmp_path / "out")
    assert (examples, rejected) == ([], [reason])


def test_the_answer_itself_is_no_better_candidate(tmp_path: Path) -> None:
    critique = FINE | {"better": ["Stop and wait."]}
    examples, _ = run(write(tmp_path / "in"), scripted([CLAIM], [critique]), tmp_path / "out")
    assert len(examples) == 1


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("{oh no", Rejection.SCHEMA),
        ("", Rejection.SCHEMA),
        (CLAIM | {"candidates": ["Stop and wait"]}, Rejection.SCHEMA),
        (CLAIM | {"answer": "Fly"}, Rejection.SCHEMA),
        (CLAIM | {"candidates": ["Go", "go!", "Stop and wait"]}, Rejection.AMBIGUOUS),
        (CLAIM | {"question": "Should you stop and wait?"}, Rejection.GIVEN_AWAY),
        (CLAIM | {"key_concepts": []}, Rejection.SCHEMA),
    ],
)
def test_a_bad_claim_is_asked_for_once_more(claim: Any, reason: Rejection, tmp_path: Path) -> None:
    photographs = write(tmp_path / "in")
    examples, rejected = run(photographs, scripted([claim, CLAIM]), tmp_path / "mended")
    assert (len(examples), rejected) == (1, [])
    examples, rejected = run(photographs, scripted([claim, claim]), tmp_path / "bad")
    assert (examples, rejected) == ([], [reason])


def test_what_is_no_picture_is_counted_and_passed_over(tmp_path: Path) -> None:
    photographs = write(tmp_path / "in", 2)
    (photographs / "001.png").write_bytes(b"\x89PNG nothing of the sort")
    Picture.new("RGB", (32, 32)).save(photographs / "002.png")
    (photographs / "notes.txt").write_text("not looked at")
    examples, rejected = run(photographs, scripted([CLAIM]), tmp_path / "out")
    assert len(examples) == 1
    assert rejected == [Rejection.UNCLEAR, Rejection.UNCLEAR]


@pytest.mark.parametrize("name", ["turned.jpg", "turned.webp"])
def test_a_photograph_with_malformed_exif_data_is_upright(tmp_path: Path, name: str) -> None:
    exif, file = Picture.Exif(), tmp_path / name
    exif[0x0112], exif[0x010F] = 6, "Maker"
    Picture.new("RGB", (64, 48)).save(file, exif=exif)
    # A width in letters can be read, and not be written again.
    maker, width = b"\x01\x0f\x00\x02", b"\x01\x00\x00\x02"
    assert maker in file.read_bytes()
    file.write_bytes(file.read_bytes().replace(maker, width))
    assert open_photograph(file).shape == (64, 48, 3)


def test_the_same_photograph_counts_once(tmp_path: Path) -> None:
    photographs = write(tmp_path / "in")
    (photographs / "again.png").write_bytes((photographs / "000.png").read_bytes())
    examples, rejected = run(photographs, scripted([CLAIM, CLAIM]), tmp_path / "out")
    assert (len(examples), rejected) == (1, [Rejection.DUPLICATE])


def test_a_copy_of_a_photograph_is_in_no_other_split(tmp_path: Path) -> None:
    photographs = write(tmp_path / "in", 6, side=256)
    for number in range(6):
        with Picture.open(photographs / f"{number:03d}.png") as one:
            one.save(photographs / f"{number:03d}-copy.jpg", quality=80)
    claims = [CLAIM | {"goal": f"Drive on to the {number}th corner."} for number in range(12)]
    examples, rejected = run(photographs, scripted(claims), tmp_path / "out")
    assert (len(examples), rejected) == (6, [Rejection.DUPLICATE] * 6)


def test_large_photographs_are_made_smaller(tmp_path: Path) -> None:
    photographs = write(tmp_path / "in", side=2000)
    examples, _ = run(photographs, scripted([CLAIM]), tmp_path / "out")
    with Picture.open(tmp_path / "out" / examples[0].image) as shown:
        assert shown.size == (LONGEST_SIDE, LONGEST_SIDE * 3 // 4)


def test_it_goes_on_where_it_stopped(tmp_path: Path) -> None:
    photographs = write(tmp_path / "in", 4)
    run(photographs, scripted([CLAIM] * 4), tmp_path / "whole")
    few = write(tmp_path / "few", 2)
    run(few, scripted([CLAIM] * 2), tmp_path / "parts")
    run(photographs, scripted([CLAIM] * 2), tmp_path / "parts")
    for name in ("examples.jsonl", "attempts.jsonl"):
        whole = (tmp_path / "whole" / name).read_bytes()
        assert (tmp_path / "parts" / name).read_bytes() == whole


def test_a_model_without_eyes_is_refused() -> None:
    with pytest.raises(ModelError, match="images"):
        Photographer(ScriptedModel(Script(abilities=frozenset())), "driving", 0)


def test_a_folder_without_photographs_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetError, match="no photograph"):
        run(write(tmp_path / "in", 0), scripted([]), tmp_path / "out")
    (tmp_path / "in" / os.fsdecode(b"\xff.png")).touch()
    with pytest.raises(SetError, match=r"\\udcff.png: its name is no plain text"):
        run(tmp_path / "in", scripted([]), tmp_path / "out")


def test_an_endpoint_is_shown_each_photograph_twice(tmp_path: Path) -> None:
    pytest.importorskip("openai")
    photographs = write(tmp_path / "in", 2)

    def brain(request: dict[str, Any], number: int) -> Any:
        refuting = "refute" in json.dumps(request["messages"][0])
        return good(text(FINE if refuting else CLAIM), tokens=(100, 20))

    with endpoint(brain) as server:
        from inhabit.agents.models.endpoints.openai import REGISTRATION

        settings = REGISTRATION.settings.model_validate({"base_url": server.base_url})
        model = load("openai:sees", settings)
        photographer = Photographer(model, "driving", 0)
        opened = begin(tmp_path / "out")

        async def ask() -> None:
            await make(photographs, photographer, opened)
            await model.close()

        asyncio.run(ask())
        assert len(list(opened.examples())) == 2
        assert len(server.requests) == 4
        assert "driving" in str(server.requests[0]["messages"][0])
        for request in server.requests:
            parts = [p for m in request["messages"] for p in m["content"] if isinstance(p, dict)]
            assert sum(part.get("type") == "image_url" for part in parts) == 1
        assert photographer.tokens == {"in": 400, "out": 80}
        assert [a.tokens for a in opened.attempts()] == [{"in": 200, "out": 40}] * 2


def test_another_address_of_the_model_goes_on_with_a_set(tmp_path: Path) -> None:
    pytest.importorskip("openai")
    words = ["photographs", str(write(tmp_path / "in")), "--author", "openai:sees"]
    with endpoint(lambda *_: good("I would not know.")) as server:
        for url in (server.base_url, "http://localhost:1/v1"):
            with pytest.raises(SystemExit) as left:
                main([*words, "--base-url", url, "--out", str(tmp_path / "out")])
            assert left.value.code == 0


def test_the_command_writes_a_whole_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "script.json"
    answers = [{"when": '"key_concepts"', "say": text(FINE)}]
    told = {"abilities": ["images"], "answers": answers, "replies": [text(CLAIM)] * 2}
    script.write_text(json.dumps(told))
    photographs = write(tmp_path / "in", 2)
    words = ["photographs", str(photographs), "--author", f"scripted:{script}", "--of", "cooking"]
    for finished in (False, True):
        if finished:
            script.unlink()  # no model is loaded any more
        with pytest.raises(SystemExit) as left:
            main([*words, "--out", str(tmp_path / "out"), "--json"])
        assert left.value.code == 0
        said = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert said == {"set": str(tmp_path / "out"), "kept": 2, "rejected": {}}
    assert SetFolder.open(tmp_path / "out").header.finished
    card = (tmp_path / "out/README.md").read_text()
    assert (
        "2 photographs" in card and "No simulator checked it." in card and "built its" not in card
    )
    assert "--of cooking --seed 0\n" in card and "the same command gives" not in card
    assert "Stop and wait" in (tmp_path / "out/index.html").read_text()
    with pytest.raises(SystemExit) as left:
        main([*words, "--seed", "1", "--out", str(tmp_path / "out")])
    assert left.value.code != 0
    assert "seed" in capsys.readouterr().err
    (photographs / "001.png").rename(photographs / "other.png")
    with pytest.raises(SystemExit) as left:
        main([*words, "--out", str(tmp_path / "out")])
    assert left.value.code == 1
    assert "begun with other photographs: '001.png' was among them" in capsys.readouterr().err


def test_the_command_says_why_photographs_are_rejected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    photographs = write(tmp_path / "in", 1)
    (photographs / "broken.jpg").write_text("no image")
    words = ["photographs", str(photographs), "--author", "scripted:first"]
    with pytest.raises(SystemExit):
        main([*words, "--out", str(tmp_path / "out")])
    said = capsys.readouterr().out
    assert "Kept 0 examples" in said
    assert "rejected, no_answer: 1" in said and "rejected, unclear: 1" in said
    refused = [r.sentence for a in SetFolder.open(tmp_path / "out").attempts() for r in a.rejected]
    assert "broken.jpg" in refused[1] and str(tmp_path) not in refused[1]
