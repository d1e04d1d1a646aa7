"""Opens a model's folder as data: transformers reads a folder of our own, made from it.

A folder may come from anybody. Its files are linked or copied into a private one only if they are
regular and of a kind that transformers needs; settings lose what names code, files, hosts or other
models. So whatever transformers would do with such a name, it never sees one.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from math import isfinite, prod
from pathlib import Path
from typing import Any, TypeVar
from weakref import finalize

from pydantic import BaseModel, ValidationError

from inhabit.agents.core import ModelError
from inhabit.envs.entries import first_problem
from inhabit.envs.files import is_regular, read_whole
from inhabit.envs.host.process_group import ProcessGroup

T = TypeVar("T", bound=BaseModel)
_SETTINGS = 1 << 24
"""Bytes of a file of settings, at most."""
_VOCABULARY = 1 << 28
"""Bytes of a tokenizer's file, at most."""
_GROWTH = 256
"""How many times longer the replacements of a tokenizer may make a text."""
_PLAIN = (
    *(".json", ".safetensors", ".model", ".txt", ".spm", ".bpe", ".tiktoken"),
    "chat_template.jinja",
)
_PICKLES = (".bin", ".pt", ".pth")
_WEIGHTS = (".safetensors", *_PICKLES)
_OTHER_CODE = (
    "Its settings name Python code: --set model.trust_remote_code=true runs it, with your rights."
)
_OTHER_WEIGHTS = "Its weights are pickles: --set model.pickles=true reads them."
_WHOLE = ("tokenizer.json", "vocab.json")
_ADAPTER = ("adapter_config.json", "tuned.json")
_NAMES = re.compile(
    r"auto_map|name_or_path|_file$|implementation|kernel|pretrained|trust|custom|beam"
    r"|transformers_weights|audio_tokenizer|repo|url"
)
"""Settings that may name code, a file, a host or another model; lists and numbers name none."""
_COUNTS = re.compile(r"^(num|n)_\w*(layer|block|expert|label)|^depth$|^layers$")
_MOST = 1024
"""Layers of a network, experts of a layer, or classes."""
_GENERATION = re.compile(
    r"_token_ids?$|^(do_sample|temperature|top_p|top_k|min_p|typical_p|max_length|max_new_tokens"
    r"|(encoder_)?repetition_penalty|no_repeat_ngram_size|(begin_)?suppress_tokens|bad_words_ids"
    r"|use_cache|output_\w+|transformers_version|_from_model_config)$"
)
_BACKTRACKS = re.compile(r"\)[*+{]|([*+{].*){5}")
"""A regular expression that may take time without end."""


def read(file: Path) -> bytes | None:
    """The content of a file of settings in a model's folder; None if there is none.

    Raises:
        OSError: it is a link or no regular file, or too large.
    """
    if not os.path.lexists(file):
        return None
    return read_whole(*_regular(file), most=_SETTINGS)


def read_as(file: Path, kind: type[T]) -> T | None:
    """A file of settings in a model's folder as a model of pydantic; None if there is none.

    Raises:
        ModelError: it can't be read, or is none.
    """
    try:
        content = read(file)
        return None if content is None else kind.model_validate_json(content)
    except ValidationError as error:
        raise ModelError(f"{file} can't be read: {first_problem(error)}.") from error
    except OSError as error:
        raise ModelError(f"{file} can't be read: {error.strerror}.") from error


def _regular(file: Path) -> tuple[Path, Path]:
    """A regular file, and the folder that holds it.

    The cache of a hub keeps its files in a folder beside, and is the only one that may link.
    """
    blobs = file.parent.resolve().parent.parent / "blobs"
    held = file.resolve() if file.is_symlink() else file
    inside = blobs if held.parent == blobs else file.parent
    if not held.is_relative_to(inside) or not is_regular(held, inside):
        raise OSError(errno.ELOOP, f"{file.name!r} is a link or no regular file: put a file there")
    return held, inside


def wanted(code: bool, pickles: bool) -> tuple[str, ...]:
    """How the names of the files end that transformers reads."""
    return _PLAIN + (_PICKLES if pickles else ()) + ((".py",) if code else ())


