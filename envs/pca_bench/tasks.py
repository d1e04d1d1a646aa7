"""Reads PCA-Bench's released files as tasks. Invalid records are skipped with a warning."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from inhabit.envs.core import Task, TaskError, UnavailableError
from inhabit.envs.multiple_choice import json_list
from inhabit.envs.pca_bench.scene import Domain, PcaScene, PcaSettings, by_function, facts

_DOMAINS: Mapping[str, Domain] = {
    "autonomousdriving": Domain.DRIVING,
    "traffic": Domain.DRIVING,
    "driving": Domain.DRIVING,
    "domesticrobot": Domain.HOME,
    "alfred": Domain.HOME,
    "openworldgame": Domain.GAME,
    "minecraft": Domain.GAME,
    "game": Domain.GAME,
}


@dataclass(frozen=True, slots=True)
class PcaRecord:
    """One unchecked record of a file."""

    file: Path
    number: int
    """Position of the record in the file, from 0."""
    fields: Mapping[str, Any]


def files(source: Path) -> list[Path]:
    """The benchmark's files at `source`: the file itself, or all files of the folder, sorted.

    Raises:
        TaskError: there are none.
    """
    if source.is_file():
        return [source]
    if not source.is_dir():
        raise TaskError(
            f"Found no {source}. For PCA-Bench, --tasks is one of its files or a folder of them."
        )
    found = [
        *source.rglob("meta_data.json"),
        *source.rglob("*-meta.json"),
        *source.rglob("*.parquet"),
    ]
    if not found:
        raise TaskError(
            f"{source} has no file of PCA-Bench (meta_data.json, *-meta.json or *.parquet)."
        )
    return sorted(found)


def entries(file: Path) -> Iterator[PcaRecord]:
    """The records of one file.

    Raises:
        TaskError: it cannot be read.
        UnavailableError: it is a parquet file, and what reads these is not installed.
    """
    rows = _parquet(file) if file.suffix == ".parquet" else json_list(file)
    for number, fields in enumerate(rows):
        if not isinstance(fields, dict):
            raise TaskError(f"{file}, record {number}: it is not a JSON object.")
        yield PcaRecord(file, number, fields)


def domain_of(entry: PcaRecord) -> Domain:
    """The domain of a record, from its own field or from its path.

    Raises:
        ValueError: by no domain that is known.
    """
    said = entry.fields.get("domain")
    if isinstance(said, str) and said.strip():
        if _letters(said) not in _DOMAINS:
            raise ValueError(f"unknown domain {said!r}")
        return _DOMAINS[_letters(said)]
    for part in reversed(entry.file.parts):
        for name, domain in _DOMAINS.items():
            if name in _letters(part):
                return domain
    raise ValueError("neither the record nor its file names a domain")


def parquet_rows(file: Path, columns: list[str] | None = None) -> Any:
    """Read a parquet file as a table.

    Raises:
        UnavailableError: what reads it is not installed.
        TaskError: it cannot be read.
    """
    try:
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError as error:
        raise UnavailableError(f"Reading {file} needs pyarrow: pip install pyarrow.") from error
    try:
        return parquet.read_table(file, columns=columns)
    except (OSError, ValueError) as error:
        raise TaskError(f"Can't read {file} as Parquet: {error}.") from error


def _parquet(file: Path) -> list[Any]:
    rows: list[Any] = parquet_rows(file).to_pylist()
    return rows


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text.lower()))


_LOG = logging.getLogger("inhabit.pca_bench")
_FOLDERS = (".", "imgs", "images")
"""Image folders beside a file."""
_STATED = re.compile(r"(?:Currently )?[Yy]ou have .*? in your (?:hands?|inventory)\b\.?")
_RESULTS = ("api_cached_results", "api_cached_result")
_ANSWER = ("answer_index", "anwser_index")
"""The second name is a misspelling in some versions of the files."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A valid record, and the name of its image."""

    entry: PcaRecord
    scene: PcaScene
    question: str
    index: int
    wants: str | None


