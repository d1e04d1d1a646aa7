"""Plays the episodes of `reproduction.traces` in a process of their own, and prints the hashes.

Reads what is validated from stdin, as JSON.
"""

from __future__ import annotations

import json
import sys

from inhabit.episodes.validating.reproduction import traces
from inhabit.episodes.validating.subject import Subject


def main() -> None:
    """Print one line of JSON."""
    asked = json.load(sys.stdin)
    with Subject.open(**asked) as subject:
        sys.stdout.write(json.dumps(traces(subject)) + "\n")


if __name__ == "__main__":
    main()
