"""Variables of the training toolkit in an image without it."""

import re
from collections.abc import Iterator

from smlocal.check.image_files import NAMES, PROGRAMS, SCRIPTS
from smlocal.check.interface import Example, Finding, Mark, Rule, Severity
from smlocal.check.program_files import lines, written_text
from smlocal.check.starting import has_toolkit
from smlocal.check.subject import LaunchProfile, Subject

_TOOLKITS = (
    r"CHANNEL_[A-Z0-9_]+|HP_[A-Z0-9_]+|CHANNELS|HOSTS|CURRENT_HOST|CURRENT_INSTANCE_TYPE|CURRENT_INSTANCE_GROUP"
    r"|CURRENT_INSTANCE_GROUP_HOSTS|INSTANCE_GROUPS|INSTANCE_GROUPS_DICT|DISTRIBUTION_INSTANCE_GROUPS|IS_HETERO"
    r"|TOPOLOGY|NETWORK_INTERFACE_NAME|HPS|USER_ARGS|USER_ENTRY_POINT|FRAMEWORK_PARAMS|FRAMEWORK_MODULE"
    r"|TRAINING_ENV|MODULE_NAME|MODULE_DIR|LOG_LEVEL|RESOURCE_CONFIG|INPUT_DATA_CONFIG|INPUT_DIR"
    r"|INPUT_CONFIG_DIR|OUTPUT_DATA_DIR|OUTPUT_DIR|OUTPUT_INTERMEDIATE_DIR|MODEL_DIR|NUM_CPUS|NUM_GPUS"
    r"|NUM_NEURONS"
)
"""Without `SM_`. Programs have variables of their own that begin so."""
_NAME = rf"(SM_(?:{_TOOLKITS})\b)"
_EXPECTED = re.compile(
    rf"""environ\[\s*["']{_NAME}["']\s*\](?!\s*=[^=])"""  # read, not set
    rf"""|(?:environ\.get|getenv)\(\s*["']{_NAME}["']\s*\)"""  # without a default
    rf"""|\$\{{?{_NAME}\b(?!:?[-=+?])"""
)


def _check(subject: Subject) -> Iterator[Finding]:
    if has_toolkit(subject.files) or {LaunchProfile.MODEL_TRAINER, LaunchProfile.MODEL_TRAINER_MPI} & subject.profiles:
        return  # either sets them
    given = {*subject.facts.environment, *subject.requested_environment}
    for path, text, layer in written_text(subject):
        if "SM_" not in text:
            continue
        for number, line in lines(text):
            name = next((name for match in _EXPECTED.finditer(line) for name in match.groups() if name), None)
            if name is not None and name not in given and not re.search(rf"(?:^|\n)\s*(?:export\s+)?{name}=", text):
                yield Finding(
                    message=f"line {number} of {path} expects {name}, which the service does not set",
                    path=path,
                    layer=layer,
                )
                break


RULE = Rule(
    id="toolkit-variables",
    severity=Severity.WARNING,
    title="A script expects SM_ variables, and the image has no training toolkit",
    why=(
        "The service sets a few variables, and none that begins with `SM_`. SM_MODEL_DIR, SM_CHANNEL_TRAINING and the "
        "others are set inside the container by the SageMaker training toolkit or by the scripts of ModelTrainer. In "
        "an image without the toolkit they are missing, and a script that has no default for them fails."
    ),
    mark=Mark.SEEN,
    remedy='Give a default: os.environ.get("SM_MODEL_DIR", "/opt/ml/model"); or install sagemaker-training.',
    check=_check,
    files=(NAMES, SCRIPTS, PROGRAMS),
    example=Example(
        bad="FROM python:3.11-slim-bookworm\nCOPY train /usr/local/bin/train\n",
        good="FROM python:3.11-slim-bookworm\nCOPY train /usr/local/bin/train\n",
        bad_files=(("train", '#!/usr/bin/env python\nimport os\n\nprint(os.environ["SM_MODEL_DIR"])\n'),),
        good_files=(
            ("train", '#!/usr/bin/env python\nimport os\n\nprint(os.environ.get("SM_MODEL_DIR", "/opt/ml/model"))\n'),
        ),
        output="line 4 of /usr/local/bin/train expects SM_MODEL_DIR, which the service does not set",
    ),
)