def read(source: str, settings: PcaSettings) -> Iterator[Task]:
    """A task for every record of the files at `source`, in order.

    Records that make no sense, and those whose images are missing, are named in a warning,
    passed over and counted. Where none of the images is there, all is played without.

    Args:
        source: a file, or a folder of them.
        settings: `images` is the folder of the images; None to look beside each file.

    Raises:
        TaskError: there is nothing to read, or nothing that makes sense.
    """
    found: list[_Found] = []
    total = 0
    for file in files(Path(source)):
        seen: set[int] = set()
        for entry in entries(file):
            total += 1
            try:
                one = _understood(entry)
                if one.index in seen:
                    raise ValueError(f"another record has the same index {one.index}")
            except ValueError as error:
                _LOG.warning("%s, record %d is passed over: %s.", file, entry.number, error)
                continue
            seen.add(one.index)
            found.append(one)
    pictured = _with_pictures(found, settings.images)
    if not total:
        raise TaskError(f"{source} contains no records.")
    if not pictured:
        raise TaskError(f"All {total} records of {source} are invalid.")
    if passed := total - len(pictured):
        _LOG.warning("%d of %d records at %s are passed over.", passed, total, source)
    taken: set[str] = set()
    for one in pictured:
        task = _task(one)
        if task.id in taken:  # Of a folder of the same name elsewhere.
            place = one.entry.file.parent.relative_to(source)
            task = task.model_copy(update={"id": f"{place}/{task.id}"})
        taken.add(task.id)
        yield task


def _understood(entry: PcaRecord) -> _Found:
    fields = entry.fields
    actions = fields.get("actions")
    if not isinstance(actions, list) or not all(isinstance(a, str) for a in actions):
        raise ValueError("its actions are not a list of strings")
    if not any(action.strip() for action in actions):
        raise ValueError("it has no actions")
    answer = next((fields[name] for name in _ANSWER if name in fields), None)
    if not isinstance(answer, int) or isinstance(answer, bool) or not 0 <= answer < len(actions):
        raise ValueError(f"its answer_index {answer!r} is not one of its {len(actions)} actions")
    question = fields.get("question")
    if not isinstance(question, str) or not question.strip():
        raise ValueError("it has no question")
    options = list(dict.fromkeys(action.strip() for action in actions if action.strip()))
    if len(options) < 2 or not actions[answer].strip():
        raise ValueError("it has fewer than two distinct actions")
    domain = domain_of(entry)
    cached: Mapping[str, Any] = next(
        (fields[name] for name in _RESULTS if isinstance(fields.get(name), dict)), {}
    )
    results = by_function(domain, cached)
    scene = PcaScene(
        domain=domain,
        actions=tuple(options),
        answer=options.index(actions[answer].strip()),
        reason=str(fields.get("reason") or ""),
        key_concepts=tuple(_texts(fields.get("key_concept"))),
        facts=facts(results) or _stated_facts(fields.get("question_prompt")),
        results=results,
        **_embedded(entry),
    )
    index = fields.get("index")
    image = fields.get("image")
    return _Found(
        entry,
        scene,
        " ".join(question.split()),
        index if isinstance(index, int) else entry.number,
        image if isinstance(image, str) and image else None,
    )


def _embedded(entry: PcaRecord) -> Mapping[str, Any]:
    """Where the image is embedded in the file itself, if it is."""
    image = entry.fields.get("image")
    inside = isinstance(image, bytes) or (isinstance(image, dict) and image.get("bytes"))
    return {"image": entry.file.absolute(), "row": entry.number} if inside else {}


def _with_pictures(found: list[_Found], images: Path | None) -> list[_Found]:
    """The records whose images exist; all of them if there are no images at all."""
    placed = [(one, _picture(one, images)) for one in found]
    if not any(path for _, path in placed):
        return found
    kept: list[_Found] = []
    for one, path in placed:
        if path is not None:
            one = replace(one, scene=one.scene.model_copy(update={"image": path}))
        elif one.wants is not None:
            _LOG.warning(
                "%s, record %d is passed over: its image %r is missing.",
                one.entry.file,
                one.entry.number,
                one.wants,
            )
            continue
        kept.append(one)
    return kept


def _picture(one: _Found, images: Path | None) -> Path | None:
    if one.scene.image is not None or one.wants is None:
        return one.scene.image
    # Only the file name is used, so that a record cannot point outside its folder.
    name = Path(one.wants.replace("\\", "/")).name
    folders = [images] if images else [one.entry.file.parent / folder for folder in _FOLDERS]
    places = [(folder / name).absolute() for folder in folders]
    return next((place for place in places if name and place.is_file()), None)


def _task(one: _Found) -> Task:
    # Files of different domains have the same indices and may have the same names.
    where = f"{one.scene.domain.value}/{one.entry.file.name}"
    folder = hashlib.sha256(str(one.entry.file.parent.name).encode()).hexdigest()[:4]
    return Task(
        id=f"{where}/{folder}/{one.index}",
        env="pca_bench",
        kind=one.scene.domain.value,
        goal=one.question,
        scene=one.scene.model_dump(mode="json"),
        max_steps=1,
        reference_cost=1,
    )


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [str(one) for one in value if one] if isinstance(value, list) else []


def _stated_facts(prompt: object) -> str:
    """The part of a prompt about hands and inventory."""
    return " ".join(_STATED.findall(prompt)) if isinstance(prompt, str) else ""
