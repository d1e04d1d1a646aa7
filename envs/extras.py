"""Packages that only some uses need, which `pip install inhabit` leaves out."""

from __future__ import annotations

from importlib.util import find_spec

from inhabit.envs.core import UnavailableError


def require(package: str, extra: str, what: str) -> None:
    """See that an optional package is installed, before any work is done that needs it.

    Args:
        package: its import name, such as "pyarrow".
        extra: the extra of `inhabit` that brings it.
        what: the feature that needs it, as the plural subject of the sentence.

    Raises:
        UnavailableError: it is not installed; names the command that installs it.
    """
    if find_spec(package) is None:
        raise UnavailableError(
            f"{what} need the package {package!r}: pip install 'inhabit[{extra}]'"
        )
