"""What import-linter does not see: names in strings, words, and loading that goes in circles."""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import networkx as nx

LAYERS = ("envs", "agents", "episodes", "eie")
"""A package may name itself and those before it. The rest of `inhabit/` is on top."""
SEALED = "inhabit.agents.alfred_specialist"
ITS_WORDS = re.compile(
    r"alfred_specialist|\b(microwave|faucet|lamp|knife|potato|skills?|rankers?)\b", re.I
)
"""What only the sealed folder and environments speak of."""
_LAZY = re.compile(r"inhabit(\.\w+)+:\w+")
"""A string that names a function as "module:attribute"."""


@dataclass(frozen=True)
class Import:
    """One import of a module of this project."""

    target: str
    line: int
    at_load: bool
    """Whether it is executed when the module is loaded, rather than in a call or for types."""
    lazy: bool
    """Whether it is a string, as registrations name what is imported when it is called."""


@dataclass(frozen=True)
class Module:
    """One source file of the project."""

    name: str
    """Dotted, such as "inhabit.agents.core"."""
    file: Path

    @cached_property
    def nodes(self) -> Sequence[tuple[ast.AST, bool]]:
        """Imports, constants and calls, and whether loading the module executes them."""
        tree = ast.parse(self.file.read_text(encoding="utf-8"), str(self.file))
        found: list[tuple[ast.AST, bool]] = []
        ahead: deque[tuple[ast.AST, bool]] = deque([(tree, True)])
        while ahead:
            node, at_load = ahead.popleft()
            if isinstance(node, ast.Import | ast.ImportFrom | ast.Constant | ast.Call):
                found.append((node, at_load))
            at_load = at_load and not _is_called_later(node)
            # `ast.iter_child_nodes`, which takes three times as long.
            for value in node.__dict__.values():
                if isinstance(value, list):
                    ahead.extend((one, at_load) for one in value if isinstance(one, ast.AST))
                elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                    ahead.append((value, at_load))
        return found

    @property
    def layer(self) -> int:
        """Its place in `LAYERS`; then comes the rest of `inhabit/`, and then what is sealed."""
        if self.name.startswith(SEALED):
            return len(LAYERS) + 1
        part = self.name.split(".")[1:2]
        return LAYERS.index(part[0]) if part and part[0] in LAYERS else len(LAYERS)

    @property
    def package(self) -> str:
        return self.name if self.file.name == "__init__.py" else self.name.rpartition(".")[0]


def modules(root: Path) -> Mapping[str, Module]:
    """Every module below `root`, by its dotted name."""
    found = {}
    for top in LAYERS:
        for file in sorted((root / top).rglob("*.py")):
            parts = ["inhabit", *file.relative_to(root).with_suffix("").parts]
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    for file in sorted((root / "inhabit").rglob("*.py")):
        parts = list(file.relative_to(root).with_suffix("").parts)
        if parts[1] not in LAYERS:  # those are links to the packages
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return {name: Module(name, file) for name, file in found.items()}


def imports(module: Module, known: Collection[str]) -> Iterator[Import]:
    """The imports of `module` among `known`, those inside functions and in strings included."""
    for node, at_load in module.nodes:
        for target in _targets(node):
            while target not in known and "." in target:
                target = target.rpartition(".")[0]
            if target in known:
                lazy = isinstance(node, ast.Constant)
                yield Import(target, getattr(node, "lineno", 0), at_load and not lazy, lazy)


def _is_called_later(node: ast.AST) -> bool:
    """Whether loading the module does not execute what is in `node`."""
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.dump(node.test)
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def _targets(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        # `import inhabit` alone is how a module finds the folder of the package.
        names = [alias.name for alias in node.names if alias.name != "inhabit"]
    elif isinstance(node, ast.ImportFrom):
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        names = [node.value.replace(":", ".")] if _LAZY.fullmatch(node.value) else []
    else:
        names = []
    yield from (name for name in names if name.split(".")[0] == "inhabit")


def named_outside(tree: Mapping[str, Module]) -> list[str]:
    """Strings that name a module of a package above or of `envs`, "module:line target" each."""
    return [
        f"{module.name}:{one.line} {one.target}"
        for module in tree.values()
        for one in imports(module, tree)
        if one.lazy
        and (
            tree[one.target].layer > module.layer
            or tree[one.target].layer == 0 < module.layer < len(LAYERS)
        )
    ]


def circles(tree: Mapping[str, Module]) -> list[Sequence[str]]:
    """Groups of modules whose loading imports one another.

    Importing a.b.c executes a and a.b as well. A package that imports its own submodules is no
    circle, as long as these do not import a name from the package itself.
    """
    graph: nx.DiGraph[str] = nx.DiGraph()
    for module in tree.values():
        graph.add_edges_from(
            (module.name, one.target) for one in imports(module, tree) if one.at_load
        )
    loops = [sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1]
    return sorted([*loops, *([name] for name in nx.nodes_with_selfloops(graph))])


def words_of_the_sealed(tree: Mapping[str, Module], free: Collection[str] = ()) -> list[str]:
    """Words of the sealed folder in other modules of agents and in eie/tuning, but for `free`."""
    return [
        f"{name}:{number} {found[0]!r}"
        for name, module in tree.items()
        if name.startswith(("inhabit.agents", "inhabit.eie.tuning"))
        and not name.startswith(SEALED)
        and name not in free
        for number, line in enumerate(module.file.read_text(encoding="utf-8").splitlines(), 1)
        if (found := ITS_WORDS.search(line)) is not None
    ]


def named_environments(tree: Mapping[str, Module], names: Collection[str]) -> list[str]:
    """Strings outside docstrings in agents, episodes and eie that are an environment's name."""
    return [
        f"{module.name}:{node.lineno} {node.value!r}"
        for module in tree.values()
        if 0 < module.layer < len(LAYERS)
        for node, _ in module.nodes
        if isinstance(node, ast.Constant) and node.value in names
    ]
