"""What the kernel says about a process: its sockets, as this machine's other programs see them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

_LISTENS = "0A"


@dataclass(frozen=True)
class Door:
    """A socket to which others may connect or send."""

    kind: str
    """tcp, udp or unix."""
    place: str
    """Address and port in the kernel's notation, or a path; one that begins with @ is abstract."""

    @property
    def is_loopback(self) -> bool:
        return self.place.split(":")[0].endswith("0100007F")


def family(pid: int) -> list[int]:
    """A process and all that it has started."""
    root = psutil.Process(pid)
    return [pid, *(child.pid for child in root.children(recursive=True))]


def doors(pids: Iterable[int], within: str = "self") -> set[Door]:
    """Doors of these processes in the network of process `within`: by default, ours."""
    ours = {inode for pid in pids for inode in _sockets(pid)}
    net = Path("/proc", within, "net")
    found = set()
    for kind in ("tcp", "udp"):
        for name in (kind, f"{kind}6"):
            for words in _rows(net / name):
                if words[9] in ours and (kind == "udp" or words[3] == _LISTENS):
                    found.add(Door(kind, words[1]))
    for words in _rows(net / "unix"):
        if words[6] in ours and len(words) > 7 and words[3] == "00010000":
            found.add(Door("unix", words[7]))
    return found


def _rows(table: Path) -> list[list[str]]:
    lines = table.read_text().splitlines()[1:] if table.exists() else []
    return [line.split() for line in lines]


def _sockets(pid: int) -> Iterator[str]:
    with contextlib.suppress(PermissionError, FileNotFoundError):
        for fd in list(Path(f"/proc/{pid}/fd").iterdir()):
            with contextlib.suppress(FileNotFoundError):
                link = str(fd.readlink())
                if link.startswith("socket:["):
                    yield link[8:-1]
