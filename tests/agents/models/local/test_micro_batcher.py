"""Questions that wait for one model: answered together, and never left waiting."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest

from inhabit.agents.models.local.micro_batcher import MicroBatcher


def doubled(numbers: Sequence[int]) -> list[int | Exception]:
    return [2 * n if n else ValueError("Nothing to double.") for n in numbers]


def test_who_asks_at_one_moment_is_answered_together() -> None:
    asked: list[Sequence[int]] = []

    def heard(numbers: Sequence[int]) -> list[int | Exception]:
        asked.append(numbers)
        return doubled(numbers)

    async def crowd() -> list[int]:
        turns = MicroBatcher(batch_size=3, name="test")
        answers = await asyncio.gather(*(turns.ask(n, heard) for n in range(1, 6)))
        turns.close()
        return answers

    assert asyncio.run(crowd()) == [2, 4, 6, 8, 10]
    assert asked == [[1, 2, 3], [4, 5]]


def test_what_is_refused_spoils_nothing_else() -> None:
    async def pair() -> list[object]:
        turns = MicroBatcher(batch_size=3, name="test")
        return await asyncio.gather(
            *(turns.ask(n, doubled) for n in (0, 1)), return_exceptions=True
        )

    refused, answer = asyncio.run(pair())
    assert isinstance(refused, ValueError)
    assert answer == 2


def test_whoever_still_waits_when_it_is_closed_is_told() -> None:
    going, go_on = threading.Event(), threading.Event()

    def slowly(numbers: Sequence[int]) -> list[int | Exception]:
        going.set()
        go_on.wait(10)
        return doubled(numbers)

    async def closed() -> tuple[int, list[object]]:
        turns = MicroBatcher(batch_size=1, name="test")
        prefix = asyncio.create_task(turns.ask(1, slowly))
        await asyncio.to_thread(going.wait, 10)
        waiting = asyncio.create_task(turns.ask(2, slowly))
        await asyncio.sleep(0.01)
        turns.close()
        late = asyncio.create_task(turns.ask(3, slowly))
        async with asyncio.timeout(5):
            told = await asyncio.gather(waiting, late, return_exceptions=True)
            go_on.set()
            return await prefix, told

    answer, told = asyncio.run(closed())
    assert answer == 2, "What had begun is carried to its end."
    for error in told:
        assert isinstance(error, RuntimeError)
        assert "closed before it could answer" in str(error)


def test_who_gives_up_waiting_holds_nobody_up() -> None:
    async def one_gives_up() -> int:
        turns = MicroBatcher(batch_size=1, name="test")
        first, second = (asyncio.create_task(turns.ask(n, doubled)) for n in (1, 2))
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        return await second

    assert asyncio.run(one_gives_up()) == 4
