"""Tools for models without native tool calls: described as Python, and parsed from replies.

A call counts only if it is a Python statement. It is parsed as a syntax tree, never evaluated.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from inhabit.agents.models.core import ToolCall

Tool = Mapping[str, JsonValue]
"""A function's name, description and JSON schema, as `inhabit.envs.core.Tools.tools` has them."""

_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "array": "list"}
_FENCED = re.compile(r"```[a-zA-Z]*\n(.*?)```", re.DOTALL)
_ALL = 20_000
"""Limit of characters of a reply that are parsed."""
_LONGEST = 2000
"""Limit of characters of a line, or of a fenced block, that may be a call."""


def stub(tool: Tool) -> str:
    """The function as a Python stub with a docstring, as the papers' prompts have it."""
    given = ", ".join(f"{name}: {_type(schema)}" for name, schema in _parameters(tool).items())
    said = " ".join(str(tool.get("description", "")).split())
    return f'def {tool["name"]}({given}):\n    """{said}"""'


def takes_no_arguments(tool: Tool) -> bool:
    """Whether the function can be called without arguments."""
    return not _required(tool)


def find_calls(text: str, tools: Sequence[Tool]) -> tuple[ToolCall, ...]:
    """The calls of `tools` that are statements of their own in `text`: those of fenced code first.

    Mentioning a function does not call it, and neither does a call inside other code or prose; the
    result may be assigned, as in `seen = object_detection()`.
    """
    names = {str(tool["name"]): tuple(_parameters(tool)) for tool in tools}
    found = [
        (node.func.id, arguments)
        for piece in _pieces(text[:_ALL])
        for node in _calls(piece)
        if isinstance(node.func, ast.Name)
        and node.func.id in names
        and (arguments := _arguments(node, names[node.func.id])) is not None
    ]
    return tuple(ToolCall(f"call-{i}", name, text) for i, (name, text) in enumerate(found))


def legal(call: ToolCall, tools: Sequence[Tool]) -> Mapping[str, JsonValue] | str:
    """The arguments of `call` if it is valid; otherwise what is wrong with it, for the model."""
    tool = next((t for t in tools if t["name"] == call.name), None)
    if tool is None:
        names = ", ".join(str(t["name"]) for t in tools)
        return f"There is no such function. There are: {names}."
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return "The arguments are no JSON."
    known = _parameters(tool)
    if not isinstance(arguments, dict):
        return "The arguments are no JSON object."
    if strange := sorted(set(arguments) - set(known)):
        return (
            f"There is no argument {', '.join(strange)}; there are: {', '.join(known) or 'none'}."
        )
    if lacking := sorted(set(_required(tool)) - set(arguments)):
        return f"The argument {', '.join(lacking)} is missing."
    for name, value in arguments.items():
        if not _fits(value, known[name]):
            return f"The argument {name} is no {_type(known[name])}."
    return arguments


def _pieces(text: str) -> Iterator[str]:
    """The fenced code blocks, then every other line."""
    yield from _FENCED.findall(text)
    for line in _FENCED.sub("\n", text).splitlines():
        yield line.strip(" \t`>*-")


def _calls(piece: str) -> Iterator[ast.Call]:
    """The statements of `piece` that are calls, if it is Python."""
    if "(" not in piece or len(piece) > _LONGEST:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about how a model writes its strings
            statements = ast.parse(piece).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for statement in statements:
        if isinstance(statement, ast.Expr | ast.Assign) and isinstance(statement.value, ast.Call):
            yield statement.value


def _arguments(node: ast.Call, parameters: Sequence[str]) -> str | None:
    """The arguments as JSON; None if they are not literals."""
    if len(node.args) > len(parameters) or any(k.arg is None for k in node.keywords):
        return None
    given = dict(zip(parameters, node.args, strict=False))
    given |= {k.arg: k.value for k in node.keywords if k.arg is not None}
    try:
        return json.dumps({name: ast.literal_eval(value) for name, value in given.items()})
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def _parameters(tool: Tool) -> Mapping[str, JsonValue]:
    schema = tool.get("parameters")
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return properties if isinstance(properties, Mapping) else {}


def _required(tool: Tool) -> Sequence[str]:
    schema = tool.get("parameters")
    required = schema.get("required") if isinstance(schema, Mapping) else None
    return [str(name) for name in required] if isinstance(required, list) else []


def _type(schema: JsonValue) -> str:
    named = schema.get("type") if isinstance(schema, Mapping) else None
    return _TYPES.get(str(named), "object")


def _fits(value: JsonValue, schema: JsonValue) -> bool:
    """Whether an argument has its type; an integer is a number, too."""
    kind = type(value).__name__
    return _type(schema) in ("object", kind, {"int": "float"}.get(kind))
