"""Pieces of text that every form of a report has."""

import re

from smlocal.check.interface import Finding, RuleResult

_SURROGATES = re.compile("[\\ud800-\\udfff]")


def valid_text(text: str) -> str:
    """A path that is not UTF-8, or an odd string of a JSON file, is shown with replacements."""
    return _SURROGATES.sub("\ufffd", text)


def where(finding: Finding) -> str:
    """`Dockerfile:3, job, algo-2`; empty where nothing is known."""
    file = f"{finding.file}:{finding.line}" if finding.line else finding.file
    return ", ".join(place for place in (file, finding.job, finding.host) if place)


def finding_line(finding: Finding) -> str:
    """One finding with its place."""
    place = where(finding)
    return valid_text(f"{finding.message} ({place})" if place else finding.message)


def finding_lines(finding: Finding) -> list[str]:
    """The same, and the lines that say more."""
    return [finding_line(finding), *map(valid_text, finding.details)]


def skipped_lines(result: RuleResult) -> list[str]:
    """Why a rule could not be judged; nothing for one that was."""
    if not result.skipped:
        return []
    to_test = [f"to test it: {result.test}"] if result.test else []
    return [f"skipped: {valid_text(result.skipped)}", *map(valid_text, result.skipped_details), *to_test]


def ignored_lines(result: RuleResult) -> list[str]:
    """What somebody has decided to live with, and why."""
    return [f"ignored ({each.reason}): {finding_line(each.finding)}" for each in result.ignored]
