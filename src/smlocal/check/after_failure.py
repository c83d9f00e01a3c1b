"""What rules find about the program of a job that failed: its container is still there, and nothing else is read.

The supervisor of a job asks for it by the name of this module (docs/architecture.md), and only after a failure.
"""

from collections.abc import Sequence

from smlocal.check.examine import examine
from smlocal.check.interface import Finding, Rule, RuleResult
from smlocal.check.reading.container_files import Archive, container_files
from smlocal.check.rules import (
    entrypoint_script,
    entrypoint_shell_form,
    entrypoint_without_exec,
    train_format,
    train_interpreter,
    train_line_endings,
    train_missing,
    train_not_executable,
)
from smlocal.check.subject import Subject
from smlocal.planning.model import JobPlan
from smlocal.platforms.sagemaker.planning.entrypoint import MODEL_TRAINER_STOP, is_model_trainer

_RULES = (train_missing, train_not_executable, train_line_endings, train_interpreter, train_format, entrypoint_script)
"""Those about the program that is started, in the order in which they explain."""
_RULES_OF_SIGNALS = (entrypoint_shell_form, entrypoint_without_exec)
"""Those about a shell that does not pass SIGTERM on."""


def program_hint(plan: JobPlan, archive: Archive) -> str | None:
    """What is wrong with it, and what to do; None if no rule finds anything. `archive`: of a path in the container."""
    return _first([each.RULE for each in _RULES], plan, archive)


def signal_hint(plan: JobPlan, archive: Archive) -> str | None:
    """Why SIGTERM does not reach it; None if no rule knows."""
    if is_model_trainer((*(plan.entrypoint or ()), *(plan.command or ()))):  # nobody can change its command
        return f"T{MODEL_TRAINER_STOP[1:]}."
    return _first([each.RULE for each in _RULES_OF_SIGNALS], plan, archive)


def _first(rules: Sequence[Rule], plan: JobPlan, archive: Archive) -> str | None:
    if plan.image_facts is None:
        return None
    subject = Subject(
        image=plan.image,
        facts=plan.image_facts,
        read=container_files(archive),
        command=(plan.entrypoint, plan.command or ()),
    )
    for result in examine(rules, subject):
        if result.findings:
            return _sentence(result, result.findings[0])
    return None


def _sentence(result: RuleResult, finding: Finding) -> str:
    text = finding.brief or finding.message
    if text.startswith(("the ", "there ")):  # others begin with a path, or the name of a program
        text = f"T{text[1:]}"
    return f"{text}. {finding.remedy or result.rule.remedy}"
