"""The program that runs MineDojo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inhabit.envs.core import UnavailableError
from inhabit.envs.host.json_program import JsonProgram
from inhabit.envs.minedojo.real.setup import interpreter

_HOST = Path(__file__).parent / "host.py"


class RefusedError(Exception):
    """MineDojo answered with an error; has its message."""


class HostConnection(JsonProgram):
    """MineDojo in a process group that ends with us.

    Args:
        python: an interpreter that can import `minedojo`; None for the one that `inhabit setup
            minedojo --backend minedojo` makes.

    Raises:
        UnavailableError: there is no such interpreter.
    """

    def __init__(self, python: str | None) -> None:
        chosen = Path(python).expanduser() if python else interpreter()
        if not chosen.is_file():
            raise UnavailableError(
                f"Found no interpreter with MineDojo at {chosen}. Run `inhabit setup minedojo "
                "--backend minedojo`, or pass --set python=PATH."
            )
        super().__init__("MineDojo", [str(chosen.absolute()), "-u", str(_HOST)])

    def call(self, name: str, seconds: float, **arguments: Any) -> Any:
        """One call.

        Raises:
            RefusedError: MineDojo raised an error.
            SimulatorError: the program ended, or did not answer in time.
        """
        answer = self.ask({"call": name, **arguments}, seconds)
        if "error" in answer:
            raise RefusedError(str(answer["error"]))
        return answer["value"]
