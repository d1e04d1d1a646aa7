"""Environments of this package in the trainers and evaluators of others.

Everything here is thin over `rollout`: an episode that takes texts and returns text, image and
reward. A module that needs another package imports it when it is itself imported.
"""

from collections.abc import Mapping

COMMANDS: Mapping[str, tuple[str, str]] = {
    "serve": (
        "inhabit.frameworks.commands:serve",
        "Serve an environment to trainers, as an OpenEnv server.",
    ),
    "mcp": (
        "inhabit.frameworks.commands:mcp",
        "Offer an environment to MCP clients, on stdin and stdout.",
    ),
}
"""Name -> ("module:function", one-line summary)."""
