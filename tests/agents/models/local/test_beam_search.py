"""Beam search held to candidates: with a beam wide enough, it says what ranking says."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inhabit.agents.core import Ranked
from inhabit.agents.models.beam_search import BeamRules, Following, levels
from inhabit.agents.models.core import Message, Model
from inhabit.agents.models.local.scoring import Way
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.registry import load
from inhabit.agents.models.trie import Trie
from tests.agents.models.local.tiny import save_llama

PROMPT = [Message("system", ("You act.",)), Message("user", ("Goal: tidy up {all}.",))]
ACTIONS = [f"{verb} the {name}" for verb in ("open", "close", "go to") for name in "abcdefgh"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    folder: Path = save_llama(tmp_path_factory.mktemp("llama"))
    return load(f"local:{folder}", LocalSettings(device="cpu", dtype="float32"))


def search(model: Model, candidates: list[str], width: int) -> tuple[Ranked, ...]:
    return asyncio.run(model.beam(PROMPT, candidates, width=width)).scores


def ranked(model: Model, candidates: list[str]) -> list[Ranked]:
    scores = asyncio.run(model.rank(PROMPT, candidates)).scores
    return sorted(scores, key=lambda one: -one.logprob)


def texts(scores: list[Ranked] | tuple[Ranked, ...]) -> list[str]:
    return [one.text for one in scores]


@settings(
    max_examples=settings.default.max_examples // 2,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(
    candidates=st.lists(
        st.text(alphabet="ab{} é\n", min_size=1, max_size=6), min_size=1, max_size=9
    ),
    spare=st.integers(0, 3),
)
def test_a_beam_that_covers_the_candidates_ranks_them(
    model: Model, candidates: list[str], spare: int
) -> None:
    got = search(model, candidates, len(candidates) + spare)
    want = ranked(model, candidates)
    assert [one.logprob for one in got] == pytest.approx([w.logprob for w in want], abs=1e-3)
    if min((a.logprob - b.logprob for a, b in itertools.pairwise(want)), default=1) > 1e-3:
        assert texts(got) == texts(want)


def test_a_narrow_beam_gives_as_many_as_it_is_wide_with_their_exact_scores(model: Model) -> None:
    exact = {one.text: one.logprob for one in ranked(model, ACTIONS)}
    for width in (1, 2, 5):
        got = search(model, ACTIONS, width)
        assert len(got) == width
        assert [one.logprob for one in got] == sorted((g.logprob for g in got), reverse=True)
        assert [one.logprob for one in got] == pytest.approx(
            [exact[one.text] for one in got], abs=1e-3
        )


def test_a_beam_of_one_goes_down_greedily(model: Model) -> None:
    """Whichever letter is likeliest after the likeliest beginning, whatever would come of it."""
    (one,) = search(model, ["a" + x + y for x in "pqr" for y in "st"], 1)
    rest = ["a" + x for x in "pqr"]
    assert one.text[:2] == texts(ranked(model, rest))[0]


def test_a_narrow_beam_reads_less(model: Model) -> None:
    narrow = asyncio.run(model.beam(PROMPT, ACTIONS, width=2)).call.tokens_in
    assert narrow < asyncio.run(model.rank(PROMPT, ACTIONS)).call.tokens_in


def test_several_answers_are_the_best_of_a_beam(model: Model) -> None:
    reply = asyncio.run(model.generate(PROMPT, n=3, max_tokens=4))
    assert [one.text for one in reply.scores] == list(reply.texts)
    logprobs = [one.logprob for one in reply.scores]
    assert len(logprobs) == 3
    assert logprobs == sorted(logprobs, reverse=True)
    assert all(1 <= one.tokens <= 4 for one in reply.scores)
    assert reply.call.tokens_out <= 12


@settings(
    max_examples=settings.default.max_examples // 2,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(
    candidates=st.lists(
        st.text(alphabet="ab{} é\n", min_size=1, max_size=6), min_size=1, max_size=40
    ),
    width=st.integers(1, 6),
    end=st.booleans(),
    penalty=st.sampled_from([0.0, 0.5, 1.0]),
)
def test_an_exact_search_finds_the_best_of_all(
    model: Model, candidates: list[str], width: int, end: bool, penalty: float
) -> None:
    """The same scores as a beam that covers all candidates, which drops none."""

    def found(width: int, *, exact: bool) -> list[Ranked]:
        searching = model.beam(
            PROMPT, candidates, width=width, end=end, length_penalty=penalty, exact=exact
        )
        return list(asyncio.run(searching).scores)

    everything = found(len(candidates), exact=False)
    want = sorted((one.logprob / one.tokens**penalty for one in everything), reverse=True)
    got = [one.logprob / one.tokens**penalty for one in found(width, exact=True)]
    assert got == pytest.approx(want[:width], abs=1e-3)


def test_an_exact_search_reads_less(model: Model) -> None:
    numbered = [f"{action} {number}" for action in ACTIONS for number in range(40)]
    exact = asyncio.run(model.beam(PROMPT, numbered, width=1, exact=True))
    every = asyncio.run(model.rank(PROMPT, numbered))
    assert exact.call.tokens_in < every.call.tokens_in
    assert exact.scores[0].logprob == pytest.approx(
        max(one.logprob for one in every.scores), abs=1e-3
    )


@pytest.mark.parametrize("scoring", ["tree_alone", "batch", "single"])
def test_an_exact_search_is_the_same_in_each_way(
    model: Model, scoring: Way, tmp_path: Path
) -> None:
    other = load(
        f"local:{save_llama(tmp_path)}",
        LocalSettings(device="cpu", dtype="float32", scoring=scoring),
    )
    want = ranked(model, ACTIONS)[:3]
    got = asyncio.run(other.beam(PROMPT, ACTIONS, width=3, exact=True)).scores
    assert [one.logprob for one in got] == pytest.approx([w.logprob for w in want], abs=1e-3)


@pytest.mark.parametrize("end", [False, True])
def test_a_search_that_is_over_waits_for_those_beside_it(end: bool) -> None:
    """All tokens are equally likely: the short trie is searched in two levels, the long in four."""
    tries = [Trie.pack(paths) for paths in ([(1,), (2, 3)], [(1, 2, 3, 4), (1, 2, 3, 5)])]
    searching = levels([(trie, BeamRules(width=2, end=end)) for trie in tries])
    edges, nodes = [trie.outgoing() for trie in tries], next(searching)
    with pytest.raises(StopIteration) as ended:
        while True:
            nodes = searching.send(
                [
                    [Following([-0.7] * len(of[node]), None) for node in some]
                    for of, some in zip(edges, nodes, strict=True)
                ]
            )
    assert [len(results) for results in ended.value.value] == [2, 2]


@pytest.mark.parametrize("exact", [False, True])
def test_of_equals_the_first_is_found_though_it_is_longer(exact: bool) -> None:
    """So early stopping chooses what `rank` does: 1 is surely followed by 2."""
    searching = levels([(Trie.pack([(1, 2), (3,)]), BeamRules(width=1, exact=exact))])
    assert next(searching) == [[0]]
    assert searching.send([[Following([-1.0, -1.0], None)]]) == [[1]]
    with pytest.raises(StopIteration) as ended:
        searching.send([[Following([0.0], None)]])
    assert [one.sequence for one in ended.value.value[0]] == [0]
