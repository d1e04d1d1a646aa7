"""Starts vLLM in this process with a model, and asks it.

Candidates are scored at the nodes of their trie, as behind a server of vLLM
(`agents/models/endpoints/node_requests.py`): the prompt with a node after it is asked for one more
token, and for the log-probabilities of the tokens that go on from there. vLLM's prefix cache holds
the prompt, and the nodes of all episodes that ask meanwhile go into one call.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import transformers
import vllm
from vllm import SamplingParams
from vllm.sampling_params import BeamSearchParams, StructuredOutputsParams

from inhabit.agents.core import Call, ModelError, Ranked
from inhabit.agents.models.beam_search import BeamRules
from inhabit.agents.models.core import Ability, GenerateOptions, Message, Model, Ranking, Reply
from inhabit.agents.models.endpoints.node_requests import TOKENS
from inhabit.agents.models.endpoints.scoring import TrieScores
from inhabit.agents.models.local.encoder import Encoder
from inhabit.agents.models.local.folder import OpenedFolder
from inhabit.agents.models.local.loading import downloaded, encoder_of, sees
from inhabit.agents.models.local.micro_batcher import MicroBatcher
from inhabit.agents.models.trie import Trie
from inhabit.agents.models.vllm.settings import VLLMSettings
from inhabit.envs.entries import faults_as, message

Node = tuple[tuple[int, ...], Sequence[int]]
"""Tokens after a prompt, and the tokens that may follow them."""


@dataclass(frozen=True, slots=True, eq=False)
class _Prompt:
    """A prompt as vLLM takes it: an image is one token of `ids`."""

    ids: tuple[int, ...]
    images: Mapping[str, Any]

    def then(self, more: Sequence[int]) -> dict[str, Any]:
        return {"prompt_token_ids": [*self.ids, *more], **self.images}


_Question = Sequence[tuple[dict[str, Any], SamplingParams]]


class VLLMModel(Model):
    """Asks the engine in one thread; questions of several episodes go into one call."""

    def __init__(
        self, engine: Any, encoder: Encoder, *, name: str, images: bool, settings: VLLMSettings
    ) -> None:
        """Use `engine`, a `vllm.LLM`, and the `encoder` of its model."""
        self.name = name
        self.samples = settings.temperature is not None
        self.details = {
            "dtype": str(engine.model_config.dtype).split(".")[-1],
            "tensor_parallel": settings.tensor_parallel,
        }
        abilities = {Ability.RANK, Ability.BEAM, Ability.WORDS, Ability.N_BEST, Ability.SCHEMA}
        self.abilities = frozenset(abilities | ({Ability.IMAGES} if images else set()))
        self._engine = engine
        self._encoder = encoder
        self._settings = settings
        self._batcher = MicroBatcher(batch_size=settings.batch, name=name)

    async def rank(self, prompt: Sequence[Message], candidates: Sequence[str]) -> Ranking:
        """Exact scores, as `agents/models/local/node_logits.py` defines them."""
        return await self._scored(prompt, candidates, TrieScores.rank)

    async def _beam(
        self, prompt: Sequence[Message], candidates: Sequence[str], rules: BeamRules
    ) -> Ranking:
        """The best by `agents/models/beam_search.py`: a call for each token."""
        return await self._scored(
            prompt, candidates, lambda found: found.beam(rules), end=rules.end
        )

    async def whole(self, prompt: Sequence[Message], text: str) -> float:
        """The log-probability of a whole text, in nats, which the prefix cache has no part in."""
        path = self._encoder.candidate(text)
        asked = SamplingParams(max_tokens=1, temperature=0.0, prompt_logprobs=0, detokenize=False)
        question = [(self._prompt(prompt).then(path), asked)]
        (output,) = await self._batcher.ask(question, self._complete)
        places = output.prompt_logprobs[-len(path) :]
        pairs = zip(places, path, strict=True)
        return sum(float(place[token].logprob) for place, token in pairs)

    async def close(self) -> None:
        """End the thread; the memory is freed with the last reference."""
        self._batcher.close()

    async def _scored(
        self,
        prompt: Sequence[Message],
        candidates: Sequence[str],
        search: Callable[[TrieScores], Awaitable[tuple[Ranked, ...]]],
        *,
        end: bool = False,
    ) -> Ranking:
        begin = time.perf_counter()
        paths = [self._encoder.candidate(text) for text in candidates]
        if not all(paths):
            raise ModelError("An empty text can't be ranked.")
        last = (self._encoder.end,) if end else ()
        encoded, outputs = self._prompt(prompt), list[Any]()

        async def ask(nodes: Sequence[Node]) -> Sequence[Sequence[float]]:
            asked = [(encoded.then(path), _next_token(tokens)) for path, tokens in nodes]
            outputs.extend(came := await self._batcher.ask(asked, self._complete))
            return [_likely(one, node[1]) for one, node in zip(came, nodes, strict=True)]

        found = await search(_NodeScores(candidates, Trie.pack([(*p, *last) for p in paths]), ask))
        return Ranking(found, _call(prompt, (), outputs, begin))

    async def _generate(self, prompt: Sequence[Message], options: GenerateOptions) -> Reply:
        """Generate by the settings: greedily, whatever the seed, or sampled from a temperature.

        Without a temperature, several replies are the best of a beam search of that width, by
        log-probability.
        """
        begin = time.perf_counter()
        encoded = self._prompt(prompt).then(())
        limit = options.max_tokens or self._settings.max_tokens
        held = StructuredOutputsParams(json=dict(options.schema)) if options.schema else None
        if options.n > 1 and not self.samples:
            rules = BeamSearchParams(options.n, limit, length_penalty=0.0, structured_outputs=held)
            (found,) = await self._batcher.ask([(encoded, rules)], self._search)
            lengths = [len(one.logprobs) for one in found.sequences]
            said = [one.tokens[-n:] for one, n in zip(found.sequences, lengths, strict=True)]
            texts = [self._encoder.words(tokens) for tokens in said]
            sums = [one.cum_logprob for one in found.sequences]
            read = len(found.sequences[0].tokens) - lengths[0]
            call = _call(prompt, texts, (), begin, read=read, written=sum(lengths))
            scores = tuple(map(Ranked, texts, sums, lengths))
            return Reply(tuple(texts), call, scores)
        sampling = SamplingParams(
            n=options.n,
            temperature=self._settings.temperature or 0.0,
            top_p=self._settings.top_p,
            top_k=self._settings.top_k,
            seed=options.seed if self.samples else None,
            max_tokens=limit,
            structured_outputs=held,
        )
        outputs = await self._batcher.ask([(encoded, sampling)], self._complete)
        if failed := [o for o in outputs[0].outputs if o.finish_reason not in ("stop", "length")]:
            raise ModelError(f"{self.name} ended a reply with {failed[0].finish_reason!r}.")
        texts = [one.text.strip() for one in outputs[0].outputs]
        call = _call(prompt, texts, outputs, begin)
        return Reply(tuple(texts), replace(call, finish=outputs[0].outputs[0].finish_reason))

    def _prompt(self, messages: Sequence[Message]) -> _Prompt:
        """A prompt of which each image is one token, which vLLM replaces by those of the image."""
        pictures = self._encoder.pictures(messages)
        if pictures and Ability.IMAGES not in self.abilities:
            raise ModelError("This model takes no images: run it with --sight none.")
        ids = self._encoder.ids(self._encoder.text(messages))
        # An image is known by its pixels: vLLM neither hashes nor encodes it again.
        names = [image.sha256 for message in messages for image in message.images]
        if not pictures:
            return _Prompt(ids, {})
        images = {"multi_modal_data": {"image": pictures}, "multi_modal_uuids": {"image": names}}
        return _Prompt(ids, images)

    def _failure(self, error: Exception) -> ModelError:
        return ModelError(f"{self.name} failed: {type(error).__name__}: {error}")

    def _complete(self, questions: Sequence[_Question]) -> list[Any]:
        """The outputs of each question: those of all in one call, if none spoils it."""
        prompts = [prompt for question in questions for prompt, _ in question]
        params = [param for question in questions for _, param in question]
        try:
            outputs = iter(self._engine.generate(prompts, params, use_tqdm=False))
        except Exception as error:  # noqa: BLE001 - the code of any architecture runs here
            if len(questions) == 1:
                return [self._failure(error)]
            return [found for one in questions for found in self._complete([one])]
        return [[next(outputs) for _ in question] for question in questions]

    def _search(self, questions: Sequence[Any]) -> list[Any]:
        """Beams of free text, question by question: they may have different widths."""
        try:
            return [self._engine.beam_search([q[0][0]], q[0][1]) for q in questions]
        except Exception as error:  # noqa: BLE001 - as above
            return [self._failure(error)] * len(questions)


class _NodeScores(TrieScores):
    """Scores that are asked for node by node."""

    def __init__(
        self,
        texts: Sequence[str],
        trie: Trie,
        ask: Callable[[Sequence[Node]], Awaitable[Sequence[Sequence[float]]]],
    ) -> None:
        super().__init__(texts, trie, {})
        self._ask = ask

    async def read(self, nodes: Iterable[int]) -> None:
        """Learn the edges of `nodes`, in one call."""
        parts = [
            (node, self.outgoing[node][i : i + TOKENS])
            for node in nodes
            if self.outgoing[node][0] not in self.likely
            for i in range(0, len(self.outgoing[node]), TOKENS)
        ]
        tokens = self.trie.edge_tokens
        asked = [(self.trie.path(node), [int(tokens[e]) for e in edges]) for node, edges in parts]
        for (_, edges), likely in zip(parts, await self._ask(asked), strict=True):
            self.likely |= zip(edges, likely, strict=True)


def _next_token(tokens: Sequence[int]) -> SamplingParams:
    return SamplingParams(
        max_tokens=1, temperature=0.0, detokenize=False, logprob_token_ids=list(tokens)
    )


def _likely(output: Any, tokens: Sequence[int]) -> list[float]:
    """The log-probabilities, in nats, of `tokens` as the next one."""
    (found,) = output.outputs[0].logprobs
    if missing := [token for token in tokens if token not in found]:
        raise ModelError(
            f"vLLM leaves out {len(missing)} of {len(tokens)} tokens that it was asked about: "
            "it knows logprob_token_ids from 0.19 on."
        )
    return [float(found[token].logprob) for token in tokens]


def _call(
    prompt: Sequence[Message],
    texts: Sequence[str],
    outputs: Sequence[Any],
    begin: float,
    *,
    read: int = 0,
    written: int = 0,
) -> Call:
    best, *others = texts or ("",)
    return Call(
        messages=tuple(message.record() for message in prompt),
        reply=best,
        tokens_in=read + sum(len(one.prompt_token_ids) for one in outputs),
        tokens_out=written + sum(len(o.token_ids) for one in outputs if texts for o in one.outputs),
        tokens_kept=sum(one.num_cached_tokens or 0 for one in outputs),
        seconds=time.perf_counter() - begin,
        others=tuple(others),
    )


_TEXTS = ("open the door_2", "stop")
_TOLERANCE = 0.75
"""Largest error of a score, in nats: the rounding of bfloat16 differs from one batch to another."""


def load(
    source: str, name: str, settings: VLLMSettings, *, weights: Callable[[], str | None]
) -> VLLMModel:
    """Start vLLM with the model at `source`, a folder or a name on a hub.

    `weights` tells what identifies the weights, once they are there.

    Raises:
        ModelError: there is none, vLLM can't run it, or its scores can't be trusted.
    """
    opened: OpenedFolder | None = None

    def failed(error: BaseException) -> ModelError:
        why = message(error).strip() or type(error).__name__
        return ModelError(f"{name} can't be loaded: {opened.named(why) if opened else why}")

    with faults_as(failed, ModelError):
        folder = Path(source) if Path(source).is_dir() else downloaded(source)
        opened = OpenedFolder(folder)
        config = transformers.AutoConfig.from_pretrained(opened.path, local_files_only=True)
        images = sees(config)
        limits = {"min_pixels": settings.min_pixels, "max_pixels": settings.max_pixels}
        encoder = encoder_of(opened, config, images, name, **limits)
        engine = vllm.LLM(str(opened.path), **_arguments(settings, images))
    model = VLLMModel(engine, encoder, name=name, images=images, settings=settings)
    # In a thread, because a loop may be running here.
    with ThreadPoolExecutor(1) as thread:
        apart = thread.submit(asyncio.run, _difference(model)).result()
    if not apart <= _TOLERANCE:
        raise ModelError(f"{name} scores nodes and whole candidates {apart:.2f} nat apart.")
    model.checked = f"in {model.details['dtype']} at most {apart:.1g} nat from whole candidates"
    model.details = {**model.details, "hash": weights(), "vllm": vllm.__version__}
    return model


def _arguments(settings: VLLMSettings, images: bool) -> dict[str, Any]:
    chosen: dict[str, Any] = {"max_model_len": settings.max_length, "block_size": settings.block}
    if images:
        chosen["limit_mm_per_prompt"] = {"image": settings.images}
    return {
        "dtype": settings.dtype,
        "tensor_parallel_size": settings.tensor_parallel,
        "gpu_memory_utilization": settings.memory,
        "enforce_eager": settings.eager,
        "enable_prefix_caching": True,
        "load_format": "safetensors",
        "trust_remote_code": False,
        "seed": 0,
        **{key: value for key, value in chosen.items() if value is not None},
    }


async def _difference(model: VLLMModel) -> float:
    """How far the scores of nodes are from those of whole candidates, in nats, at most."""
    asked = [Message("user", ("What now?",))]
    ranking = await model.rank(asked, _TEXTS)
    whole = [await model.whole(asked, text) for text in _TEXTS]
    pairs = zip(ranking.scores, whole, strict=True)
    return max(abs(one.logprob - exact) for one, exact in pairs)
