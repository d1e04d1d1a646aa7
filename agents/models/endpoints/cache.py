"""Answers that a model has given, kept in a file for whoever asks the same again."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TypeVar

from pydantic import JsonValue, TypeAdapter

from inhabit.agents.core import Call, ModelError
from inhabit.agents.models.beam_search import BeamRules
from inhabit.agents.models.core import Ability, GenerateOptions, Message, Model, Ranking, Reply

_TABLE = "CREATE TABLE IF NOT EXISTS answers (question TEXT PRIMARY KEY, answer TEXT NOT NULL)"
_REPLY, _RANKING = TypeAdapter(Reply), TypeAdapter(Ranking)

T = TypeVar("T", Reply, Ranking)


class Cached(Model):
    """A model that is asked only what the file `path` holds no answer to.

    A question is all that shapes its answer: the model by its name and details, the messages with
    the pixels of their images, the parameters, the candidates. The seed is part of it where the
    model samples; sampled answers are kept only with `samples`. An answer is on disk before
    it is given. One from the file is marked (`Call.cached`) and costs no tokens, so it is given
    even when a budget is spent.
    """

    def __init__(self, model: Model, path: Path, *, samples: bool = False) -> None:
        """Answer from `path`, an SQLite file that is made if it isn't there, and else from `model`.

        Raises:
            ModelError: the file can't be used.
        """
        self.name, self.details = model.name, model.details
        self.instead, self.checked = model.instead, model.checked
        self._model = model
        self._path = path
        self._keeps_samples = samples
        try:
            # Made on one thread and used on another, but never on two at once.
            self._file = sqlite3.connect(path, timeout=30.0, check_same_thread=False)
            self._file.execute("PRAGMA journal_mode=WAL")
            self._file.execute(_TABLE)
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    @property
    def abilities(self) -> frozenset[Ability]:  # type: ignore[override]
        """Abilities of the model, which may turn out to lack one."""
        return self._model.abilities

    @property
    def samples(self) -> bool:  # type: ignore[override]
        """Whether the model samples."""
        return self._model.samples

    @property
    def _keeps(self) -> bool:
        return self._keeps_samples or not self.samples

    async def rank(self, prompt: Sequence[Message], candidates: Sequence[str]) -> Ranking:
        """The scores of the file, or of the model."""
        asked: dict[str, JsonValue] = {"rank": list(candidates)}
        return await self._ask(
            prompt, asked, _RANKING, lambda: self._model.rank(prompt, candidates)
        )

    async def _beam(
        self, prompt: Sequence[Message], candidates: Sequence[str], rules: BeamRules
    ) -> Ranking:
        """The results of the file, or of the model."""
        asked: dict[str, JsonValue] = {"beam": list(candidates), **asdict(rules)}
        if not rules.exact:
            del asked["exact"]  # files that were written before it existed stay good
        return await self._ask(
            prompt, asked, _RANKING, lambda: self._model._beam(prompt, candidates, rules)
        )

    async def choose(self, prompt: Sequence[Message], letters: Sequence[str]) -> Ranking:
        """The scores of the file, or of the model."""
        asked: dict[str, JsonValue] = {"choose": list(letters)}
        return await self._ask(prompt, asked, _RANKING, lambda: self._model.choose(prompt, letters))

    async def _generate(self, prompt: Sequence[Message], options: GenerateOptions) -> Reply:
        """The answer of the file, or of the model."""

        async def answer() -> Reply:
            return await self._model._generate(prompt, options)

        if not self._keeps:
            return await answer()
        asked: dict[str, JsonValue] = {
            "generate": options.max_tokens,
            "seed": options.seed if self.samples else None,
            "n": options.n,
            "tools": [dict(tool) for tool in options.tools],
            "schema": None if options.schema is None else dict(options.schema),
        }
        if not options.call_tools:
            asked["call_tools"] = False
        return await self._ask(prompt, asked, _REPLY, answer)

    def count_earlier(self, calls: Iterable[Call]) -> None:
        """Hear what the run has asked before."""
        self._model.count_earlier(calls)

    async def close(self) -> None:
        """Let go of the file and of the model."""
        self._file.close()
        await self._model.close()

    async def _ask(
        self,
        prompt: Sequence[Message],
        asked: Mapping[str, JsonValue],
        kind: TypeAdapter[T],
        ask: Callable[[], Awaitable[T]],
    ) -> T:
        messages = tuple(message.record() for message in prompt)
        question = self._question(messages, asked)
        if (known := self._find(question)) is not None:
            found = self._read(known, kind)
            unpaid = replace(found.call, messages=messages, cached=True, tokens_in=0, tokens_out=0)
            return replace(found, call=replace(unpaid, tokens_kept=0, seconds=0.0, requests=1))
        answer = await ask()
        # What was asked need not be kept: whoever finds the answer has just asked it.
        kept = replace(answer, call=replace(answer.call, messages=()))
        # It may have shown only now that it samples.
        if self._keeps or isinstance(answer, Ranking):
            self._keep(question, json.dumps(asdict(kept)))
        return answer

    def _question(
        self, messages: Sequence[Mapping[str, JsonValue]], asked: Mapping[str, JsonValue]
    ) -> str:
        whole = [self.name, dict(self.details), [dict(m) for m in messages], dict(asked)]
        text = json.dumps(whole, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def _find(self, question: str) -> str | None:
        try:
            row = self._file.execute(
                "SELECT answer FROM answers WHERE question = ?", (question,)
            ).fetchone()
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        return None if row is None else str(row[0])

    def _read(self, answer: str, kind: TypeAdapter[T]) -> T:
        try:
            return kind.validate_python(json.loads(answer))
        except ValueError as error:
            raise self._unusable("it holds an answer that can't be read") from error

    def _keep(self, question: str, answer: str) -> None:
        try:
            with self._file:
                self._file.execute(
                    "INSERT OR REPLACE INTO answers VALUES (?, ?)", (question, answer)
                )
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def _unusable(self, why: object) -> ModelError:
        return ModelError(
            f"The cache {str(self._path)!r} can't be used: {why}. Name another file, or leave "
            "--set cache out."
        )
