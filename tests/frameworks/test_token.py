"""What `inhabit serve` takes as a token."""

from __future__ import annotations

from pathlib import Path

import pytest

from inhabit.envs.errors import UserError
from inhabit.frameworks.commands import TOKEN, serve

pytest.importorskip("openenv", reason="needs openenv: pip install 'inhabit[openenv]'")


@pytest.mark.parametrize(
    "content", [b"", b"short", "ééééééééé".encode(), b"two lines\nof a token", b"x" * 5000]
)
def test_what_is_no_token_is_refused(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_bytes(content)
    with pytest.raises(UserError, match="token"):
        serve("toy", n=1, token_file=file)


def test_a_file_without_an_end_is_refused() -> None:
    with pytest.raises(UserError, match="/dev/zero has no token"):
        serve("toy", n=1, token_file=Path("/dev/zero"))


def test_so_is_one_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN, "é" * 9)
    with pytest.raises(UserError, match=TOKEN):
        serve("toy", n=1)
