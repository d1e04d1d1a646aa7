"""Prompt templates in Jinja's language, and a user's own in their place.

A template consists of blocks. A user's file may hold any of them; the others stay the package's.
It runs in Jinja's sandbox in a process of its own (`renderer_process.py`), sees plain texts alone,
and reads no other file. That process starts with the first such template and is kept. A prompt that
exceeds a bound ends it, and the next prompt starts another one.
"""

from __future__ import annotations

import json
import marshal
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Literal
from weakref import finalize

from inhabit.agents.core import ModelError, RequestError, Step
from inhabit.agents.dialogue.renderer_process import GRACE, LONGEST, SECONDS, environment
from inhabit.envs.files import read_whole
from inhabit.envs.host.credentials import without_credentials

Kind = Literal["prompt", "chat"]
"""Whether a template is one of this package's prompts, or a tokenizer's chat template."""
_PROGRAM = Path(__file__).with_name("renderer_process.py")
_LONGEST_ANSWER = 12 * LONGEST + 1024
"""Bytes of an answer, in which a character may take twelve."""


class TemplateError(ModelError):
    """A template is wrong, or exceeds a bound. Says where."""


@cache
def renderer() -> Renderer:
    """The renderer of this process."""
    return Renderer()


class Renderer:
    """Renders one text after another. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._end: finalize[..., Renderer] | None = None
        self._owner = 0

    def text(
        self, kind: Kind, source: str, values: Mapping[str, object], *, name: str, block: str = ""
    ) -> str:
        """The text of the template `source`, or of one of its blocks, with `values` filled in.

        Without a `block`, all of the template is rendered. `name` is for people.

        Raises:
            TemplateError: the template fails, or takes too much time, memory or text.
        """
        found = self._ask((kind, source, block, plain(dict(values))), name)
        if not isinstance(found, str) or len(found) > LONGEST:
            raise TemplateError(f"{name} has no text.")
        return found

    def blocks(self, source: str, *, name: str) -> Sequence[str]:
        """The names of the blocks of a prompt.

        Raises:
            TemplateError: as `text`.
        """
        return [str(one) for one in self._ask(("prompt", source, "", None), name)]

    def _ask(self, request: Any, name: str) -> Any:
        content = marshal.dumps(request)
        with self._lock:
            process = self._running()
            try:
                answer = _exchange(process, content)
            except BaseException as error:
                process.kill()
                status = process.wait()
                if not isinstance(error, OSError | ValueError):
                    raise
                raise TemplateError(f"{name} can't be written: {_why(status)}.") from error
        if "done" not in answer:
            line = f", line {answer['line']}," if answer.get("line") else ""
            raise TemplateError(f"{name}{line} can't be written: {answer.get('cause')}.")
        return answer["done"]

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None or self._owner != os.getpid():
            if self._end is not None:
                self._end.detach()  # It would keep the pipes of what has ended.
            self._owner = os.getpid()
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(_PROGRAM)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=without_credentials(),
                start_new_session=True,  # an interrupt is for this process alone
            )
            self._end = finalize(self, _end, self._process)
        return self._process


def _exchange(process: subprocess.Popen[bytes], content: bytes) -> Any:
    """The answer of the process. Its processor time is bounded, so that it answers or ends."""
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(struct.pack("<I", len(content)) + content)
    process.stdin.flush()
    size = process.stdout.read(4)
    length = struct.unpack("<I", size)[0] if len(size) == 4 else 0
    if not 0 < length <= _LONGEST_ANSWER:
        raise ValueError("no answer")
    return json.loads(process.stdout.read(length))


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def _why(status: int) -> str:
    if status == -signal.SIGPROF:
        return f"it takes more than {SECONDS + GRACE:g} s"
    return f"the process that renders it ended (status {status})"


def plain(value: Any) -> Any:
    """Texts, numbers, lists, dicts, and dataclasses as tuples that `renderer_process.py` reads.

    Raises:
        TypeError: it is anything else.
    """
    kind: Any = type(value)
    if kind in (str, int, float, bool) or value is None:
        return value
    if hasattr(kind, "__dataclass_fields__"):
        names = _names(kind)
        return (..., kind.__name__, names, _all(getattr(value, name) for name in names))
    if isinstance(value, Mapping):
        return {plain(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return _all(value) if isinstance(value, list) else tuple(_all(value))
    if isinstance(value, str):  # an enum's
        return str(value)
    raise TypeError(f"a template can't be given a {kind.__name__}")


def _all(values: Iterable[Any]) -> list[Any]:
    return [one if type(one) is str else plain(one) for one in values]


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


_OURS = Path(__file__).parent / "templates"
_LARGEST = 1 << 20
"""Bytes of a user's template file, at most."""


def told(step: Step) -> dict[str, str | None]:
    """A past step, as a template sees it: texts, and nothing that could be called."""
    reason = None if step.reason is None else step.reason.value
    return {"action": step.action, "reason": reason, "feedback": step.feedback}


class PromptTemplate:
    """A template of `agents/dialogue/templates`, in blocks. Untrusted text goes in as values."""

    def __init__(self, name: str, own: Path | None = None) -> None:
        """Read the template `name`; blocks that the file `own` holds are taken from there.

        Raises:
            RequestError: `own` can't be read, or is no template.
        """
        self._template = environment("prompt").from_string(source(name))
        self._own, self._source = own, "" if own is None else read_own(own)
        self._theirs = frozenset() if own is None else frozenset(_blocks(own, self._source))

    def block(self, name: str, **values: object) -> str:
        """One block, with `values` filled in.

        Raises:
            TemplateError: a user's block is wrong, or takes too much time or memory.
        """
        if name not in self._theirs:
            context = self._template.new_context(values)
            return "".join(self._template.blocks[name](context)).strip()
        where = f"The block {name!r} of the prompt {str(self._own)!r}"
        try:
            return renderer().text("prompt", self._source, values, name=where, block=name)
        except TemplateError as error:
            may = ", ".join(sorted(values)) or "no value"
            raise TemplateError(f"{error} It may use: {may}.") from error


def _blocks(own: Path, text: str) -> Sequence[str]:
    """The blocks of a user's template."""
    name = f"The prompt {str(own)!r}"
    try:
        found = renderer().blocks(text, name=name)
    except TemplateError as error:
        raise RequestError(str(error)) from error
    known = block_names()
    unknown = sorted(set(found) - known)
    if found and not unknown:
        return found
    has = f"a block {unknown[0]!r}, which is unknown" if unknown else "no block"
    raise RequestError(
        f"{name} has {has}; blocks are: {', '.join(sorted(known))}. `inhabit agents chat --prompt` "
        "prints a prompt to begin with."
    )


def source(name: str) -> str:
    """The text of the package's template `name`."""
    return (_OURS / f"{name}.jinja").read_text(encoding="utf-8")


def block_names() -> frozenset[str]:
    """The blocks of all templates of the package."""
    jinja = environment("prompt")
    templates = (jinja.from_string(file.read_text(encoding="utf-8")) for file in _OURS.iterdir())
    return frozenset(name for template in templates for name in template.blocks)


def read_own(own: Path) -> str:
    """The text of a user's template file.

    Raises:
        RequestError: it can't be read.
    """
    try:
        file = own.resolve()
        return read_whole(file, file.parent, most=_LARGEST).decode()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RequestError(
            f"The prompt {str(own)!r} can't be read: {reason}. `inhabit agents chat --prompt` "
            "prints one to begin with."
        ) from error
