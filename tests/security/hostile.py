"""Run and set folders as somebody who means harm would hand them on, each with one thing wrong."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import struct
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ESCAPE = '\x1b]0;owned\x07\x1b[31m\x9b2J=HYPERLINK("http://127.0.0.1")\u202e'
SPARSE = 3 << 30


MARK = b"a mark behind the secret picture, which decodes all the same"


@dataclass
class Outside:
    """What lies beyond the folder, and must stay as it is; and who listens for connections."""

    root: Path
    port: int = 0
    connections: list[Any] = field(default_factory=list)

    @property
    def secret(self) -> Path:
        return self.root / "secret.jpg"

    def leaked(self, *roots: Path) -> list[Path]:
        """Files below `roots`, links left out, that hold the secret image, raw or as base64."""
        needles = (MARK, base64.b64encode(self.secret.read_bytes()))
        files = (p for root in roots for p in (root.rglob("*") if root.is_dir() else [root]))
        return [
            file
            for file in files
            if file.is_file() and not file.is_symlink() and file.stat().st_size < 1 << 24
            if any(needle in file.read_bytes() for needle in needles)
        ]

    @property
    def frame(self) -> bytes:
        """The image without the mark."""
        return self.secret.read_bytes().removesuffix(MARK)

    @property
    def marker(self) -> Path:
        return self.root / "it-ran"

    @property
    def program(self) -> Path:
        return self.root / "program"

    def state(self) -> Mapping[str, bytes]:
        files = (path for path in self.root.rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in sorted(files)}


@contextmanager
def outside(root: Path, picture: bytes) -> Iterator[Outside]:
    """A home with an image and a program in it, and a port that counts who connects."""
    root.mkdir()
    here = Outside(root)
    here.secret.write_bytes(picture + MARK)
    (root / "folder").mkdir()
    (root / "folder" / "0000.jpg").write_bytes(picture + MARK)
    here.program.write_text(f"#!/bin/sh\ntouch {here.marker}\n")
    here.program.chmod(0o755)
    server = socket.create_server(("127.0.0.1", 0))
    here.port = server.getsockname()[1]

    def listen() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            here.connections.append(connection)
            connection.close()

    threading.Thread(target=listen, daemon=True).start()
    try:
        yield here
    finally:
        server.close()


Spoil = Callable[[Path, Outside], None]


def link(place: str, target: str = "secret.jpg") -> Spoil:
    def spoil(folder: Path, out: Outside) -> None:
        _remove(folder / place)
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).symlink_to(out.root / target)

    return spoil


def moved(place: str) -> Spoil:
    """What belongs there lies elsewhere, and a link leads to it."""

    def spoil(folder: Path, out: Outside) -> None:
        shutil.move(folder / place, out.root / "moved")
        (folder / place).symlink_to(out.root / "moved")

    return spoil


def fifo(place: str) -> Spoil:
    def spoil(folder: Path, out: Outside) -> None:
        _remove(folder / place)
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(folder / place)

    return spoil


def sparse(place: str) -> Spoil:
    def spoil(folder: Path, out: Outside) -> None:
        with (folder / place).open("ab") as stream:
            stream.truncate(SPARSE)

    return spoil


def header(name: str, change: Callable[[Any, Outside], None]) -> Spoil:
    def spoil(folder: Path, out: Outside) -> None:
        plain = json.loads((folder / name).read_text())
        change(plain, out)
        (folder / name).write_text(json.dumps(plain))

    return spoil


def lines(place: str, change: Callable[[Any], None]) -> Spoil:
    def spoil(folder: Path, out: Outside) -> None:
        read = [json.loads(line) for line in (folder / place).read_text().splitlines()]
        for line in read:
            change(line)
        (folder / place).write_text("".join(json.dumps(line) + "\n" for line in read))

    return spoil


def raw(place: str, line: bytes) -> Spoil:
    """One more line, before the last."""

    def spoil(folder: Path, out: Outside) -> None:
        *rest, last = (folder / place).read_bytes().splitlines(keepends=True)
        (folder / place).write_bytes(b"".join([*rest, line + b"\n", last]))

    return spoil


def picture(place: str, content: bytes) -> Spoil:
    return lambda folder, out: (folder / place).write_bytes(content) and None


def env(name: str, backend: str, **settings: Any) -> Callable[[Any, Outside], None]:
    """A run or a set of another environment, whose settings name what lies outside."""

    def change(plain: Any, out: Outside) -> None:
        places = {"PROGRAM": str(out.program), "PORT": out.port, "FOLDER": str(out.root)}
        chosen = {k: places.get(str(v), v) for k, v in settings.items()}
        plain |= {"env": name, "backend": backend}
        plain["settings"]["env"] = chosen

    return change


def model(spec: str, agent: str, **settings: Any) -> Callable[[Any, Outside], None]:
    def change(plain: Any, out: Outside) -> None:
        places = {
            "URL": f"http://127.0.0.1:{out.port}/v1",
            "CACHE": str(out.root / "cache.sqlite"),
            "FOLDER": str(out.root),
        }
        plain |= {"model": spec.replace("FOLDER", str(out.root)), "agent": agent}
        plain["settings"]["model"] = {k: places.get(str(v), v) for k, v in settings.items()}
        plain["settings"]["agent"] = {}

    return change


def png_bomb(width: int = 60_000, height: int = 60_000) -> bytes:
    """An image of 10 GB in a few hundred bytes."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + check

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", b"x") + chunk(b"IEND", b"")


