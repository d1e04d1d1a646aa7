"""Renders templates, one request after another: the program that `template.py` starts.

It is run as a file and imports nothing of this package, so that it starts fast. A template may loop
or grow without end, also in a single operation that no Python code can interrupt. So this process
limits itself, and is ended where it exceeds a limit.
"""

from __future__ import annotations

import json
import marshal
import resource
import signal
import struct
import sys
from collections.abc import Iterable, Mapping
from dataclasses import make_dataclass
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

import jinja2
from jinja2 import ext, nodes
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

SECONDS = 1.0
"""Processor time of one request, before the template is interrupted and its line is told."""
GRACE = 1.0
"""Further seconds of processor time, before the process is ended."""
MEMORY = 1 << 29
"""Bytes of address space of the process, at most."""
LONGEST = 1 << 22
"""Characters of a rendered text, at most."""


def main() -> None:
    """Answer requests until there are none, each with its length before it.

    A request is a marshalled pair from the parent process, which is trusted. An answer is JSON.
    """
    source, target = sys.stdin.buffer, sys.stdout.buffer
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    signal.signal(signal.SIGVTALRM, _interrupt)
    while size := source.read(4):
        request = marshal.loads(source.read(struct.unpack("<I", size)[0]))
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        signal.setitimer(signal.ITIMER_PROF, SECONDS + GRACE)  # its signal ends the process
        try:
            answer: Mapping[str, object] = {"done": _answer(*request)}
        except Exception as error:  # noqa: BLE001 - a template may raise anything
            answer = _fault(error)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        content = json.dumps(answer).encode()
        target.write(struct.pack("<I", len(content)) + content)
        target.flush()


def environment(kind: str) -> jinja2.Environment:
    """The sandbox of templates: of "prompt", this package's; or of "chat", that of transformers."""
    chat = kind == "chat"
    jinja = ImmutableSandboxedEnvironment(
        undefined=jinja2.Undefined if chat else jinja2.StrictUndefined,
        autoescape=False,  # prompts are plain text, never markup
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[_Generation, ext.loopcontrols] if chat else [],
    )
    if chat:
        jinja.filters["tojson"] = _to_json
        jinja.globals |= {"raise_exception": _raise, "strftime_now": _now}
    else:
        jinja.filters["line"] = _line
    return jinja


def _answer(kind: str, source: str, block: str | None, values: Any) -> object:
    """The rendered text; or the names of all blocks, without values."""
    template = _compiled(kind, source)
    if values is None:
        return sorted(template.blocks)
    context = template.new_context(_revived(values))
    parts, length = [], 0
    for part in (template.blocks[block] if block else template.root_render_func)(context):
        length += len(part)
        if length > LONGEST:
            raise OverflowError(f"its text has more than {LONGEST:,} characters")
        parts.append(part)
    text = "".join(parts)
    return text.strip() if block else text


@lru_cache(maxsize=64)
def _compiled(kind: str, source: str) -> jinja2.Template:
    return environment(kind).from_string(source)


def _fault(error: Exception) -> Mapping[str, object]:
    line = getattr(error, "lineno", None)
    trace = error.__traceback__
    while trace is not None:
        template = trace.tb_frame.f_globals.get("__jinja_template__")
        if template is not None:
            line = template.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    causes: dict[type, str] = {
        MemoryError: f"it takes more than {MEMORY >> 20} MiB of memory",
        RecursionError: "it is nested too deeply, or calls itself without end",
        TimeoutError: f"it takes more than {SECONDS:g} s",
    }
    cause = causes.get(type(error)) or str(error)[:500] or type(error).__name__
    return {"cause": cause.rstrip("."), "line": line}


def _revived(value: Any) -> Any:
    """Data as it was before `renderer.plain`."""
    if isinstance(value, dict):
        return {key: _revived(one) for key, one in value.items()}
    if isinstance(value, tuple) and value and value[0] is ...:
        _, name, fields, items = value
        return _kind(name, fields)(*_all(items))
    return type(value)(_all(value)) if isinstance(value, list | tuple) else value


def _all(values: Iterable[Any]) -> list[Any]:
    return [one if type(one) is str else _revived(one) for one in values]


@cache
def _kind(name: str, fields: tuple[str, ...]) -> type:
    return make_dataclass(name, fields)


class _Generation(ext.Extension):
    """Writes what stands in `{% generation %}`, with which chat templates mark replies."""

    tags = {"generation"}  # noqa: RUF012 - as Jinja declares it

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_same"), [], [], body).set_lineno(line)

    def _same(self, caller: Any) -> Any:
        return caller()


def _interrupt(number: int, frame: object) -> None:
    raise TimeoutError


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: Any = None,
    separators: Any = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _raise(message: str) -> None:
    raise jinja2.TemplateError(message)


def _now(form: str) -> str:
    return datetime.now().strftime(form)


def _line(text: str) -> str:
    """Put a text on one line, so that untrusted text can't imitate a line of the prompt."""
    return " ".join(text.split())


if __name__ == "__main__":
    main()
