"""Runs what `Local.Steps` names in place of a step that only the service can do."""

import json
import os
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Final

from smlocal.base.quick_dataclass import dataclass
from smlocal.base.regex import regex
from smlocal.pipelines.guarded_program import Program, ProgramEnd, Why, run_program
from smlocal.sagemaker.pipelines.definition import Output, StandIn, Step
from smlocal.sagemaker.pipelines.parameters import typed
from smlocal.sagemaker.pipelines.values import printed
from smlocal.terms.validation.violation import kind_of

LAMBDA_SECONDS: Final = 600.0
"""The service ends a Lambda step then, however long its function may take."""
OTHER_SECONDS: Final = 86_400.0
"""For steps of other types, whose jobs have such a default."""
GRACE_SECONDS: Final = 120.0
"""As for jobs."""
MOST_ANSWERED: Final = 6_291_556
"""Bytes of a Lambda's answer, and here of every other."""
MOST_OF_REASON: Final = 1_024
_FOR_FRAME: Final = 100_000
"""Bytes around an answer, or of an error, from the process of a handler."""
_MEGABYTES: Final = "128"
"""Of Lambda's own default. It is text in the context, as there."""
_HANDLER: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "handler_process.py")
_FUNCTION: Final = regex(
    r"arn:[a-z-]+:lambda:(?P<region>[a-z0-9-]+):[0-9]*:function:(?P<name>[A-Za-z0-9_-]+)(:(?P<qualifier>[^:]+))?"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class StandInInput:
    """What a stand-in is given."""

    step: Step
    arguments: Any
    """Evaluated: the event of a Lambda."""
    function_arn: str = ""
    """Of a Lambda, evaluated. It is never called."""
    folder: str
    """That of the pipeline's file: relative paths are relative to it, and commands run there."""
    log: str
    """The file for what it prints."""
    seconds: float | None = None
    """Its limit; None: that of its type."""
    grace: float = GRACE_SECONDS
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """More environment variables."""
    under: tuple[str, ...] = ()
    """The words of a program that runs it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StandInEnd:
    """How the step ends."""

    outputs: Mapping[str, Any] = field(default_factory=dict)
    """What other steps can refer to. Those of a Lambda or Callback are of the types that the step says."""
    reason: str = ""
    """Why it has failed; empty if it has not."""
    stopped: bool = False
    last_lines: str = ""
    """Of what it printed."""


def _never() -> bool:
    return False


def run_stand_in(
    stand_in: StandIn, given: StandInInput, *, stopped: Callable[[], bool], killed: Callable[[], bool] = _never
) -> StandInEnd:
    """Take it to its end; for a thread of its own. Its processes end then, and if this process is killed.

    `stopped`: the execution is being stopped. A command gets SIGTERM, a Lambda's handler is awaited, as on the service.
    `killed`: it is to be gone at once. Both are asked ten times a second.
    """
    if stand_in.skip:
        return StandInEnd()
    if stand_in.outputs is not None:
        return _answered(dict(stand_in.outputs), given, "")
    if stand_in.handler:
        return _run_handler(stand_in, given, stopped, killed)
    return _run_command(stand_in, given, stopped, killed)


def _run_command(
    stand_in: StandIn, given: StandInInput, stopped: Callable[[], bool], killed: Callable[[], bool]
) -> StandInEnd:
    program = Program(
        words=(*given.under, *stand_in.command),
        folder=given.folder,
        given=json.dumps(given.arguments).encode(),
        log=given.log,
        seconds=_limit(given),
        grace=given.grace,
        most=MOST_ANSWERED,
        variables=given.variables,
        stops=True,
    )
    end = run_program(program, stopped=stopped, killed=killed)
    subject = f"The command {stand_in.command[0]}"
    if end.why is not Why.ITSELF:
        return _ended_otherwise(end, subject, given)
    if end.code:
        last = end.last_lines.rstrip().rpartition("\n")[2]
        return _failed(f"{subject} {_exit(end.code)}{f': {last}' if last else ''}", end)
    try:
        answer = _parsed(end.output) if end.output.strip() else {}
    except ValueError as error:
        return _failed(f"{subject} must print a JSON object to its standard output: {error}", end)
    return _answered(answer, given, end.last_lines)


def _run_handler(
    stand_in: StandIn, given: StandInInput, stopped: Callable[[], bool], killed: Callable[[], bool]
) -> StandInEnd:
    file = os.path.abspath(os.path.join(given.folder, stand_in.file))
    of_lambda = given.step.type.name == "Lambda"
    context = _context(given)
    name = context["function_name"]
    subject = f"The Lambda function {name}" if of_lambda else f"The handler {stand_in.file}:{stand_in.handler}"
    if not os.path.isfile(file):
        return StandInEnd(reason=_cut(f"{subject} cannot be started: there is no file {file}"))
    seconds = _limit(given)
    asked = {"event": given.arguments, "context": context, "seconds": seconds, "most": MOST_ANSWERED}
    program = Program(
        words=(*given.under, sys.executable, "-P", _HANDLER, file, stand_in.handler),
        folder=os.path.dirname(file),  # as on Lambda, whose code is in the current folder
        given=json.dumps(asked).encode(),
        log=given.log,
        seconds=seconds,
        grace=given.grace,
        most=MOST_ANSWERED + _FOR_FRAME,
        variables={**_variables(given, context, file, stand_in.handler), **given.variables},
        stops=not of_lambda,
    )
    end = run_program(program, stopped=stopped, killed=killed)
    if end.why is not Why.ITSELF:
        return _ended_otherwise(end, subject, given)
    try:
        framed = _parsed(end.output)
    except ValueError:
        framed = {}
    if "answer" in framed:
        return _answered(framed["answer"], given, end.last_lines)
    error = framed.get("error") or {"type": "Runtime.ExitError", "message": _exit_of_runtime(end.code)}
    return _failed(f"{subject} failed: {error['type']}: {error['message']}", end)


def _limit(given: StandInInput) -> float:
    if given.seconds is not None:
        return given.seconds
    return LAMBDA_SECONDS if given.step.type.name == "Lambda" else OTHER_SECONDS


def _context(given: StandInInput) -> dict[str, str]:
    found = _FUNCTION.fullmatch(given.function_arn)
    name = found["name"] if found else given.step.name
    qualifier = (found["qualifier"] if found else None) or ""
    version = qualifier if qualifier.isdecimal() else "$LATEST"
    return {
        "function_name": name,
        "function_version": version,
        "invoked_function_arn": given.function_arn,
        "memory_limit_in_mb": _MEGABYTES,
        "aws_request_id": str(uuid.uuid4()),
        "log_group_name": f"/aws/lambda/{name}",
        "log_stream_name": f"{time.strftime('%Y/%m/%d', time.gmtime())}/[{version}]{uuid.uuid4().hex}",
    }


def _variables(given: StandInInput, context: Mapping[str, str], file: str, handler: str) -> dict[str, str]:
    """Those of Lambda that programs read."""
    if given.step.type.name != "Lambda":
        return {}
    found = _FUNCTION.fullmatch(given.function_arn)
    regions = ("AWS_REGION", "AWS_DEFAULT_REGION") if found else ()
    return {
        **{name: found["region"] for name in regions if found and name not in os.environ},
        "AWS_LAMBDA_FUNCTION_NAME": context["function_name"],
        "AWS_LAMBDA_FUNCTION_VERSION": context["function_version"],
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": context["memory_limit_in_mb"],
        "AWS_LAMBDA_LOG_GROUP_NAME": context["log_group_name"],
        "AWS_LAMBDA_LOG_STREAM_NAME": context["log_stream_name"],
        "LAMBDA_TASK_ROOT": os.path.dirname(file),
        "_HANDLER": f"{os.path.splitext(os.path.basename(file))[0]}.{handler}",
    }


def _ended_otherwise(end: ProgramEnd, subject: str, given: StandInInput) -> StandInEnd:
    if end.why in {Why.STOPPED, Why.KILLED}:
        return StandInEnd(stopped=True, last_lines=end.last_lines)
    if end.why is Why.NOT_STARTED:
        return _failed(f"{subject} cannot be started: {end.trouble}", end)
    if end.why is Why.TOO_LATE:
        return _failed(f"{subject} failed: Task timed out after {_limit(given):.2f} seconds", end)
    if end.why is Why.ANSWER_TOO_LONG:
        return _failed(f"{subject} answers more than {MOST_ANSWERED:,} bytes", end)
    return _failed(f"{subject} has ended, because the process that watches it was killed", end)


def _failed(reason: str, end: ProgramEnd) -> StandInEnd:
    return StandInEnd(reason=_cut(reason), last_lines=end.last_lines)


def _cut(reason: str) -> str:
    line = " ".join("".join(each if each.isprintable() else " " for each in reason).split())
    return line if len(line) <= MOST_OF_REASON else f"{line[: MOST_OF_REASON - 1]}…"


def _exit(code: int) -> str:
    return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"


def _exit_of_runtime(code: int | None) -> str:
    """In the words of Lambda."""
    if not code:
        return "Runtime exited without providing a reason"
    return f"Runtime exited with error: {f'signal: {-code}' if code < 0 else f'exit status {code}'}"


def _parsed(data: bytes) -> Any:
    """The JSON document; `ValueError` if it is none that can be stored."""
    try:
        parsed = json.loads(data, parse_constant=_refuse)
        json.dumps(parsed, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except UnicodeError:
        raise ValueError("it is not valid UTF-8") from None
    return parsed


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _answered(answer: Any, given: StandInInput, last_lines: str) -> StandInEnd:
    """The outputs of the step in its answer."""
    step = given.step
    if answer is None and not step.outputs:
        answer = {}
    if not isinstance(answer, dict):
        reason = f"The answer must be a JSON object with the outputs of the step, and is {kind_of(answer)}"
        return StandInEnd(reason=reason, last_lines=last_lines)
    if "OutputParameters" not in step.type.own:
        return StandInEnd(outputs=answer, last_lines=last_lines)
    outputs = {output.name: _output(output, answer.get(output.name)) for output in step.outputs}
    wrong = [_wrong(output, answer) for output in step.outputs if outputs[output.name] is None]
    if wrong:
        return StandInEnd(reason=_cut(f"{'; '.join(wrong)}"), last_lines=last_lines)
    return StandInEnd(outputs=outputs, last_lines=last_lines)


def _output(output: Output, value: Any) -> Any:
    """The value, of the type of the output; None if it is of another. Numbers and Booleans are taken for text."""
    is_plain = isinstance(value, bool | int | float)
    return typed(output.kind, printed(value) if output.kind == "String" and is_plain else value)


def _wrong(output: Output, answer: Mapping[str, Any]) -> str:
    if output.name not in answer:
        return f"The answer has no output '{output.name}'"
    value = answer[output.name]
    if output.kind == "String" and isinstance(value, str):
        return f"The output '{output.name}' has {len(value):,} characters; 1,024 are allowed"
    return f"The output '{output.name}' is of type {output.kind}, and the answer has {kind_of(value)}"