def jpeg_bomb(picture: bytes) -> bytes:
    """A JPEG file whose frame header says 65,500 by 65,500."""
    at = picture.index(b"\xff\xc0") + 5
    return picture[:at] + struct.pack(">HH", 65_500, 65_500) + picture[at + 4 :]


def escapes(line: Any) -> None:
    """Put what a terminal or a spreadsheet acts on into every free text."""
    for key, value in line.items():
        if key in ("text", "feedback", "raw", "description", "reasoning", "error", "question"):
            line[key] = ESCAPE
        elif key == "task" and isinstance(value, dict):
            value["goal"] = ESCAPE
    if "goal" in line and "scene" in line:
        line["goal"] = ESCAPE


DEEP = b'{"kind":"see","x":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
_E = "episodes/00000"


def _large(line: dict[str, Any]) -> None:
    line.update(dict.fromkeys(line.keys() & {"met", "total", "cost", "invalid"}, 10**400))


def runs(picture_bytes: bytes) -> Mapping[str, Spoil]:
    """Name -> what is done to a sound run of the toy house."""
    named = ("run.json", "tasks.jsonl", f"{_E}/episode.jsonl", f"{_E}/frames/0000.jpg")
    extra = (
        "index.jsonl",
        "forks.jsonl",
        "credit.jsonl",
        "judgements/0001.jsonl",
        "index.html",
        "run.json.half",
    )
    targets = (
        "index.html.half",
        *(f"{_E}/{name}" for name in ("index.html", "episode.gif.half", "episode.mp4")),
        f"{_E}/figure-page.svg",
    )
    unity = {"executable": "PROGRAM", "port": "PORT"}
    return {
        **{f"link {name}": link(name) for name in (*named, *extra, *targets)},
        **{f"link folder {n}": link(n, "folder") for n in ("forks", "judgements", f"{_E}/images")},
        **{f"moved {name}": moved(name) for name in ("episodes", _E, f"{_E}/frames", named[2])},
        **{f"pipe {name}": fifo(name) for name in (*named, *extra, f"{_E}/index.html")},
        **{f"endless {name}": sparse(name) for name in named},
        "unity of virtualhome": header("run.json", env("virtualhome", "unity", **unity)),
        "port of virtualhome": header("run.json", env("virtualhome", "unity", port="PORT")),
        "unity of alfred": header("run.json", env("alfred", "unity", executable="PROGRAM")),
        "rooms of alfred": header("run.json", env("alfred", "embedded", rooms="FOLDER")),
        "python of minedojo": header("run.json", env("minedojo", "minedojo", python="PROGRAM")),
        "an endpoint": header("run.json", model("openai:x", "chat", base_url="URL")),
        "OpenAI itself": header("run.json", model("openai:x", "chat")),
        "a cache": header("run.json", model("openai:x", "chat", base_url="URL", cache="CACHE")),
        "a model's folder": header("run.json", model("local:FOLDER", "rank")),
        "a model on a hub": header("run.json", model("local:somebody/model", "rank")),
        "a script": header("run.json", model("scripted:FOLDER/secret.jpg", "rank")),
        "a nested line": raw(named[2], DEEP),
        "nested tasks": raw("tasks.jsonl", DEEP),
        "a large picture": picture(named[3], jpeg_bomb(picture_bytes)),
        "another kind of picture": picture(named[3], png_bomb()),
        "escapes in the record": lines(named[2], escapes),
        "escapes everywhere": lambda folder, out: (
            [lines(name, escapes)(folder, out) for name in ("tasks.jsonl", named[2])] and None
        ),
        "no numbers": lines(named[2], lambda line: line.update(seconds=float("nan"))),
        "no conditions": lines(named[2], lambda line: line.update(met=0, total=0)),
        "large numbers": lines(named[2], _large),
        "late times": lines(named[2], lambda line: line.update(time=1e17)),
        "large tasks": lines("tasks.jsonl", lambda task: task.update(reference_cost=10**400)),
    }


def sets(picture_bytes: bytes, shown: str) -> Mapping[str, Spoil]:
    """Name -> what is done to a sound set of the toy house; `shown` is one of its images."""
    named = ("set.json", "attempts.jsonl", "examples.jsonl", shown)
    written = ("README.md", "README.md.half", "index.html", "index.html.half", "set.json.half")
    tables = ("data/train.parquet", "data/train.parquet.half", "times.jsonl")
    unity = {"executable": "PROGRAM", "port": "PORT"}
    return {
        **{f"link {name}": link(name) for name in (*named, *written, *tables)},
        **{f"link folder {name}": link(name, "folder") for name in ("data", "images")},
        "moved images": moved("images"),
        **{f"pipe {name}": fifo(name) for name in (*named, *written, "times.jsonl")},
        **{f"endless {name}": sparse(name) for name in named},
        "unity of virtualhome": header("set.json", env("virtualhome", "unity", **unity)),
        "unity of alfred": header("set.json", env("alfred", "unity", executable="PROGRAM")),
        "python of minedojo": header("set.json", env("minedojo", "minedojo", python="PROGRAM")),
        "a large picture": picture(shown, png_bomb()),
        "a nested line": raw("examples.jsonl", DEEP),
        "escapes": lines("examples.jsonl", escapes),
    }


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
