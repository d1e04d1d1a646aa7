"""Somebody who stays until we are gone, however that comes about, and then tidies up."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

_OVER = "over"
_SCRIPT = f"""
while read -r group; do
  [ "$group" = {_OVER} ] && exit 0
  groups="$groups $group"
done
for group in $groups; do kill -s KILL -- "-$group"; done
rm -rf -- "$1"
"""


class ParentWatch:
    """A shell that waits at the other end of a pipe.

    The pipe breaks when this program ends, by SIGKILL too; then what was told to it is ended and
    the folder removed. (A signal at the parent's death would come as soon as the thread ends that
    started a program.)

    Args:
        folder: removed with everything in it, where nobody is left to do so.
    """

    def __init__(self, folder: Path) -> None:
        read, self._pipe = os.pipe()
        shell = shutil.which("sh") or "/bin/sh"
        try:
            self._shell = subprocess.Popen(
                [shell, "-c", _SCRIPT, "watch", str(folder)],
                stdin=read,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
            )
        except OSError:
            os.close(self._pipe)
            raise
        finally:
            os.close(read)

    def add(self, group: int) -> None:
        """A process group that is to end with us."""
        self._tell(str(group))

    def close(self) -> None:
        """Everything was ended in order. Safe to call twice."""
        if self._pipe >= 0:
            self._tell(_OVER)
            os.close(self._pipe)
            self._pipe = -1
            self._shell.wait()

    def _tell(self, line: str) -> None:
        # Who kills the watch has to tidy up alone.
        with suppress(BrokenPipeError):
            os.write(self._pipe, f"{line}\n".encode())
