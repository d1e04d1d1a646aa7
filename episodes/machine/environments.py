"""What each environment says it lacks here."""

from __future__ import annotations

from collections.abc import Iterator

from inhabit.envs import registry
from inhabit.envs.registry import Registration
from inhabit.episodes.machine.finding import Finding, Status


def environments() -> Iterator[Finding]:
    """Every backend of every environment, by its own word."""
    found, problems = registry.usable()
    for problem in problems:
        fix = "uninstall or reinstall that package"
        yield Finding("a plug-in", Status.LACKING, str(problem), "what it adds", fix)
    for registration in found:
        yield from _backends(registration)
        for need in registry.missing_task_data(registration):
            yield Finding(
                f"{registration.name}: {need.what}",
                Status.LACKING,
                "not found",
                f"inhabit run {registration.name} --tasks",
                need.fix,
            )


def _backends(registration: Registration) -> Iterator[Finding]:
    for backend in registration.backends:
        needs = registry.lacking(registration, backend)
        yield Finding(
            f"{registration.name} ({backend})",
            Status.LACKING if needs else Status.OK,
            "; ".join(need.what for need in needs) or "ready",
            f"inhabit run {registration.name} --backend {backend}",
            "; ".join(need.fix for need in needs),
        )
