"""Facts about processing jobs: paths, numbers and sentences of the service."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from smlocal.sagemaker.contract.identity import partition

NAME: Final = "sagemaker_processing"
"""The kind of job in plans and records."""
ROOT: Final = "/opt/ml"
CONFIG: Final = "/opt/ml/config"
PROCESSING: Final = "/opt/ml/processing"
"""Inputs and outputs are below it."""
OUTPUT: Final = "/opt/ml/output"
MESSAGE: Final = "/opt/ml/output/message"
"""The file whose text is the ExitMessage."""
MESSAGE_BYTES: Final = 1024
MAX_RUNTIME: Final = 86_400
"""Seconds that a job may run which says nothing about it: the value of the developer guide's example."""
VOLUME_GB: Final = 30
"""As the SDKs ask for."""
LOG_GROUP: Final = "/aws/sagemaker/ProcessingJobs"
NOT_UTF_8: Final = f"The exit message in {MESSAGE} is not UTF-8 encoded"
"""Documented is that the job fails with a ClientError; its words are ours."""
_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def processing_job_arn(name: str, *, region: str, account: str) -> str:
    """The service writes the name in lower case."""
    return f"arn:{partition(region)}:sagemaker:{region}:{account}:processing-job/{name.lower()}"


def plain_names(given: Iterable[str], usual: str) -> Iterator[str]:
    """A name for each that a file can have: its own, or `usual` and its number. The service takes any text."""
    seen: set[str] = set()
    for number, name in enumerate(given, start=1):
        plain = name if _PLAIN.fullmatch(name) and name not in seen else f"{usual}-{number}"
        seen.add(plain)
        yield plain
