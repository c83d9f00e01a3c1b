"""The FailureReason that the service gives for an exit code and a failure file."""

import codecs

REASON_CHARACTERS = 1024
MESSAGE_BYTES = 1024
"""The part of the failure file that is used."""

INTERNAL_ERROR = "InternalServerError: We encountered an internal error. Please try again."
OUT_OF_MEMORY = (
    "ClientError: Please use an instance type with more memory, "
    "or reduce the size of job data processed on an instance."
)
CANNOT_PULL = (
    "ClientError: Cannot pull algorithm container. Either the image does not exist or its permissions are incorrect."
)

NO_CAPACITY = (
    "CapacityError: Unable to provision requested ML compute capacity. Please retry using a different ML instance type."
)


def algorithm_error(failure_file: bytes, exit_code: int) -> str:
    """The reason for a non-zero exit code. The length limit may cut off the exit code."""
    return f"AlgorithmError: {_message(failure_file)}, exit code: {exit_code}"[:REASON_CHARACTERS]


def client_error(message: str) -> str:
    """The reason for a failure of the customer's data, image or disk."""
    return f"ClientError: {message}"[:REASON_CHARACTERS]


def cannot_start(runtime_message: str) -> str:
    """The reason for a container whose first process cannot be started, with the runtime's message."""
    return client_error(f"Artifact upload failed:API error (400): {runtime_message}")


def _message(failure_file: bytes) -> str:
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    # If the file is longer, a character that is cut at the end is dropped, not replaced.
    return decoder.decode(failure_file[:MESSAGE_BYTES], final=len(failure_file) <= MESSAGE_BYTES)
