"""Links, paths and module names in the documentation lead somewhere. No network is needed."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
PLACE = re.compile(r"(?:envs|agents|episodes|eie|inhabit|scripts|tests|docs)/[\w./*-]+\w")
MODULE = re.compile(r"(?<![\w./~-])(?:[\w.-]+/)+[\w.-]+\.py\b")
NAME = re.compile(r"inhabit(?:\.(?!lock)\w+)+")
GROUPS = {"inhabit.exporters", "inhabit.benchmarks", "inhabit.metrics", "inhabit.models"}
"""Entry-point groups, which look like names of modules."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    dead = []
    for target in LINK.findall(FENCE.sub("", page.read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        if not _leads_somewhere(page, target):
            dead.append(target)
    assert dead == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_paths_and_names_in_code_exist(page: Path) -> None:
    codes = CODE.findall(page.read_text())
    missing = [code for code in codes if PLACE.fullmatch(code) and not any(ROOT.glob(code))]
    missing += [file for code in codes for file in MODULE.findall(code) if not _exists(file)]
    missing += [
        code
        for code in codes
        if NAME.fullmatch(code) and code not in GROUPS and not _resolves(code)
    ]
    assert missing == []


def test_a_dead_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A heading\n")
    assert _leads_somewhere(ROOT / "docs/install.md", "thor.md")
    assert not _leads_somewhere(ROOT / "docs/install.md", "tore.md")
    assert not _leads_somewhere(ROOT / "docs/install.md", "thor.md#actionz")
    assert _anchors(page) == {"a-heading"}
    assert not _resolves("inhabit.envs.nothing")


def _exists(file: str) -> bool:
    return (ROOT / file).is_file()


def _leads_somewhere(page: Path, target: str) -> bool:
    place, _, anchor = target.partition("#")
    file = (page.parent / place).resolve() if place else page
    if not file.exists() or not file.is_relative_to(ROOT):
        return False
    return not anchor or anchor in _anchors(file)


def _anchors(page: Path) -> set[str]:
    text = FENCE.sub("", page.read_text())
    return {_slug(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


def _slug(heading: str) -> str:
    plain = re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower()
    return re.sub(r"[\s-]+", "-", plain)


def _resolves(name: str) -> bool:
    parts = name.split(".")
    for size in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:size]))
        except ModuleNotFoundError:
            continue
        for part in parts[size:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False
