"""The command line in this process: a second of imports less than in one of its own."""

from __future__ import annotations

import contextlib
import io
import subprocess

from inhabit.cli import main


def inhabit(*words: str) -> subprocess.CompletedProcess[str]:
    """What the command leaves behind."""
    code, out, err = 0, io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(list(words))
        except SystemExit as left:
            assert isinstance(left.code, int)
            code = left.code
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())
