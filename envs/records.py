"""Files that hold a list of records, as benchmarks are released."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from envs.core import TaskError


def json_list(file: Path) -> list[Any]:
    """The items of a JSON file that is one list, nothing checked in them. A byte-order mark is
    passed over.

    Raises:
        TaskError: it can't be read, is no JSON, or no list.
    """
    try:
        found = json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise TaskError(f"{file} can't be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise TaskError(f"{file} is no JSON: {error}.") from error
    if not isinstance(found, list):
        raise TaskError(f"{file} is no list of records.")
    return found
