"""The commands of single environments.

`COMMANDS` registers them without importing them: name -> ("module:function", one-line summary).
"""

from collections.abc import Mapping

COMMANDS: Mapping[str, tuple[str, str]] = {
    "thor": (
        "inhabit.envs.simulators.household.attach.command:thor",
        "Run an AI2-THOR program without Unity.",
    ),
}
