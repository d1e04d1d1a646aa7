"""A server that answers as vLLM does, for a language whose true scores are known."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from inhabit.agents.models.core import Image, Message
from tests.agents.models.endpoints.endpoint import Answer, completion, endpoint, error

Json = dict[str, Any]
Lie = Callable[[Json, Json], Json | Answer]
"""(request, true answer) -> what is answered instead."""
_WORDS = re.compile(r"</?turn>|<image:\w+>| ?un(?=\w)| ?u|n|_\d+| ?[^\s_<]+|\s|.", re.S)
_SIZE = 1024
TEXT, CHAT, BATCH = "/v1/completions", "/v1/chat/completions", "/v1/chat/completions/batch"


class ToyVLLM:
    """Its tokens are words. "un" is a token before other letters, and two tokens alone."""

    def __init__(self, lies: Mapping[str, Lie] | None = None, busy: int = 0) -> None:
        """Answer by path as `lies` say, and honestly elsewhere; every `busy`th request with 429."""
        self.lies: dict[str, Lie] = dict(lies or {})
        self.held: set[str] = set()
        """Names of images whose pixels were sent."""
        self.pixels = 0
        """How many images were sent with their pixels."""
        self.computed: list[tuple[str, int]] = []
        """Path and number of prompts of each paid request."""
        self.refused = 0
        """How many requests were answered with 429."""
        self._busy = busy
        self._asked = itertools.count(1)
        self._ids: dict[str, int] = {}

    def serving(self) -> AbstractContextManager[Any]:
        others = {path: self._brain(path) for path in (TEXT, BATCH, "/tokenize", "/detokenize")}
        return endpoint(self._brain(CHAT), others)

    def ids(self, text: str) -> list[int]:
        return [self._ids.setdefault(word, len(self._ids)) for word in _WORDS.findall(text)]

    def logprobs(self, ids: Sequence[int]) -> np.ndarray[Any, Any]:
        """Of every token after `ids`."""
        seed = hashlib.sha256(repr(list(map(int, ids))).encode()).digest()[:8]
        logits = np.random.default_rng(int.from_bytes(seed)).normal(0, 2, _SIZE)
        return logits - np.logaddexp.reduce(logits)

    def truth(self, prompt: Sequence[Message], texts: Sequence[str]) -> list[float]:
        """The score of each text by its definition."""
        turns = [
            {
                "role": message.role,
                "content": "".join(
                    part if isinstance(part, str) else f"<image:{part.sha256}>"
                    for part in message.parts
                ),
            }
            for message in prompt
        ]
        before = self.ids(self._render(turns) + "<turn>assistant\n")
        paths = [self.ids(text) for text in texts]
        found = []
        for path in paths:
            total = sum(self.logprobs([*before, *path[:i]])[token] for i, token in enumerate(path))
            longer = {p[len(path)] for p in paths if p[: len(path)] == path and p != path}
            after = self.logprobs([*before, *path])
            found.append(float(total + math.log1p(-sum(math.exp(after[t]) for t in longer))))
        return found

    def _brain(self, path: str) -> Callable[[Json, int], Answer]:
        answers = {
            TEXT: self._complete,
            CHAT: self._chat,
            BATCH: self.batch,
            "/tokenize": lambda request: {"tokens": self._prompt(request["messages"], request)},
            "/detokenize": self._detokenize,
        }

        def brain(request: Json, number: int) -> Answer:
            if self._busy and next(self._asked) % self._busy == 0:
                self.refused += 1
                return error(429, "slow down", Retry_After="0")
            found = answers[path](request)
            if isinstance(found, dict) and path in self.lies:
                found = self.lies[path](request, found)
            return found if isinstance(found, Answer) else Answer(json.dumps(found).encode())

        return brain

    def _detokenize(self, request: Json) -> Json:
        words = {id: word for word, id in self._ids.items()}
        return {"prompt": "".join(words[id] for id in request["tokens"])}

    def _render(self, turns: Sequence[Json]) -> str:
        return "".join(f"<turn>{t['role']}\n{self._content(t['content'])}</turn>\n" for t in turns)

    def _content(self, content: Any) -> str:
        if isinstance(content, str):
            return content
        return "".join(
            part["text"] if part["type"] == "text" else f"<image:{self._seen(part)}>"
            for part in content
        )

    def _seen(self, part: Json) -> str:
        """What the model sees: the pixels, or what it holds by the name."""
        if part["image_url"] is None:
            return str(part["uuid"])
        import base64
        import io

        from PIL import Image as Picture

        url = part["image_url"]["url"].partition(",")[2]
        rgb = np.asarray(Picture.open(io.BytesIO(base64.b64decode(url))))
        self.held.add(part.get("uuid", ""))
        self.pixels += 1
        return Image(rgb).sha256

    def _prompt(self, turns: Sequence[Json], request: Json) -> list[int]:
        if not request["continue_final_message"]:
            return self.ids(self._render(turns))
        last = turns[-1]
        return self.ids(
            self._render(turns[:-1]) + f"<turn>{last['role']}\n{self._content(last['content'])}"
        )

    def _complete(self, request: Json) -> Json:
        choices = [
            {
                "index": i,
                "text": "",
                "logprobs": {
                    "top_logprobs": [
                        {f"token_id:{t}": p for t, p in self._scores(request, prompt).items()}
                    ]
                },
            }
            for i, prompt in enumerate(request["prompt"])
        ]
        return self._paid(TEXT, choices, sum(map(len, request["prompt"])))

    def batch(self, request: Json) -> Json | Answer:
        """The honest answer of /v1/chat/completions/batch."""
        missing = [
            part["uuid"]
            for chat in request["messages"][:1]
            for turn in chat
            if isinstance(turn["content"], list)
            for part in turn["content"]
            if part["type"] == "image_url" and part["image_url"] is None
        ]
        if set(missing) - self.held:
            return error(400, "Cache miss for image at index 0 but data is not provided.")
        prompts = [self._prompt(chat, request) for chat in request["messages"]]
        choices = [
            {
                "index": i,
                "message": {"role": "assistant", "content": ""},
                "logprobs": {
                    "content": [
                        {
                            "token": "x",
                            "logprob": -1.0,
                            "top_logprobs": [
                                {"token": f"token_id:{t}", "logprob": p}
                                for t, p in self._scores(request, prompt).items()
                            ],
                        }
                    ]
                },
            }
            for i, prompt in enumerate(prompts)
        ]
        return self._paid(BATCH, choices, sum(map(len, prompts)))

    def _scores(self, request: Json, prompt: Sequence[int]) -> dict[int, float]:
        assert len(request["logprob_token_ids"]) <= 128
        assert request["return_tokens_as_token_ids"]
        assert request["logprobs"]
        assert request["max_tokens"] == 1
        after = self.logprobs(prompt)
        return {token: float(after[token]) for token in request["logprob_token_ids"]}

    def _chat(self, request: Json) -> Json:
        if "prompt_logprobs" not in request:
            return completion("yes")
        assert request["prompt_logprobs"] == 0
        prompt = self._prompt(request["messages"], request)
        words = {id: word for word, id in self._ids.items()}
        places: list[Any] = [None]
        for i, token in enumerate(prompt[1:], start=1):
            logprob = float(self.logprobs(prompt[:i])[token])
            places.append({str(token): {"logprob": logprob, "decoded_token": words[token]}})
        choices = [{"index": 0, "message": {"role": "assistant", "content": "x"}}]
        return self._paid(CHAT, choices, len(prompt)) | {"prompt_logprobs": places}

    def _paid(self, path: str, choices: Sequence[Json], tokens: int) -> Json:
        self.computed.append((path, len(choices)))
        usage = {"prompt_tokens": tokens, "completion_tokens": len(choices)}
        return {"choices": list(choices), "usage": usage, "model": "toy"}
