"""The commands that run, replay, score and show episodes, one file for each.

`COMMANDS` registers them without importing them: name -> ("module:function", one-line summary).
"""

from collections.abc import Mapping

_HERE = "inhabit.episodes.commands"

COMMANDS: Mapping[str, tuple[str, str]] = {
    "envs": (f"{_HERE}.listing:envs", "List environments, or the settings of one."),
    "agents": (f"{_HERE}.listing:agents", "List agents and models, or the settings of one."),
    "doctor": (f"{_HERE}.doctor:doctor", "Check this machine or a model, and print fixes."),
    "setup": (f"{_HERE}.doctor:setup", "Download and prepare what an environment needs."),
    "tasks": (f"{_HERE}.listing:tasks", "Sample tasks and print them as JSONL."),
    "run": (f"{_HERE}.run:run", "Run an agent on tasks and record every step."),
    "experiment": (
        f"{_HERE}.experiment:experiment",
        "Play the runs of an experiment file, and write its tables.",
    ),
    "reproduce": (f"{_HERE}.experiment:reproduce", "Repeat a locked experiment."),
    "replay": (f"{_HERE}.replay:replay", "Re-execute a recorded run and compare every step."),
    "fork": (f"{_HERE}.replay:fork", "Branch off a recorded episode at a step."),
    "judge": (f"{_HERE}.judge:judge", "Score perception, cognition and action at every step."),
    "credit": (f"{_HERE}.judge:credit", "Show what each action cost compared with the best one."),
    "compare": (f"{_HERE}.compare:compare", "Compare two runs of the same tasks."),
    "validate": (f"{_HERE}.validate:validate", "Check whether an environment can be trusted."),
    "replan": (f"{_HERE}.replan:replan", "Ask another agent or model about recorded steps."),
    "watch": (f"{_HERE}.watch:watch", "Serve a live page of a run."),
}
