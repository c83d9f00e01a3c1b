"""Calls a handler as AWS Lambda's Python does, in a process of its own.

Run by its path as `handler_process.py FILE HANDLER`. It imports nothing of smlocal, because what it calls is a user's.
Standard input has JSON with `event`, `context`, `seconds` and `most` (bytes of the answer). Standard output gets JSON:
`answer`, or `error` with `type` and `message`, in the words of Lambda's runtime. What the handler prints goes to the
standard errors, also that of its children.
"""

import functools
import importlib.util
import json
import logging
import os
import sys
import time
import traceback
from typing import Any, NoReturn

_LONGEST_MESSAGE = 10_000
_LOG_FORMAT = "[%(levelname)s]\t%(asctime)s.%(msecs)03dZ\t{request}\t%(message)s"


class _RefusedError(Exception):
    """Lambda's runtime would answer with this error."""

    def __init__(self, kind: str, message: str, trace: str = "") -> None:
        super().__init__(message)
        self.kind, self.trace = kind, trace


class LambdaContext:
    """The second argument of a handler."""

    identity: Any = None
    client_context: Any = None

    def __init__(self, members: dict[str, str], *, seconds: float) -> None:
        self.function_name = members["function_name"]
        self.function_version = members["function_version"]
        self.invoked_function_arn = members["invoked_function_arn"]
        self.memory_limit_in_mb = members["memory_limit_in_mb"]
        self.aws_request_id = members["aws_request_id"]
        self.log_group_name = members["log_group_name"]
        self.log_stream_name = members["log_stream_name"]
        self._until = time.monotonic() + seconds

    def get_remaining_time_in_millis(self) -> int:
        """What is left until the handler is killed."""
        return max(0, int((self._until - time.monotonic()) * 1000))

    def log(self, message: object) -> None:
        """Print it."""
        sys.stdout.write(str(message))


def run(file: str, handler: str) -> None:
    """Answer for the handler."""
    answers = os.dup(1)
    os.dup2(2, 1)
    given = json.load(sys.stdin)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    sys.stdout = os.fdopen(1, "w", buffering=1, errors="backslashreplace")
    sys.argv[:] = [file]
    _log_as_lambda(given["context"]["aws_request_id"])
    try:
        called = _find(file, handler)
        answer = called(given["event"], LambdaContext(given["context"], seconds=given["seconds"]))
        said = b'{"answer": %s}' % _marshalled(answer, given["most"])
    except _RefusedError as error:
        said = _failed(error.kind, str(error), error.trace)
    except SystemExit as error:
        _exit_as_lambda(error)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the step fails with it
        said = _failed(type(error).__name__, _text_of(error), _traceback(error))
    _write(answers, said)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # Lambda does not wait for threads either


def _find(file: str, handler: str) -> Any:
    name = os.path.splitext(os.path.basename(file))[0]
    sys.path.insert(0, os.path.dirname(file))
    try:
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None and spec.loader is not None  # noqa: S101, PT018 - the name of the file ends in .py
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(name, module)
        spec.loader.exec_module(module)
    except ImportError as error:
        message = f"Unable to import module '{name}': {error}"
        raise _RefusedError("Runtime.ImportModuleError", message, _traceback(error)) from error
    except SyntaxError as error:
        raise _RefusedError("Runtime.UserCodeSyntaxError", f"Syntax error in module '{name}': {error}") from error
    try:
        return functools.reduce(getattr, handler.split("."), module)
    except AttributeError as error:
        raise _RefusedError("Runtime.HandlerNotFound", f"Handler '{handler}' missing on module '{name}'") from error


def _marshalled(answer: Any, most: int) -> bytes:
    try:
        text = json.dumps(answer, ensure_ascii=False, allow_nan=False, default=_plain).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise _RefusedError("Runtime.MarshalError", f"Unable to marshal response: {error}") from error
    if len(text) > most:
        message = f"Response payload size exceeded maximum allowed payload size ({most} bytes)."
        raise _RefusedError("Function.ResponseSizeTooLarge", message)
    return text


def _plain(value: Any) -> Any:
    """Decimals are numbers, as they are to Lambda: DynamoDB's client has no others."""
    if type(value).__name__ == "Decimal" and value.is_finite():
        return int(value) if value.as_tuple().exponent >= 0 else float(value)
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _failed(kind: str, message: str, trace: str) -> bytes:
    _log(f"[ERROR] {kind}: {message}\n{trace}")
    return json.dumps({"error": {"type": kind, "message": message[:_LONGEST_MESSAGE]}}).encode()


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - an exception of a user's own
        return repr(type(error))


def _traceback(error: BaseException) -> str:
    """Without this file."""
    here = error.__traceback__
    return "".join(traceback.format_exception(type(error), error, here.tb_next if here else None))


def _log(text: str) -> None:
    sys.stderr.write(text.encode(errors="backslashreplace").decode())
    sys.stderr.flush()


def _exit_as_lambda(error: SystemExit) -> NoReturn:
    """It is the end of the process, which whoever has started it names."""
    sys.stdout.flush()
    if isinstance(error.code, str):
        _log(f"{error.code}\n")
    os._exit(error.code & 255 if isinstance(error.code, int) else 0 if error.code is None else 1)


def _log_as_lambda(request: str) -> None:
    logging.Formatter.converter = time.gmtime
    logging.basicConfig(format=_LOG_FORMAT.format(request=request), datefmt="%Y-%m-%dT%H:%M:%S")


def _write(pipe: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(pipe, left) :]


if __name__ == "__main__":
    run(sys.argv[1], sys.argv[2])
