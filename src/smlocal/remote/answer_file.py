"""Reads a saved answer of the service: JSON or YAML, one document or a list of jobs."""

import os
from typing import TYPE_CHECKING

from smlocal.api.job_source import read_content, read_text
from smlocal.errors import JobFileSyntaxError

if TYPE_CHECKING:
    from smlocal.jobfile.document import Document


def read_answer(path: str) -> "Document":
    """The document in a file; `-` is standard input."""
    content, name = read_content(path)
    directory = os.getcwd() if path == "-" else os.path.dirname(os.path.abspath(path))
    if content.lstrip().startswith(b"["):  # such as of `aws sagemaker search --query "Results[].TrainingJob"`
        content = b'{"Results": ' + content + b"}"
    try:
        return read_text(content, name=name, directory=directory)
    except JobFileSyntaxError as error:
        if b"datetime.datetime(" not in content:
            raise
        raise JobFileSyntaxError(
            f"{name} is what Python prints of an answer, not JSON",
            details=error.details,
            remedy=["Save it with:  json.dump(answer, file, default=str)"],
        ) from error
