"""The commands of single environments.

`COMMANDS` registers them without importing them: name -> ("module:function", one-line summary).
"""

from collections.abc import Mapping

COMMANDS: Mapping[str, tuple[str, str]] = {
    "thor": (
        "inhabit.envs.simulators.household.attach.command:thor",
        "Run a program whose AI2-THOR is the embedded household.",
    ),
}
