"""Exit codes and failure files, turned into the FailureReason that the service would give."""

REASON_CHARACTERS = 1024
MESSAGE_BYTES = 1024
"""Of the failure file, only this much is ever used."""

INTERNAL_ERROR = "InternalServerError: We encountered an internal error. Please try again."
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
    text = failure_file[:MESSAGE_BYTES]
    if len(failure_file) > MESSAGE_BYTES:
        text = _without_partial_character(text)
    return text.decode("utf-8", errors="replace")


def _without_partial_character(text: bytes) -> bytes:
    """Drop a multi-byte character that the cut went through; bytes that are wrong anyway stay to be replaced."""
    for back in range(1, min(4, len(text)) + 1):
        byte = text[-back]
        if byte & 0b1100_0000 == 0b1000_0000:
            continue
        length = 1 if byte < 0x80 else 2 if byte >> 5 == 0b110 else 3 if byte >> 4 == 0b1110 else 4  # noqa: PLR2004 - UTF-8's lead bytes
        return text[:-back] if length > back else text
    return text
