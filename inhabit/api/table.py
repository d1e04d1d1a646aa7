"""A table as a list of dicts, which pandas and notebooks take as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from inhabit.envs import notebook
from inhabit.envs.core import UnavailableError

if TYPE_CHECKING:
    import pandas


class Table(list[dict[str, Any]]):
    """Rows with the same keys in the same order. Values are plain Python data."""

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a DataFrame.

        Raises:
            UnavailableError: pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise UnavailableError(
                "A DataFrame needs the package 'pandas': pip install 'inhabit[notebook]'"
            ) from error
        return pandas.DataFrame(list(self))

    def _repr_html_(self) -> str:
        return notebook.table(self)
