"""A secret in the environment of the image."""

import re
from collections.abc import Iterator

from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.subject import Subject
from smlocal.terms.masking import looks_secret, without_passwords

_KEY_ID = re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")
_BUILD_ARGUMENTS = re.compile(r"(?:RUN )?\|\d+ (.*?) /\S+ -\w*c ", re.DOTALL)
_NAME = re.compile(r"(?:^|\s)([A-Za-z_]\w*)=.")
_PUBLIC = {"GPG_KEY"}
"""Keys that official images publish, to be checked with."""


def _check(subject: Subject) -> Iterator[Finding]:
    for name, value in subject.facts.environment.items():
        if name in _PUBLIC or not value:
            continue
        if looks_secret(name, value) or _KEY_ID.search(value) or without_passwords(value) != value:
            yield Finding(message=f"ENV {name} looks like a secret", instruction=f"ENV {name}")
    for name in dict.fromkeys(name for step in subject.history for name in _arguments(step.text)):
        if name not in subject.facts.environment and looks_secret(name):
            yield Finding(
                message=f"the build argument {name} looks like a secret, and is in the history of the image",
                instruction=f"ARG {name}",
            )


def _arguments(text: str) -> list[str]:
    """Build arguments of a step, which its builder wrote before the command with their values."""
    found = _BUILD_ARGUMENTS.match(text)
    return _NAME.findall(found[1]) if found else []


RULE = Rule(
    id="variable-secret",
    severity=Severity.ERROR,
    title="The image has a secret in its environment or history",
    why=(
        "Anyone who can pull the image can read its variables, and they stay in its history even if a later "
        "instruction changes them. A build argument stays in the history with its value. Credentials of AWS in the "
        "environment also win over those of the job's role."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Remove it, replace the secret, and let the program read it at run time, for example from Secrets Manager.",
    check=_check,
    is_general=True,
    example=Example(
        bad="FROM busybox\nCOPY train /usr/local/bin/train\nENV WANDB_API_KEY=0123456789abcdef\n",
        good="FROM busybox\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/bin/sh\necho "$@"\n'),),
        output="ENV WANDB_API_KEY looks like a secret",
    ),
)
