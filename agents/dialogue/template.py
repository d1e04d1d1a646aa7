"""Prompt templates in Jinja's language, and a user's own in their place.

A template consists of blocks. A user's file may hold any of them; the others stay the package's.
It runs in Jinja's sandbox in a process of its own, sees plain texts alone, and reads no other file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from inhabit.agents.core import RequestError, Step
from inhabit.agents.dialogue.renderer import TemplateError, renderer
from inhabit.agents.dialogue.renderer_process import environment
from inhabit.envs.files import read_whole

_OURS = Path(__file__).parent / "templates"
_LARGEST = 1 << 20
"""Bytes of a user's file."""


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
        self._own, self._source = own, "" if own is None else _read(own)
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


def _read(own: Path) -> str:
    try:
        file = own.resolve()
        return read_whole(file, file.parent, most=_LARGEST).decode()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RequestError(
            f"The prompt {str(own)!r} can't be read: {reason}. `inhabit agents chat --prompt` "
            "prints one to begin with."
        ) from error