class OpenedFolder:
    """A model's folder, as transformers may read it. It ends with this object or this process."""

    def __init__(self, folder: Path, *, code: bool = False, pickles: bool = False) -> None:
        """Open `folder`, with its Python `code` or its `pickles` only if they are asked for.

        Raises:
            ModelError: a file that is needed is a link or no regular file, or can't be read.
        """
        self._folder = folder
        private = ProcessGroup("inhabit-model-")
        finalize(self, private.close)
        # transformers names the modules of a model's code after its folder.
        plain = re.sub(r"\W", "_", folder.name, flags=re.ASCII)[:64]
        self.path = private.folder / (plain or "model")
        self.code: dict[str, str] = {}
        """The Python files and their digests; empty unless asked for."""
        self.refused: dict[str, None] = {}
        """What the folder has that was not asked for, and how to ask, in sentences."""
        self.weights = 0
        """Bytes of all weights."""
        self._code = code
        self._suffixes = wanted(code, pickles)
        try:
            self._open(folder, self.path)
            if (eyes := folder / "eyes").is_dir():
                if eyes.is_symlink():
                    raise ValueError("'eyes' is a link: put a folder there")
                self._open(eyes, self.path / "eyes")
        except (OSError, ValueError, RecursionError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ModelError(f"The model in {str(folder)!r} can't be read: {reason}.") from error

    def named(self, text: str) -> str:
        """`text`, such as an error's, with the name of the folder itself for the private one."""
        return text.replace(str(self.path), str(self._folder))

    def _open(self, folder: Path, target: Path) -> None:
        target.mkdir()
        for name in sorted(file.name for file in folder.iterdir()):
            if name in _ADAPTER or not name.endswith(self._suffixes):
                self.refused |= {_OTHER_WEIGHTS: None} if name.endswith(_PICKLES) else {}
                continue
            whole = name in _WHOLE or not name.endswith(".json")
            file, inside = _regular(folder / name)
            if whole:
                (target / name).symlink_to(file.absolute())
                self.weights += file.stat().st_size if name.endswith(_WEIGHTS) else 0
                if name == "tokenizer.json":
                    _check_normalizer(read_whole(file, inside, most=_VOCABULARY))
                if name.endswith(".py"):
                    content = read_whole(file, inside, most=_SETTINGS)
                    self.code[name] = f"sha256:{hashlib.sha256(content).hexdigest()}"
                continue
            try:
                said = json.loads(read_whole(file, inside, most=_SETTINGS))
                kept = self._harmless(name, said)
            except (OSError, ValueError, RecursionError) as error:
                raise ValueError(f"{name!r}: {error}") from error
            (target / name).write_text(json.dumps(kept), "utf-8")

    def _harmless(self, name: str, said: Any) -> Any:
        """Settings without names; an index may name files of its folder alone."""
        if not isinstance(said, dict):
            return said
        if name.endswith(".index.json"):
            outside = [one for one in said["weight_map"].values() if Path(str(one)).name != one]
            if outside:
                raise ValueError(f"it names weights in another folder, {outside[0]!r}")
            return said
        if name == "generation_config.json":
            return {key: value for key, value in said.items() if _GENERATION.search(key)}
        if isinstance(templates := said.get("chat_template"), list):
            named = {one["name"]: one["template"] for one in templates}
            said = {**said, "chat_template": named.get("default")}
        counts = dict(numbers(said)) if name == "config.json" else {}
        for key, value in counts.items():
            if _COUNTS.search(key) and value > _MOST:
                raise ValueError(f"{key} is {value}, and no model has so many")
        for text in _texts(said.get("quantization_config")):
            if _BACKTRACKS.search(text):
                raise ValueError(
                    f"its quantization_config has the regular expression {text[:80]!r}"
                )
        return self._nameless(said)

    def _nameless(self, said: Any) -> Any:
        if isinstance(said, list):
            return [self._nameless(one) for one in said]
        if not isinstance(said, dict):
            return said
        kept = {}
        for key, value in said.items():
            if key == "auto_map" and not self._code:
                self.refused[_OTHER_CODE] = None
            names = isinstance(value, str | dict) or value is True
            if not (names and _NAMES.search(key)) or (key == "auto_map" and self._code):
                kept[key] = self._nameless(value)
        return kept


def _check_normalizer(content: bytes) -> None:
    said = json.loads(content)
    growth = _growth(said.get("normalizer")) if isinstance(said, dict) else 1
    if growth > _GROWTH:
        raise ValueError(f"'tokenizer.json' makes texts up to {growth:,} times as long")


def _growth(said: Any) -> int:
    """A bound: each replacement may stand between all characters, and read those before it."""
    parts = said.values() if isinstance(said, dict) else said if isinstance(said, list) else ()
    texts = (said.get(key) for key in ("content", "prepend")) if isinstance(said, dict) else ()
    return prod(1 + len(text) for text in texts if isinstance(text, str)) * prod(
        map(_growth, parts)
    )


def numbers(said: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """The numbers of a configuration and of those in it, with their keys, as integers.

    Raises:
        ValueError: one is not finite.
    """
    for key, value in said.items():
        if isinstance(value, dict):
            yield from numbers(value)
        elif isinstance(value, list | tuple):
            for one in value:
                yield from numbers({key: one})
        elif isinstance(value, int | float):
            if isinstance(value, float) and not isfinite(value):
                raise ValueError(f"{key} is {value}, and must be finite")
            yield key, int(value)


def _texts(said: Any) -> Iterator[str]:
    if isinstance(said, str):
        yield said
    for one in said if isinstance(said, list) else ():
        yield from _texts(one)
    for key, one in said.items() if isinstance(said, Mapping) else ():
        yield key
        yield from _texts(one)
