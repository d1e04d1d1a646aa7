"""The commands that make, show, export and learn from training data, one file for each.

`COMMANDS` registers them without importing them: name -> ("module:function", one-line summary).
"""

from collections.abc import Mapping

_HERE = "inhabit.eie.commands"

COMMANDS: Mapping[str, tuple[str, str]] = {
    "show": (f"{_HERE}.show:show", "Write HTML pages and videos of a run or a data set."),
    "synth": (f"{_HERE}.synth:synth", "Generate a data set, verified in the simulator."),
    "photographs": (f"{_HERE}.synth:photographs", "Make a data set from photographs."),
    "tune": (f"{_HERE}.tune:tune", "Fine-tune a local model on data sets."),
    "merge": (f"{_HERE}.tune:merge", "Merge the adapters of a tuned model into its base."),
    "export": (f"{_HERE}.export:export", "Convert a run or a data set to another format."),
    "import": (f"{_HERE}.export:import_", "Make run folders from trajectories in ATIF."),
}
