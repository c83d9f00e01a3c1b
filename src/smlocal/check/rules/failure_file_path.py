"""A failure file in the wrong place."""

import re
from collections.abc import Iterator

from smlocal.check.image_files import PROGRAMS, SCRIPTS
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.program_files import lines, written_text
from smlocal.check.subject import Subject

_WRONG = "/opt/ml/failure"
_JOINED = re.compile(r"""join\(\s*(?:(\w+)|["']/opt/ml/?["'])\s*,\s*["']failure["']\s*\)""")


def _check(subject: Subject) -> Iterator[Finding]:
    for path, text, layer in written_text(subject):
        if "failure" not in text:
            continue
        for number, line in lines(text):
            joined = _JOINED.search(line)
            if _WRONG in line or (joined is not None and (joined[1] is None or _is_root(joined[1], text))):
                yield Finding(
                    message=f"line {number} of {path} names /opt/ml/failure; the service reads /opt/ml/output/failure",
                    path=path,
                    layer=layer,
                )
                break


def _is_root(name: str, text: str) -> bool:
    """Whether a variable is set to `/opt/ml`."""
    return re.search(rf"""(?:^|\s){name}\s*=\s*["']/opt/ml/?["']""", text) is not None


RULE = Rule(
    id="failure-file-path",
    severity=Severity.ERROR,
    title="A failure file is written to /opt/ml/failure",
    why=(
        "The service takes the reason of a failed job from `/opt/ml/output/failure`. It does not look at "
        "`/opt/ml/failure`, a path that widely copied templates use. The job then fails with `AlgorithmError: , exit "
        "code: 1` and no reason."
    ),
    mark=Mark.DOCUMENTED,
    remedy="Write the failure file to /opt/ml/output/failure.",
    check=_check,
    files=(SCRIPTS, PROGRAMS),
    example=Example(
        bad="FROM python:3.11-slim-bookworm\nCOPY train /usr/local/bin/train\n",
        good="FROM python:3.11-slim-bookworm\nCOPY train /usr/local/bin/train\n",
        bad_files=(
            ("train", '#!/usr/bin/env python\nprefix = "/opt/ml"\nopen(f"/opt/ml/failure", "w").write("no data")\n'),
        ),
        good_files=(("train", '#!/usr/bin/env python\nopen("/opt/ml/output/failure", "w").write("no data")\n'),),
        output="line 3 of /usr/local/bin/train names /opt/ml/failure; the service reads /opt/ml/output/failure",
    ),
)
