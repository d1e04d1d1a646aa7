"""What each environment says it lacks here."""

from __future__ import annotations

from collections.abc import Iterator

from inhabit.envs import registry
from inhabit.episodes.machine.finding import Finding, Status


def environments() -> Iterator[Finding]:
    """Every backend of every environment, by its own word."""
    for name in registry.names():
        try:
            registration = registry.find(name)
        except (ImportError, AttributeError, TypeError) as error:
            # Others' packages join too, and may be broken: that is a finding.
            why, fix = f"can't be loaded: {error}", "reinstall the package that it comes from"
            yield Finding(name, Status.LACKING, why, f"inhabit run {name}", fix)
            continue
        for backend in registration.backends:
            needs = registration.needs(backend)
            yield Finding(
                f"{name} ({backend})",
                Status.LACKING if needs else Status.OK,
                "; ".join(need.what for need in needs) or "ready",
                f"inhabit run {name} --backend {backend}",
                "; ".join(need.fix for need in needs),
            )
        for need in registration.lacking_tasks():
            yield Finding(
                f"{name}: {need.what}",
                Status.LACKING,
                "not found",
                f"inhabit run {name} --tasks",
                need.fix,
            )
