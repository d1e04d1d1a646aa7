"""The commands of single environments.

`COMMANDS` registers them without importing them: name -> ("module:function", one-line summary).
"""

from collections.abc import Mapping

COMMANDS: Mapping[str, tuple[str, str]] = {
    "thor": (
        "inhabit.envs.simulators.household.attach.command:thor",
        "Run a program with the embedded simulator as its AI2-THOR.",
    ),
}
