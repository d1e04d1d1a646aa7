"""Where Verifiers looks for the taskset "inhabit-verifiers": see `inhabit.frameworks.verifiers`."""

from inhabit.frameworks.verifiers import InhabitEnv, InhabitTaskset

__all__ = ["InhabitEnv", "InhabitTaskset"]
