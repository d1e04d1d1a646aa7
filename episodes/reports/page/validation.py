"""The page of a validation: a table of checks for each group."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from inhabit.episodes.recording.disk import write_text
from inhabit.episodes.reports.page.document import render
from inhabit.episodes.validating.check import CheckVerdict
from inhabit.episodes.validating.report import ValidationReport


def write_validation(file: Path, report: ValidationReport) -> Path:
    """Write the page of a report.

    Raises:
        DiskError: it can't be written.
    """
    by_group = sorted(report.findings, key=lambda one: one.group)
    groups = {"failed": report.failed} if report.failed else {}
    groups |= {name: list(found) for name, found in groupby(by_group, lambda one: one.group)}
    facts = {verdict.value: report.counts[verdict] for verdict in CheckVerdict}
    facts |= {"tasks": report.tasks}
    text = render("validation.html", report=report, groups=groups, facts=facts)
    return write_text(file, file.parent, text)
