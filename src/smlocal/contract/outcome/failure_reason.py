"""Exit codes and failure files, turned into the FailureReason that the service would give."""

import codecs

REASON_CHARACTERS = 1024
MESSAGE_BYTES = 1024
"""Of the failure file, only this much is ever used."""

INTERNAL_ERROR = "InternalServerError: We encountered an internal error. Please try again."
OUT_OF_MEMORY = (
    "ClientError: Please use an instance type with more memory, "
    "or reduce the size of job data processed on an instance."
)
CANNOT_PULL = (
    "ClientError: Cannot pull algorithm container. Either the image does not exist or its permissions are incorrect."
)


def algorithm_error(failure_file: bytes, exit_code: int) -> str:
    """The reason for a container that exited non-zero; the cut at the end may take the exit code with it."""
    return f"AlgorithmError: {_message(failure_file)}, exit code: {exit_code}"[:REASON_CHARACTERS]


def client_error(message: str) -> str:
    """The reason for a failure of the customer's data, image or disk."""
    return f"ClientError: {message}"[:REASON_CHARACTERS]


def cannot_start(runtime_message: str) -> str:
    """The reason for a container whose first process cannot be started at all, in the runtime's own words."""
    return client_error(f"Artifact upload failed:API error (400): {runtime_message}")


def _message(failure_file: bytes) -> str:
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    # Not final where the file goes on: then a character that the cut went through is dropped, not replaced.
    return decoder.decode(failure_file[:MESSAGE_BYTES], final=len(failure_file) <= MESSAGE_BYTES)
